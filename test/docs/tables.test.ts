// The move that docs/guides/moving-from-hasura.md describes, with a PostgreSQL: its other blocks are run by docs.test.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startDatabase, type TestDatabase } from '../database.js';
import { startService } from '../service.js';
import { writeApp } from './app.js';
import { blocksOf } from './block.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const blocks = blocksOf(readFileSync(join(root, 'docs/guides/moving-from-hasura.md'), 'utf8'));
const textOf = (name: string) => blocks.find(({ file }) => file === name)?.text ?? '';
const folder = sharedFolder();
let database: TestDatabase;

beforeAll(async () => {
  database = await startDatabase();
  await database.run("alter database postgres set timezone to 'UTC'");
  await database.run(textOf('tables.sql'));
});
afterAll(async () => {
  await database?.stop();
});

it('the statements of the guide write the lines that it imports', async () => {
  const statements = textOf('move.sql')
    .split(/;\n/)
    .filter((text) => text.trim() !== '');
  const rows: unknown[] = [];
  for (const statement of statements) {
    const found = await database.run(statement);
    rows.push(...found.rows.map((row: object) => Object.values(row)[0]));
  }
  const lines = textOf('blog.ndjson').trim().split('\n');
  expect(rows).toEqual(lines.map((line) => JSON.parse(line)));
});

it('tables that stay are reached by a function', async () => {
  const appDir = writeApp(root, join(folder, 'app'), blocks);
  const service = await startService({ appDir, environment: { APP_BLOG_DATABASE_URL: database.address } });
  try {
    const { body } = await service.graphql('{ listPopularTags(first: 1) { tag articles } }');
    expect(body.data).toEqual({ listPopularTags: [{ tag: 'drink', articles: 1 }] });
  } finally {
    await service.close();
  }
});
