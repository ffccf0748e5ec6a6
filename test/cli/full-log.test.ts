import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { freePort } from '../free-port.js';
import { bin, scratch } from './command.js';

const folder = scratch();
afterAll(() => folder.remove());

/** A file that takes nothing, as on a full disk. */
const FULL = '/dev/full';

it('a service whose output goes to a full disk serves, and ends as it should', async () => {
  const port = await freePort();
  const full = openSync(FULL, 'w');
  // every write is refused, and logged
  const env = { ...process.env, GRAPHSTEAD_LIMIT_DISK_RESERVE: String(2 ** 52) };
  const args = [bin, 'start', '--data', folder.path('data'), '--port', String(port), '--grpc-port', '0'];
  const service = spawn(process.execPath, args, { env, stdio: ['ignore', full, full] });
  closeSync(full);
  const ended = new Promise((resolve) => service.once('exit', (code, signal) => resolve(signal ?? code)));
  try {
    const write = async () => {
      const headers = { 'content-type': 'application/rdf' };
      const init = { method: 'POST', headers, body: '{ set { _:a <name> "Ada" . } }' };
      return (await fetch(`http://127.0.0.1:${port}/mutate?commitNow=true`, init)).status;
    };
    await expect.poll(write).toBe(507);
    for (let n = 0; n < 20; n++) expect(await write()).toBe(507);
    service.kill('SIGTERM');
    expect(await ended).toBe(0);
  } finally {
    service.kill('SIGKILL');
  }
});
