// `graphstead import` of N-Quads into an empty data directory, with indexes, against reading the same lines and nothing else.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nquadLineParser } from '../build/rooms/dql/index.js';
import { QUADS_A_PERSON, schema, writePeople } from './people.mjs';
import { n, root, scratch } from './service.mjs';

export const name = 'Import of N-Quads into an empty directory (exact, term, int, reverse and count indexes)';

/** Runs the command; its seconds, its processor seconds and the most anonymous memory it had. */
function importing(args) {
  const from = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin/graphstead.js'), 'import', '--json', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let anonymous = 0;
  let ticks = 0;
  const watch = setInterval(() => {
    try {
      const kilobytes = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
      anonymous = Math.max(anonymous, Number(kilobytes?.[1] ?? 0) / 1024);
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      ticks = Number(stat[11]) + Number(stat[12]);
    } catch {
      // over, or a system without /proc
    }
  }, 50);
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => {
      clearInterval(watch);
      if (code !== 0) reject(new Error(`import ended with ${code}`));
      else resolve({ seconds: (performance.now() - from) / 1000, anonymous, processor: ticks / 100 });
    });
  });
}

/** Lines a second that the parser alone reads. */
function parseRate(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const parse = nquadLineParser();
  const from = performance.now();
  let count = 0;
  for (const line of lines) if (parse(line)) count++;
  return count / ((performance.now() - from) / 1000);
}

export async function run(print) {
  const folder = scratch('import');
  try {
    const path = (file) => join(folder.dir, file);
    writeFileSync(path('people.schema'), schema);
    const measure = async (people) => {
      const quads = people * QUADS_A_PERSON;
      writePeople(path('people.nq'), people);
      rmSync(path('data'), { recursive: true, force: true });
      const result = await importing([path('people.nq'), '--schema', path('people.schema'), '--data', path('data')]);
      return { ...result, rate: quads / result.seconds };
    };
    const million = await measure(200_000);
    const parser = parseRate(path('people.nq'));
    print('1M quads: a second; processor time', `${n(million.rate)}/s  ${n(million.processor, 1)} s`);
    print('1M quads: most anonymous memory', `${n(million.anonymous)} MiB`);
    print('parsing the same lines alone', `${n(parser)}/s`);
    print('import against parsing alone', `${n(million.rate / parser, 2)}x`);
    const five = await measure(1_000_000);
    print('5M quads: a second; processor time', `${n(five.rate)}/s  ${n(five.processor, 1)} s`);
    print('5M quads: most anonymous memory', `${n(five.anonymous)} MiB`);
  } finally {
    folder.remove();
  }
}
