// Writes the documents that are made from the program itself: docs/reference/cli.md and docs/app.schema.json.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildRooms } from './build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const load = (path) => import(new URL(`../build/rooms/${path}`, import.meta.url).href);

await buildRooms();
const [{ createProgram }, { cliReference }, { configJsonSchema }] = await Promise.all([
  load('cli/program.js'),
  load('cli/reference.js'),
  load('connections/index.js'),
]);
mkdirSync(join(root, 'docs/reference'), { recursive: true });
writeFileSync(join(root, 'docs/reference/cli.md'), cliReference(createProgram()));
writeFileSync(join(root, 'docs/app.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
