// node examples/packages/load.mjs [package-lock.json]
// Loads the dependency graph of a lock file (this project's own by default) into examples/packages/.graphstead/data.
import { spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quads } from './lock-file.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const data = join(here, '.graphstead', 'data');
const stamp = join(here, '.graphstead', 'loaded');
const lockFile = resolve(process.argv[2] ?? join(root, 'package-lock.json'));
const lockText = readFileSync(lockFile, 'utf8');

if (
  process.argv[2] === undefined &&
  existsSync(data) &&
  existsSync(stamp) &&
  readFileSync(stamp, 'utf8') === lockText
) {
  process.exit(0); // loaded already
}

if (inUse()) {
  console.error(`${data} is being served: stop that service first, the lock file has changed`);
  process.exit(3);
}
rmSync(join(here, '.graphstead'), { recursive: true, force: true });
const scratch = mkdtempSync(join(tmpdir(), 'graphstead-packages-'));
const file = join(scratch, 'packages.rdf');
const out = createWriteStream(file);
for (const line of quads(JSON.parse(lockText))) out.write(`${line}\n`);
await new Promise((done) => out.end(done));
const command = [
  join(root, 'bin/graphstead.js'),
  'import',
  file,
  '--graphql',
  join(here, 'schema.graphql'),
  '--data',
  data,
];
const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' });
rmSync(scratch, { recursive: true, force: true });
if (status === 0) writeFileSync(stamp, lockText);
process.exit(status ?? 1);

/** Whether a process that lives holds the data directory. */
function inUse() {
  try {
    process.kill(JSON.parse(readFileSync(join(data, 'writer.json'), 'utf8')).pid, 0);
    return true;
  } catch {
    return false;
  }
}
