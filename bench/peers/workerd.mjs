// Durable Objects: workerd as its npm package ships it, a counter with its state on disk before the reply.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { scratch } from '../service.mjs';
import { installPeers } from './install.mjs';

const VERSION = '1.20261117.1';
const here = dirname(fileURLToPath(import.meta.url));

/** A running workerd in an environment, or undefined (and a line that says why). */
export async function startWorkerd(print, environment = {}) {
  const dir = installPeers({ workerd: VERSION }, print);
  if (dir === undefined) return undefined;
  const binary = binaryIn(join(dir, 'node_modules/@cloudflare'));
  if (binary === undefined) {
    print('left out: workerd has no binary for this platform', `${process.platform} ${process.arch}`);
    return undefined;
  }
  const data = scratch('workerd');
  mkdirSync(join(data.dir, 'storage'));
  const args = [
    'serve',
    join(here, 'workerd/config.capnp'),
    '--control-fd=3',
    `--directory-path=disk=${data.dir}/storage`,
  ];
  const child = spawn(binary, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const stop = async () => {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
    data.remove();
  };
  for await (const line of createInterface({ input: child.stdio[3] })) {
    const { event, port } = JSON.parse(line);
    if (event === 'listen')
      return { name: `workerd ${VERSION}`, url: `http://127.0.0.1:${port}`, pid: child.pid, stop };
  }
  throw new Error('workerd ended before it listened');
}

function binaryIn(scope) {
  return readdirSync(scope)
    .map((name) => join(scope, name, 'bin/workerd'))
    .find((path) => existsSync(path));
}
