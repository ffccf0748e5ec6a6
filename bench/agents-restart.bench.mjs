// A service that starts over many stored agents: only those with something to do may cost anything. Beside it the same
// app over a store with one agent.
import { join } from 'node:path';
import { cpuOf } from './family.mjs';
import { n, root, scratch, startService } from './service.mjs';
import { graphqlRequest, lanes } from './lanes.mjs';

export const name = 'Restart over 100,000 stored agents';

const AGENTS = 100_000;
/** agents of them that wait for an alarm, and such with a message in their mailbox */
const ALARMS = 1_000;
const WAITING = 100;
const BATCH = 1_000;
const ROUNDS = 5;
const SEND = 'mutation ($id: String!) { updateCounter(id: $id, name: "count") }';
const DAY_MS = 24 * 3_600_000;

const idOf = (i) => `agent_${String(i).padStart(22, '0')}`;

/** What starting so many agents leaves, committed without the way through a host. */
async function store(directory, count) {
  const { agentsApplier } = await import(join(root, 'build/rooms/agents/index.js'));
  const { makeLimits } = await import(join(root, 'build/rooms/base/index.js'));
  const { createCommitter } = await import(join(root, 'build/rooms/commit/index.js'));
  const { openLmdbStore } = await import(join(root, 'build/rooms/store/index.js'));
  const limits = makeLimits();
  const opened = await openLmdbStore(directory, { limits });
  const committer = await createCommitter({ store: opened, appliers: [agentsApplier(limits)], limits });
  const commit = (ops) => committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
  const later = Date.now() + DAY_MS;
  for (let from = 0; from < count; from += BATCH) {
    const ops = [];
    for (let i = from; i < Math.min(count, from + BATCH); i++) {
      const alarms = i < ALARMS ? [{ id: 'daily', at: later, name: 'count' }] : [];
      const events = [{ name: 'counted', data: '{"count":0}' }];
      const turn = { state: '{"count":0}', version: 1, events, alarms };
      ops.push({ op: 'turn', id: idOf(i), expect: 0, create: { type: 'Counter' }, ...turn });
    }
    await commit(ops);
  }
  return { commit, close: () => committer.close().then(() => opened.close()) };
}

async function prepared(directory, count) {
  const { commit, close } = await store(directory, count);
  const waiting = Array.from({ length: Math.min(WAITING, count - 1) }, (_, i) => idOf(count - 1 - i));
  await commit(waiting.map((to) => ({ op: 'post', to, from: '', kind: 'message', name: 'count' })));
  await close();
}

async function restart(data, count) {
  const from = performance.now();
  const service = await startService({ appDir: join(root, 'bench/app-counter'), data });
  const connection = lanes(service.url, 1);
  try {
    const body = await connection.send(graphqlRequest(SEND, { id: idOf(Math.floor(count / 2)) }));
    const figures = { ms: performance.now() - from, cpu: cpuOf(service.pid) };
    if (body.includes('"errors"')) throw new Error(body);
    return figures;
  } finally {
    connection.close();
    await service.stop('SIGKILL');
  }
}

const middle = (figures, key) => figures.map((one) => one[key]).sort((a, b) => a - b)[Math.floor(figures.length / 2)];

export async function run(print) {
  const counts = [AGENTS, 1];
  const folders = counts.map(() => scratch('agents'));
  try {
    for (const [i, count] of counts.entries()) await prepared(join(folders[i].dir, 'data'), count);
    const figures = counts.map(() => []);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [i, count] of counts.entries()) {
        const one = await restart(join(folders[i].dir, 'data'), count);
        if (round > 0) figures[i].push(one); // the first one reads the app's types
      }
    }
    for (const [i, count] of counts.entries()) {
      const [ms, cpu] = [middle(figures[i], 'ms'), middle(figures[i], 'cpu')];
      print(`start to first reply, ${n(count)} stored`, `${n(ms)} ms, ${n(cpu)} ms of CPU (median of ${ROUNDS})`);
    }
    const ratio = (key) => middle(figures[0], key) / middle(figures[1], key);
    print('ratio', `time ${n(ratio('ms'), 2)}x, CPU ${n(ratio('cpu'), 2)}x`);
  } finally {
    for (const folder of folders) folder.remove();
  }
}
