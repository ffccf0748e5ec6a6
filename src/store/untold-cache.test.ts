import { readFileSync, writeFileSync } from 'node:fs';
import { cp, open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { makeLimits } from '../base/index.js';
import { Checkpoints } from './checkpoints.js';
import type { Store } from './contract.js';
import { KeyWriter } from './key.js';
import { DATA_FILE, PAGE_SIZE } from './lmdb-env.js';
import { checkPages } from './lmdb-head.js';
import { openLmdbStore } from './lmdb-open.js';
import { readLog } from './redo-log.js';

// A system that does not tell its runs: LMDB waits for its pages with each commit, and its meta page is left to the log.
vi.mock('./page-cache.js', () => ({ tellsCaches: false, cacheOf: () => undefined }));

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const BATCHES = 40;
let directory: string;

beforeEach(() => {
  directory = testFolder();
});
afterEach(async () => {
  vi.restoreAllMocks();
});

const write = (store: Store, version: number) =>
  store.apply(
    {
      version,
      puts: Array.from({ length: 60 }, (_, i) => ({
        key: new KeyWriter('graph').uint(version).uint(i).key(),
        value: Buffer.alloc(1_000, version),
      })),
    },
    { expectEpoch: store.epoch },
  );

async function batchesIn(store: Store): Promise<number> {
  const snapshot = store.snapshot();
  try {
    const page = await snapshot.range({ ...new KeyWriter('graph').range(), keysOnly: true, limit: 10_000 });
    return page.keys.length / 60;
  } finally {
    snapshot.release();
  }
}

it('a batch is there whose meta page was lost, after several checkpoints', async () => {
  const live = join(directory, 'live');
  const store = await openLmdbStore(live, { limits });
  for (let version = 1; version < BATCHES; version++) await write(store, version);
  const heads = readFileSync(join(live, DATA_FILE)).subarray(0, 2 * PAGE_SIZE);
  await write(store, BATCHES);
  expect(readLog(live)?.checkpoint.head).toBe('');
  expect(readLog(live)?.checkpoint.sequence).toBeGreaterThan(0);
  vi.spyOn(Checkpoints.prototype, 'end').mockResolvedValueOnce();
  await store.close();
  const cut = join(directory, 'cut');
  await cp(live, cut, { recursive: true });
  const data = readFileSync(join(cut, DATA_FILE));
  writeFileSync(join(cut, DATA_FILE), Buffer.concat([heads, data.subarray(2 * PAGE_SIZE)]));
  const again = await openLmdbStore(cut, { limits });
  expect(await batchesIn(again)).toBe(BATCHES);
  await again.close();
  checkPages(join(cut, DATA_FILE));
});

it('a checkpoint that fails ends writing, and the next start has what was acknowledged', async () => {
  const store = await openLmdbStore(directory, { limits });
  const file = await openFile(join(directory, DATA_FILE));
  vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'datasync').mockRejectedValue(
    Object.assign(new Error('i/o'), { code: 'EIO', errno: -5 }),
  );
  await file.close();
  let acknowledged = 0;
  const writing = (async () => {
    for (;;) await write(store, acknowledged + 1).then(() => acknowledged++);
  })();
  await expect(writing).rejects.toMatchObject({ code: 'DISK_FULL' });
  vi.restoreAllMocks();
  await store.close();
  const again = await openLmdbStore(directory, { limits });
  expect(await batchesIn(again)).toBe(acknowledged);
  await again.close();
});
