import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makePrivateFolder } from './private-folder.js';

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, mkdirSync: vi.fn(fs.mkdirSync) };
});

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'graphstead-private-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('is made with those above it, for its user alone', () => {
  for (let times = 0; times < 2; times++) makePrivateFolder(join(dir, 'a', 'b'));
  for (const made of ['a', 'a/b']) expect(statSync(join(dir, made)).mode & 0o777).toBe(0o700);
});

it('tells that its volume is read-only', () => {
  vi.mocked(mkdirSync).mockImplementationOnce((path) => {
    throw Object.assign(new Error(`EROFS: mkdir '${String(path)}'`), { code: 'EROFS' });
  });
  expect(() => makePrivateFolder(join(dir, 'a', 'b'))).toThrow(`EROFS: mkdir '${join(dir, 'a')}'`);
});

it('tells of a file in its place, or above it', () => {
  writeFileSync(join(dir, 'file'), '');
  expect(() => makePrivateFolder(join(dir, 'file'))).toThrow('EEXIST');
  expect(() => makePrivateFolder(join(dir, 'file', 'a', 'b'))).toThrow('ENOTDIR');
});

it('is there where another process makes it at the same time', () => {
  const make = vi.mocked(mkdirSync).getMockImplementation();
  vi.mocked(mkdirSync).mockImplementationOnce((path, options) => {
    make?.(path, options);
    return make?.(path, options);
  });
  makePrivateFolder(join(dir, 'a'));
  expect(statSync(join(dir, 'a')).isDirectory()).toBe(true);
});

it.runIf(existsSync('/proc/self'))('comes back where the system makes none', () => {
  expect(() => makePrivateFolder('/proc/graphstead/data')).toThrow(
    "ENOENT: no such file or directory, mkdir '/proc/graphstead'",
  );
});
