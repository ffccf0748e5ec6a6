import { type MakeDirectoryOptions, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
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

it('tells that its volume is read-only, which Node.js does not where those above it may be missing', () => {
  const refuse = (path: unknown, options: unknown): never => {
    const told = (options as MakeDirectoryOptions).recursive ? 'ENOENT' : 'EROFS';
    throw Object.assign(new Error(`${told}: mkdir '${String(path)}'`), { code: told });
  };
  vi.mocked(mkdirSync).mockImplementationOnce(refuse).mockImplementationOnce(refuse);
  expect(() => makePrivateFolder(join(dir, 'a', 'b'))).toThrow(`EROFS: mkdir '${join(dir, 'a')}'`);
});
