import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type * as Files from 'node:fs';
import { type SourceWatch, watchSources } from './watch.js';

vi.mock('node:fs', async (original) => {
  const files = await original<typeof Files>();
  const watch = (folder: string, told: () => void) => {
    if (!folder.endsWith('pgdata')) return files.watch(folder, told);
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
  };
  return { ...files, watch };
});

let root: string;
let functions: string;
let sources: SourceWatch;
const changed = vi.fn();
const tell = vi.fn();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'graphstead-watch-'));
  functions = join(root, 'app', 'functions');
  mkdirSync(functions, { recursive: true });
  writeFileSync(join(functions, 'a.ts'), '');
  sources = watchSources(join(root, 'app'), changed, tell);
});
afterEach(() => {
  sources.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Resolves when the change was noticed. */
async function noticed(change: () => void): Promise<void> {
  changed.mockClear();
  change();
  await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 60_000 });
}

it('notices a folder that comes with its files, and edits in it', async () => {
  const below = join(functions, 'v1.2');
  await noticed(() => {
    mkdirSync(below);
    writeFileSync(join(below, 'b.ts'), '');
  });
  await noticed(() => writeFileSync(join(below, 'b.ts'), '1'));
});

it('notices a folder that is moved away and back, and edits in it', async () => {
  await noticed(() => renameSync(functions, join(root, 'aside')));
  await noticed(() => renameSync(join(root, 'aside'), functions));
  await noticed(() => writeFileSync(join(functions, 'a.ts'), '1'));
});

it('notices a folder that is deleted and made anew, and edits in it', async () => {
  await noticed(() => rmSync(functions, { recursive: true }));
  await noticed(() => {
    mkdirSync(functions);
    writeFileSync(join(functions, 'a.ts'), '');
  });
  await noticed(() => writeFileSync(join(functions, 'a.ts'), '1'));
});

it('goes on when the whole app is gone', async () => {
  await noticed(() => rmSync(join(root, 'app'), { recursive: true }));
});

it('notices edits in folders outside the app that it is told of', async () => {
  const shared = join(root, 'shared');
  mkdirSync(shared);
  sources.also([shared, join(root, 'missing')]);
  await noticed(() => writeFileSync(join(shared, 'a.ts'), '1'));
});

it('passes over a folder that it may not look into, and tells it once', async () => {
  const data = join(root, 'app', 'pgdata');
  tell.mockClear();
  await noticed(() => {
    mkdirSync(data);
    writeFileSync(join(functions, 'a.ts'), '1');
  });
  await noticed(() => writeFileSync(join(functions, 'a.ts'), '2'));
  await vi.waitFor(() => expect(tell).toHaveBeenCalled(), { timeout: 60_000 });
  watchSources(join(root, 'app'), changed, tell).stop();
  const line = `edits in ${data} are not noticed: EACCES: permission denied`;
  expect(tell.mock.calls).toEqual([[line], [line]]);
});
