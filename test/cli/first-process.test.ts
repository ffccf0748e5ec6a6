import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { bin, scratch, serve } from './command.js';

const folder = scratch();
afterAll(() => folder.remove());

/** A process takes itself for the first one of a container, which the system spares signals that it does not listen to. */
const FIRST = '--import=data:text/javascript,Object.defineProperty(process,%22pid%22,{value:1})';

it.each(['SIGTERM', 'SIGINT'] as const)(
  'the first process of a container ends by %s before it serves',
  async (signal) => {
    const silent = createServer(); // a database that is waited for
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const args = ['start', '--store', `postgres://one@127.0.0.1:${port}/one`, '--port', '0', '--grpc-port', '0'];
    const asked = once(silent, 'connection');
    const service = spawn(process.execPath, [FIRST, bin, ...args], { cwd: folder.dir, stdio: 'ignore' });
    const ended = once(service, 'exit');
    try {
      await asked;
      service.kill(signal);
      // ended by the signal itself, it would have no code
      expect(await ended).toEqual([130, null]);
    } finally {
      service.kill('SIGKILL');
      silent.close();
    }
  },
);

it('the first process of a container ends in order once it serves', async () => {
  const service = await serve(['--data', folder.path('data')], { environment: { NODE_OPTIONS: FIRST } });
  expect(await service.stop()).toBe(0);
});
