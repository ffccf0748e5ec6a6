// From the command to the first answer that reads data, with 1M quads on disk. The data is imported once.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { QUADS_A_PERSON, schema, writePeople } from './people.mjs';
import { client, middle, n, nodeStart, root, scratch, startService } from './service.mjs';

export const name = 'Start to first answer, 1M quads on disk';

const PEOPLE = 200_000;
const STARTS = 7;
const QUERY = '{ q(func: eq(age, 42), first: 1, orderasc: age) { name age friend { name } } }';

function importPeople(dir) {
  writePeople(join(dir, 'people.nq'), PEOPLE);
  writeFileSync(join(dir, 'people.schema'), schema);
  const args = ['import', join(dir, 'people.nq'), '--schema', join(dir, 'people.schema'), '--data', join(dir, 'data')];
  const done = spawnSync(process.execPath, [join(root, 'bin/graphstead.js'), ...args], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
}

/** CPU of a process so far in ms, by its main thread and by all: where the system tells it (Linux), else undefined. */
function threadMs(pid) {
  const of = (thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
  try {
    const all = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + of(thread), 0);
    return { main: of(pid), all };
  } catch {
    return undefined;
  }
}

async function start(data) {
  const from = performance.now();
  const service = await startService({ data });
  const http = client(service.url, 1);
  const answer = JSON.parse(await http.post('/query', QUERY, 'application/dql'));
  const wall = performance.now() - from;
  const cpu = threadMs(service.pid);
  http.close();
  await service.stop();
  if (answer.data?.q?.[0]?.age !== 42) throw new Error(JSON.stringify(answer));
  return { wall, cpu };
}

export async function run(print) {
  const folder = scratch('start');
  try {
    importPeople(folder.dir);
    const data = join(folder.dir, 'data');
    await start(data); // the files are in the system's memory afterwards, as the reference's are
    const bare = await nodeStart(STARTS);
    const starts = [];
    for (let i = 0; i < STARTS; i++) starts.push(await start(data));
    const walls = starts.map(({ wall }) => wall);
    const cpu = (of) => n(middle(starts.map((one) => one.cpu?.[of] ?? Number.NaN)));
    print('quads on disk', n(PEOPLE * QUADS_A_PERSON));
    print('start to first answer, median and best', `${n(middle(walls))} ms, ${n(Math.min(...walls))} ms`);
    print('CPU of it, main thread and all', `${cpu('main')} ms, ${cpu('all')} ms`);
    print('node -e 0, for comparison', `${n(bare)} ms`);
  } finally {
    folder.remove();
  }
}
