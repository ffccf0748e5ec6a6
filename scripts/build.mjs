// Bundles src/ to dist/ when a source is newer than what stands there: a start then reads a few files instead of hundreds.
// esbuild only strips types, so this takes a fraction of a second; `npm run types` checks them.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');

/** What is run or imported by name. Code that several share stands once, in dist/chunk: a class is one class. */
const PROGRAMS = [
  'app',
  'testing',
  'cli/main',
  'cli/doctor/store-child',
  'agents/host/main',
  'functions/read/worker',
  'functions/check/child',
];

const COMMON = { outbase: src, format: 'esm', platform: 'node', target: 'node20', logLevel: 'warning' };

/**
 * TypeScript is one CommonJS file of nine megabytes: `import` reads all of it twice, to tell what it is and what it exports, before
 * it runs; `require` does not.
 */
const TYPESCRIPT_REQUIRED = {
  name: 'typescript-required',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^typescript$/ }, ({ path }) => ({ path, namespace: 'required' }));
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `import { createRequire } from 'node:module'; export default createRequire(import.meta.url)('${path}');`,
    }));
  },
};

/** Bundles the programs to dist/ when needed. Returns the number of files written; 0 when dist/ was already current. */
export function build({ force = false } = {}) {
  return whenStale(join(root, 'dist'), force, () => ({
    ...COMMON,
    entryPoints: PROGRAMS.map((name) => join(src, `${name}.ts`)),
    bundle: true,
    splitting: true,
    packages: 'external',
    chunkNames: 'chunk/[name]-[hash]',
    sourcemap: 'linked',
    plugins: [TYPESCRIPT_REQUIRED],
  }));
}

/** Compiles src/ to build/rooms, one file to one file, for tests and measures that enter a room of the house by itself. */
export function buildRooms() {
  const entryPoints = () => sources(src);
  return whenStale(join(root, 'build', 'rooms'), false, () => ({ ...COMMON, entryPoints: entryPoints() }));
}

async function whenStale(outdir, force, options) {
  if (!existsSync(src)) return 0; // an installed package has dist/ only
  const stamp = join(outdir, '.built');
  const built = !force && existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  if (newest(src) < built) return 0;
  const esbuild = await import('esbuild');
  const { outputFiles } = await esbuild.build({ ...options(), outdir, write: false });
  for (const { path, contents } of outputFiles) write(path, contents);
  removeOthers(outdir, new Set(outputFiles.map(({ path }) => path)));
  write(stamp, `${outputFiles.length} files\n`);
  return outputFiles.length;
}

function sources(dir) {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(dir, name));
}

/** A folder's time tells of files that came or went. */
function newest(dir) {
  return Math.max(...[dir, ...readdirSync(dir, { recursive: true }).map((name) => join(dir, name))].map(timeOf));
}

const timeOf = (path) => statSync(path).mtimeMs;

/** Two processes may build at once: each file is whole at any time. */
function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const own = `${path}.${process.pid}`;
  writeFileSync(own, contents);
  renameSync(own, path);
}

/** What an earlier build wrote; the explorer's page has a build of its own. */
function removeOthers(dir, kept) {
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const path = join(dir, name);
    if (/\.js(\.map)?$/.test(name) && !name.startsWith('explorer') && !kept.has(path)) rmSync(path, { force: true });
  }
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === '') {
  const count = await build({ force: process.argv.includes('--force') });
  console.log(count === 0 ? 'dist/ is current' : `built ${count} files`);
  // Only here: `npm start` of a clone needs no rooms, and leaves the explorer to the first request for its page.
  await buildRooms();
  const { buildExplorer } = await import('./build-explorer.mjs');
  const bundled = await buildExplorer();
  console.log(bundled === 0 ? 'dist/explorer is current' : `bundled ${bundled} files of the explorer`);
}
