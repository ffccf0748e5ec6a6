// npm run bench [-- NAME...]: every measure in bench/*.bench.mjs (or those named), each against a reference in the same run.
// Figures are ratios first: machines differ, the ratio of two things measured side by side does not.
import { readdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, buildRooms } from '../scripts/build.mjs';

const here = dirname(fileURLToPath(import.meta.url));
await Promise.all([build(), buildRooms()]);
const wanted = process.argv.slice(2);
const files = readdirSync(here)
  .filter((file) => file.endsWith('.bench.mjs'))
  .filter((file) => wanted.length === 0 || wanted.some((name) => file.startsWith(name)))
  .sort();
console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}\n`,
);
let failed = 0;
for (const file of files) {
  const { name, run, onlyNamed = false } = await import(join(here, file));
  if (onlyNamed && wanted.length === 0) {
    console.log(`${name}: left out, ask for it with npm run bench -- ${file.replace('.bench.mjs', '')}\n`);
    continue;
  }
  console.log(`${name}`);
  try {
    await run((label, value) => console.log(`  ${label.padEnd(64)} ${value}`));
  } catch (error) {
    failed++;
    console.log(`  FAILED: ${error instanceof Error ? error.stack : error}`);
  }
  console.log('');
}
process.exit(failed > 0 ? 1 : 0);
