// An app under `dev`: from the command to the first GraphQL answer, with and without its caches, and from a save to the
// schema that follows from it.
import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { middle, n, nodeStart, root, scratch } from './service.mjs';

export const name = 'An app under dev: start, and a save until its schema is served';

const STARTS = 5;
const SAVES = 6;
/** Nobody saves faster; what a reload has left to do is done by then. */
const PAUSE_MS = 1_500;
const APPS = {
  'the template': { from: join(root, 'templates/app'), file: 'functions/note.ts' },
  'mission-control': { from: join(root, 'examples/mission-control'), file: 'functions/mission.ts' },
};

async function dev(app) {
  const from = performance.now();
  const args = ['dev', app, '--port', '0', '--grpc-port', '0', '--json'];
  const child = spawn(process.execPath, [join(root, 'bin/graphstead.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, GRAPHSTEAD_LOG: 'error' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  /** the next line of the command that has this member */
  const told = async (member) => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error('dev has ended');
      const line = value.startsWith('{') ? JSON.parse(value) : {};
      if (line[member] !== undefined) return line[member];
      if (line.level >= 50) throw new Error(line.msg);
    }
  };
  const url = await told('url');
  const ask = async (query) => {
    const request = { method: 'POST', headers: { 'content-type': 'application/graphql' }, body: query };
    return (await fetch(`${url}/graphql`, request)).json();
  };
  await ask('{ __typename }');
  const ms = performance.now() - from;
  const stop = async () => {
    child.kill('SIGTERM');
    await new Promise((done) => child.once('exit', done));
  };
  return { ms, told, ask, stop };
}

/** Median milliseconds to the first answer; `forget` goes before each start. */
async function starts(app, forget) {
  const times = [];
  for (let i = 0; i < STARTS; i++) {
    forget();
    const service = await dev(app);
    times.push(service.ms);
    await service.stop();
  }
  return middle(times);
}

async function saves(app, file) {
  const service = await dev(app);
  const times = [];
  try {
    for (let i = 0; i < SAVES; i++) {
      await pause(PAUSE_MS);
      const at = performance.now();
      appendFileSync(join(app, file), `\nexport function getSaved${i}(a: number): number { return a + ${i}; }\n`);
      const { changes } = await service.told('reloaded');
      const { data } = await service.ask(`{ getSaved${i}(a: 1) }`);
      times.push(performance.now() - at);
      if (!changes.includes(`+ Query.getSaved${i}(a: Float!): Float!`)) throw new Error(`told: ${changes}`);
      if (data?.[`getSaved${i}`] !== i + 1) throw new Error('what was saved is not served');
    }
  } finally {
    await service.stop();
  }
  return { first: times[0], rest: middle(times.slice(1)), worst: Math.max(...times.slice(1)) };
}

export async function run(print) {
  print('node -e 0, for comparison', `${n(await nodeStart())} ms`);
  for (const [label, { from, file }] of Object.entries(APPS)) {
    const folder = scratch('dev');
    const app = join(folder.dir, 'app');
    try {
      cpSync(from, app, { recursive: true, filter: (path) => !/\.graphstead|\.test\.ts$/.test(path) });
      const forget = (...names) => {
        for (const one of names) rmSync(join(app, '.graphstead', one), { recursive: true, force: true });
      };
      const cold = await starts(app, () => forget('data', 'types.json'));
      if (!existsSync(join(app, '.graphstead/types.json'))) throw new Error('no type cache was written');
      const warm = await starts(app, () => forget('data'));
      print(`${label}: command to first GraphQL answer, type cache / without`, `${n(warm)} ms / ${n(cold)} ms`);
      const { first, rest, worst } = await saves(app, file);
      print(
        `${label}: save to answer, first / median of the next / worst`,
        `${n(first)} / ${n(rest)} / ${n(worst)} ms`,
      );
    } finally {
      folder.remove();
    }
  }
}
