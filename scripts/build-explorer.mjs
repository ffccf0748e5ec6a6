// Bundles explorer/src to dist/explorer when a source is newer than what stands there. Everything the page needs is in
// the bundle: it asks no outside address. Panes are split off, so that the first paint loads little.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'explorer');
const target = join(root, 'dist', 'explorer');

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(...readdirSync(path).map((name) => newest(join(path, name))), 0);
}

function isCurrent() {
  const page = join(target, 'index.html');
  if (!existsSync(page)) return false;
  const built = statSync(page).mtimeMs;
  return newest(join(source, 'src')) < built && newest(fileURLToPath(import.meta.url)) < built;
}

/** GraphiQL's style carries two typefaces as data, most of its size; the page has its own. */
const withoutFonts = {
  name: 'without-fonts',
  setup({ onLoad }) {
    onLoad({ filter: /graphiql[\\/]dist[\\/]style\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/@font-face\s*\{[^}]*\}/g, ''),
      loader: 'css',
    }));
  },
};

let running;

/** Builds when needed. Returns the number of files written; 0 when dist/explorer was already current. */
export function buildExplorer({ force = false } = {}) {
  if (!existsSync(join(source, 'src')) || (!force && isCurrent())) return Promise.resolve(0);
  running ??= bundle().finally(() => {
    running = undefined;
  });
  return running;
}

async function bundle() {
  const { build } = await import('esbuild');
  // Beside the target, and swapped in whole: who is served meanwhile gets the old files.
  const scratch = join(root, 'dist', `.explorer-${process.pid}`);
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  try {
    const { metafile } = await build({
      entryPoints: {
        main: join(source, 'src', 'main.tsx'),
        style: join(source, 'src', 'style.css'),
        graphiql: join(source, 'src', 'graphql', 'graphql.css'),
      },
      plugins: [withoutFonts],
      outdir: join(scratch, 'assets'),
      absWorkingDir: root,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      jsx: 'automatic',
      minify: true,
      metafile: true,
      entryNames: '[name]-[hash]',
      chunkNames: 'chunk-[hash]',
      assetNames: '[name]-[hash]',
      define: { 'process.env.NODE_ENV': '"production"' },
      legalComments: 'linked',
      logLevel: 'warning',
    });
    const built = (entry) => {
      const found = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint?.endsWith(entry));
      return `/explorer/assets/${basename(found[0])}`;
    };
    const page = readFileSync(join(source, 'src', 'index.html'), 'utf8')
      .replace('style.css', built('src/style.css'))
      .replace('graphiql.css', built('graphql/graphql.css'))
      .replace('main.js', built('main.tsx'));
    writeFileSync(join(scratch, 'index.html'), page);
    rmSync(target, { recursive: true, force: true });
    renameSync(scratch, target);
    return Object.keys(metafile.outputs).length + 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (process.argv[1] && relative(process.argv[1], fileURLToPath(import.meta.url)) === '') {
  const from = performance.now();
  const count = await buildExplorer({ force: process.argv.includes('--force') });
  const ms = Math.round(performance.now() - from);
  console.log(count === 0 ? 'dist/explorer is current' : `bundled ${count} files in ${ms} ms`);
  if (count > 0) for (const line of sizes()) console.log(line);
}

function sizes() {
  const dir = join(target, 'assets');
  const files = readdirSync(dir).filter((name) => /\.(js|css)$/.test(name));
  return files
    .map((name) => ({ name, bytes: readFileSync(join(dir, name)) }))
    .sort((a, b) => b.bytes.length - a.bytes.length)
    .map(({ name, bytes }) => `  ${name.padEnd(24)}${kib(bytes.length)}  gzip${kib(gzipSync(bytes).length)}`);
}

function kib(bytes) {
  return `${(bytes / 1024).toFixed(0).padStart(7)} KiB`;
}
