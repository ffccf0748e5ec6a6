// TLS from the command line: half of it must never end in plain text.
import { afterAll, describe, expect, it } from 'vitest';
import { run, scratch } from './command.js';

const folder = scratch();
afterAll(() => folder.remove());

describe('graphstead start', () => {
  it.each([
    ['--tls-cert', '--tls-key'],
    ['--tls-key', '--tls-cert'],
  ])('refuses %s without %s', async (given, missing) => {
    const { code, stdout, stderr } = await run(['start', '--port', '0', given, 'some.pem'], { cwd: folder.dir });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`${missing} is missing`);
  });
});
