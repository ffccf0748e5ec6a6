// graphql-sse's handler in a process of its own.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installPeers } from './install.mjs';

const VERSION = '2.6.1';
const SERVER = join(dirname(fileURLToPath(import.meta.url)), 'graphql-sse-server.mjs');

/** A running server that knows bursts of so many events, or undefined (and a line that says why). */
export async function startGraphqlSse(print, { burst }) {
  const dir = installPeers({ 'graphql-sse': VERSION, graphql: '16.11.0' }, print);
  if (dir === undefined) return undefined;
  const child = spawn(process.execPath, [SERVER, dir, String(burst)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
  };
  for await (const port of createInterface({ input: child.stdout })) {
    return { name: `graphql-sse ${VERSION}`, url: `http://127.0.0.1:${port}`, pid: child.pid, stop };
  }
  throw new Error('the server of graphql-sse ended before it listened');
}
