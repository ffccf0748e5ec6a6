import { existsSync } from 'node:fs';
import type * as files from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { makeLimits } from '../base/index.js';
import { openLmdbStore } from './lmdb-open.js';

// A folder that one may go through and not read. Rights of files do not tell it where tests run as the superuser.
const hidden = vi.hoisted(() => ({ path: '', code: '' }));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof files>();
  const open: typeof real.open = async (path, ...rest) => {
    if (path === hidden.path) throw Object.assign(new Error(`${hidden.code}, open '${path}'`), { code: hidden.code });
    return real.open(path, ...rest);
  };
  return { ...real, open };
});

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
let parent: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'graphstead-hidden-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

it('a store stands, and is copied, in a folder that its user may not read', async () => {
  Object.assign(hidden, { path: parent, code: 'EACCES' });
  const store = await openLmdbStore(join(parent, 'data'), { limits });
  await store.backup?.(join(parent, 'copy'));
  await store.close();
  expect(existsSync(join(parent, 'copy', 'data.mdb'))).toBe(true);
});

it('a disk that fails there is told', async () => {
  Object.assign(hidden, { path: parent, code: 'EIO' });
  await expect(openLmdbStore(join(parent, 'data'), { limits })).rejects.toThrow('EIO');
});
