import { createMemoryStore, MemoryDisk } from '../../src/store/index.js';
import { storeContract } from './store.js';

storeContract('the memory store', async () => {
  const disk = new MemoryDisk();
  return { open: async () => createMemoryStore({ disk }), remove: async () => undefined };
});
