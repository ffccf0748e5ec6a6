import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type SourceWatch, watchSources } from './watch.js';

let root: string;
let functions: string;
let sources: SourceWatch;
const changed = vi.fn();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'graphstead-watch-'));
  functions = join(root, 'app', 'functions');
  mkdirSync(functions, { recursive: true });
  writeFileSync(join(functions, 'a.ts'), '');
  sources = watchSources(join(root, 'app'), changed);
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
