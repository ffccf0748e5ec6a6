import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLimits } from '../../src/base/index.js';
import { openLmdbStore } from '../../src/store/index.js';
import { storeContract } from './store.js';

const limits = makeLimits({ ballastBytes: 1, diskReserve: 1 });

storeContract('the lmdb store', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'graphstead-store-'));
  return {
    open: ({ takeOver } = {}) => openLmdbStore(directory, { takeOver, limits }),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
});
