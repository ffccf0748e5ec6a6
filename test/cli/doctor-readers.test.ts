import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import { runJson, scratch, serve } from './command.js';

const folder = scratch();
afterAll(() => folder.remove());

/** A process that reads the data file, and stands still. */
function readAndStand(file: string): ChildProcessByStdio<null, Readable, null> {
  const reads = `const file = require('lmdb').open({ path: ${JSON.stringify(file)}, noSubdir: true, readOnly: true });
    globalThis.held = { transaction: file.useReadTransaction() };
    file.get('a', globalThis.held);
    process.stdout.write('reads');
    setInterval(() => {}, 60_000);`;
  return spawn(process.execPath, ['-e', reads], { stdio: ['ignore', 'pipe', 'ignore'] });
}

it('doctor names the process for whose sake no page of the data file is used again', async () => {
  const data = folder.path('data');
  const service = await serve(['--data', data]);
  const reader = readAndStand(folder.path('data', 'data.mdb'));
  try {
    await once(reader.stdout, 'data');
    for (let n = 0; n < 520; n++) {
      const headers = { 'content-type': 'application/rdf' };
      const body = `{ set { <0x1> <count> "${n}" . } }`;
      const { status } = await fetch(`${service.url}/mutate?commitNow=true`, { method: 'POST', headers, body });
      expect(status).toBe(200);
    }
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/^graphstead_store_held_batches (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(500);
    const report = JSON.stringify(await runJson(['doctor', '--data', data]));
    expect(report).toMatch(new RegExp(`process ${reader.pid} reads what stood there \\d+ batches ago`));
    reader.kill('SIGKILL');
    await once(reader, 'exit');
  } finally {
    reader.kill('SIGKILL');
    await service.stop();
  }
});
