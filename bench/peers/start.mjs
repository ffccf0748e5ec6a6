import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A server in a process of its own that prints its port. */
export async function startPeer(name, args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGKILL');
    await ended;
  };
  for await (const port of createInterface({ input: child.stdout })) {
    return { name, url: `http://127.0.0.1:${port}`, pid: child.pid, stop };
  }
  throw new Error(`${name} ended before it listened`);
}
