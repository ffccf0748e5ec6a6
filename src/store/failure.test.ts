import { expect, it } from 'vitest';
import { copyFailure, storeFailure, writeFailure } from './failure.js';

it.each([
  ['ENOSPC: no space left on device, write', 'DISK_FULL', 'Free space'],
  ['MDB_CORRUPTED: Located page was wrong type', 'STORE_CORRUPT', 'restore'],
  ["EACCES: permission denied, open '/data/data.mdb'", 'CONFIG', '--data'],
  ["EROFS: read-only file system, open '/data/writer.json'", 'CONFIG', 'Mount'],
  ["ENOTDIR: not a directory, open '/data/opening.json'", 'CONFIG', 'Move away the file'],
  ["ENOENT: no such file or directory, mkdir '/proc/data'", 'CONFIG', 'No folder can be made there'],
  ["ENAMETOOLONG: name too long, open '/data/data.mdb'", 'CONFIG', 'Shorten the path'],
  ["ELOOP: too many symbolic links encountered, open '/data/data.mdb'", 'CONFIG', 'Mend the symbolic links'],
  ["EMFILE: too many open files, open '/data/data.mdb'", 'OVERLOADED', 'ulimit -n'],
])('%s is %s, with what was done and what to do', (message, code, fix) => {
  const failure = storeFailure(new Error(message), 'opening /data failed');
  expect(failure).toMatchObject({ code, fix: expect.stringContaining(fix) });
  expect(failure.message).toContain('opening /data failed: ');
});

it('what nobody foresaw is INTERNAL, with what was done', () => {
  expect(storeFailure(new Error('odd'), 'opening /data failed')).toMatchObject({
    code: 'INTERNAL',
    message: 'opening /data failed: odd',
  });
});

it.each([
  [Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }), 'DISK_FULL'],
  [Object.assign(new Error('Input/output error'), { code: 5 }), 'DISK_FULL'],
  [new Error("EACCES: permission denied, open '/mnt/copies/data.mdb'"), 'CONFIG'],
])('a copy speaks of its own folder: %s is %s', (thrown, code) => {
  const failure = copyFailure(thrown, 'the copy to /mnt/copies failed', '/mnt/copies');
  expect(failure).toMatchObject({ code, fix: expect.stringContaining('name ') });
  expect(failure.fix).not.toMatch(/--data|data directory/);
});

it.each([
  [Object.assign(new Error('Read-only file system'), { code: 30 })],
  [Object.assign(new Error('EROFS: read-only file system, write'), { code: 'EROFS', errno: -30 })],
  [Object.assign(new Error("EACCES: permission denied, open '/data/writing'"), { code: 'EACCES', errno: -13 })],
])('a directory that can be written no more is no mistake of whoever writes: %s', (thrown) => {
  const failure = writeFailure(thrown);
  expect(failure).toMatchObject({ code: 'DISK_FULL', status: 507, cause: thrown });
  expect(failure.message).toBe(`the write failed: ${thrown.message}`);
  expect(failure.fix).toMatch(/system's log.*read-only/);
});
