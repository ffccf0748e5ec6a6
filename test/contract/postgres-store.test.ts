import { afterAll, beforeAll } from 'vitest';
import { openPostgresStore } from '../../src/store/index.js';
import { startDatabase, type TestDatabase } from '../database.js';
import { storeContract } from './store.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
}, 120_000);
afterAll(() => database.stop());

storeContract('the store in a PostgreSQL database', async () => {
  const address = await database.place();
  return {
    open: ({ takeOver } = {}) => openPostgresStore(address, { takeOver }),
    remove: async () => undefined,
  };
});
