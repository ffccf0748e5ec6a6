import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { GraphsteadError } from '../../base/index.js';
import { BUNDLING, bundleErrors, holdsCode, packagesOutside } from '../../functions/index.js';
import { checkAppDir } from '../app-dir.js';
import { type CommonOptions, runCommand } from '../report.js';

/** no `.test.mjs`: other runners look for those, and a run that is interrupted leaves its files */
const BUILT = '.run.mjs';

/** `graphstead test`: an app's *.test.ts files under Node's own test runner. Exit code 1 when one fails. */
export function testCommand(appDir: string | undefined, options: CommonOptions): Promise<void> {
  return runCommand(
    options,
    () => runTests(checkAppDir(appDir), options.json ?? false),
    () => '',
  );
}

async function runTests(app: string, json: boolean): Promise<{ readonly files: readonly string[] }> {
  const files = testsIn(app);
  if (files.length === 0) {
    throw new GraphsteadError('NOT_FOUND', `${app} holds no tests`, { fix: 'write them in test/*.test.ts' });
  }
  const out = join(app, '.graphstead', 'test');
  rmSync(out, { recursive: true, force: true });
  const { build } = await import('esbuild');
  await build({
    entryPoints: [...files],
    outdir: out,
    outbase: app,
    outExtension: { '.js': BUILT },
    ...BUNDLING,
    sourcemap: 'inline',
    plugins: [packagesOutside],
  }).catch((error: unknown) => {
    throw bundleErrors(app, error);
  });
  const built = files.map((file) => join(out, `${file.slice(app.length + 1, -3)}${BUILT}`));
  const reporter = json ? ['--test-reporter=tap'] : [];
  // an app that a failing test left open would keep its process, and so the run, for ever
  const args = ['--enable-source-maps', '--test', '--test-force-exit', ...reporter, ...built];
  // A runner that is itself run by one would report to that one in place of the terminal.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const stdio = ['ignore', json ? 2 : 1, 2] as const;
  const child = spawn(process.execPath, args, { cwd: app, env, stdio: [...stdio] });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  rmSync(out, { recursive: true, force: true });
  if (code !== 0) process.exitCode = 1;
  return { files: files.map((file) => basename(file)) };
}

/** A folder with a package.json is a package of its own, a client's say, whose tests may be for another runner. */
function testsIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const tests = entries.filter((entry) => !entry.isDirectory() && entry.name.endsWith('.test.ts'));
  const below = entries.filter((entry) => entry.isDirectory() && holdsCode(entry.name));
  const folders = below.map(({ name }) => join(folder, name)).filter((path) => !existsSync(join(path, 'package.json')));
  return [...tests.map(({ name }) => join(folder, name)), ...folders.flatMap(testsIn)].sort();
}
