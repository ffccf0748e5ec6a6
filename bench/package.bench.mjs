// The packed package in an empty folder: `npx` of the tarball makes an app and serves it, with a warm npm cache. Needs the
// npm registry once, to warm that cache.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { n, nodeStart, root, scratch } from './service.mjs';

export const name = 'npx of the packed package, to the first GraphQL answer';

const RUNS = 3;

function npm(args, cwd, env) {
  const done = spawnSync('npm', args, { cwd, env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`npm ${args.join(' ')}: ${done.stderr}`);
}

/** `npx graphstead new` and `npx graphstead dev` in an empty folder, as a newcomer types them. */
async function firstMinute(folder, tarball, env) {
  mkdirSync(folder);
  const from = performance.now();
  npm(['exec', '--yes', `file:${tarball}`, '--', 'new', 'my-app', '--no-git'], folder, env);
  const made = performance.now() - from;
  const served = performance.now();
  const args = ['exec', '--yes', `file:${tarball}`, '--', 'dev', 'my-app', '--port', '0', '--grpc-port', '0', '--json'];
  const child = spawn('npm', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('{"url"')) continue;
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/graphql' },
        body: '{ queryNote { text } }',
      };
      const answer = await (await fetch(`${JSON.parse(line).url}/graphql`, request)).json();
      if (!Array.isArray(answer.data?.queryNote)) throw new Error(JSON.stringify(answer));
      return { made, dev: performance.now() - served, all: performance.now() - from };
    }
    throw new Error('dev ended before it listened');
  } finally {
    process.kill(-child.pid, 'SIGTERM'); // npm and what it started
    await new Promise((done) => child.once('exit', done));
  }
}

export async function run(print) {
  const { dir, remove } = scratch('npx');
  const env = { ...process.env, npm_config_cache: join(dir, 'cache'), GRAPHSTEAD_LOG: 'error' };
  try {
    npm(['pack', '--pack-destination', dir], root, env);
    const tarball = join(
      dir,
      readdirSync(dir).find((file) => file.endsWith('.tgz')),
    );
    await firstMinute(join(dir, 'warm'), tarball, env);
    const runs = [];
    for (let i = 0; i < RUNS; i++) {
      // what npm unpacked goes, what it fetched stays
      rmSync(join(dir, 'cache/_npx'), { recursive: true });
      runs.push(await firstMinute(join(dir, `run-${i}`), tarball, env));
    }
    const best = runs.reduce((a, b) => (a.all < b.all ? a : b));
    print('npx new and npx dev to the first GraphQL answer, best of 3', `${n(best.all)} ms`);
    print('of it: npx new, which installs / npx dev to the answer', `${n(best.made)} ms / ${n(best.dev)} ms`);
    print('node -e 0, for comparison', `${n(await nodeStart())} ms`);
  } finally {
    remove();
  }
}
