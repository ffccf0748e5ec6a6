// Compiles src/ to dist/, one file to one file, when a source is newer than what stands there.
// esbuild only strips types, so this takes a fraction of a second; `npm run types` checks them.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');

function sources(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return sources(path);
    return entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

/** Builds when needed. Returns the number of files written; 0 when dist/ was already current. */
export async function build({ force = false } = {}) {
  const src = join(root, 'src');
  if (!existsSync(src)) return 0; // an installed package has dist/ only
  const files = sources(src);
  const built = !force && existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  if (files.every((file) => statSync(file).mtimeMs < built)) return 0;
  const esbuild = await import('esbuild');
  rmSync(stamp, { force: true });
  mkdirSync(join(root, 'dist'), { recursive: true });
  await esbuild.build({
    entryPoints: files,
    outdir: join(root, 'dist'),
    outbase: src,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  writeFileSync(stamp, `${files.length} files\n`);
  return files.length;
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === '') {
  const count = await build({ force: process.argv.includes('--force') });
  console.log(count === 0 ? 'dist/ is current' : `built ${count} files`);
  // Only here: `npm start` of a clone leaves it to the first request for the page.
  const { buildExplorer } = await import('./build-explorer.mjs');
  const bundled = await buildExplorer();
  console.log(bundled === 0 ? 'dist/explorer is current' : `bundled ${bundled} files of the explorer`);
}
