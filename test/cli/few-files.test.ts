import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runJson, scratch } from './command.js';

const bin = fileURLToPath(new URL('../../bin/graphstead.js', import.meta.url));
const folder = scratch();
const app = folder.path('my-app');
beforeAll(() => runJson(['new', app, '--no-git']));
afterAll(() => folder.remove());

/** What `start` says where it may open so many files. */
function start(files: number, ...flags: string[]) {
  const args = [bin, 'start', app, '--port', '0', '--grpc-port', '0', ...flags];
  const shell = ['-c', `ulimit -n ${files} && exec "$@"`, 'sh', process.execPath, ...args];
  return spawnSync('sh', shell, { encoding: 'utf8', timeout: 60_000 });
}

// Some can be read by Node.js and none of ours; with some more, there are none for processes.
it.each([24, 34])('a start with %i open files says that there are too few, and what to do', (files) => {
  const { status, stderr } = start(files);
  expect({ status, stderr }).toMatchObject({ status: 3, stderr: expect.stringMatching(/^OVERLOADED: .*open files/m) });
  expect(stderr).toMatch(/^ {2}fix: .*ulimit -n/m);
  expect(stderr).not.toMatch(/^ +at /m);
});

it('a start with too few open files says so as JSON where that is asked for', () => {
  const last = start(24, '--json').stderr.trim().split('\n').at(-1);
  expect(JSON.parse(last ?? '')).toMatchObject({
    error: { code: 'OVERLOADED', fix: expect.stringContaining('ulimit') },
  });
});
