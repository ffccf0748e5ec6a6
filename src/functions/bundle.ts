import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Message, Plugin } from 'esbuild';
import { GraphsteadError, GraphsteadErrors } from '../base/index.js';
import { type AppSource, shownPath } from './app-source.js';

/**
 * Bundles an app to one ESM file: its default export holds the exported functions by name. Packages stay outside (they
 * are found from where the file lies); "graphstead/app" is what the host process provides.
 * Throws GraphsteadErrors (APP_LOAD) with every mistake that esbuild finds.
 */
export async function bundleApp(source: AppSource, outFile: string): Promise<void> {
  const { build } = await import('esbuild');
  mkdirSync(dirname(outFile), { recursive: true });
  try {
    await build({
      stdin: { contents: entryOf(source), resolveDir: source.appDir, sourcefile: 'graphstead-entry.ts', loader: 'ts' },
      outfile: outFile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      sourcemap: 'linked',
      keepNames: true,
      logLevel: 'silent',
      plugins: [providedByHost],
    });
  } catch (error) {
    const { errors } = error as { errors?: readonly Message[] };
    if (errors === undefined) throw error;
    throw new GraphsteadErrors(errors.map((message) => toError(source, message)));
  }
}

function entryOf({ functions, agents }: AppSource): string {
  const imports = agents.map((file) => `import ${JSON.stringify(file)};`);
  const modules = functions.map((file, i) => `import * as m${i} from ${JSON.stringify(file)};`);
  const spread = functions.map((_, i) => `...m${i}`).join(', ');
  return [...imports, ...modules, `export default { ${spread} };`].join('\n');
}

const providedByHost: Plugin = {
  name: 'graphstead-app',
  setup(build) {
    build.onResolve({ filter: /^graphstead\/app$/ }, () => ({ path: 'graphstead/app', namespace: 'graphstead' }));
    build.onLoad({ filter: /.*/, namespace: 'graphstead' }, () => ({
      contents: "module.exports = globalThis[Symbol.for('graphstead.app')];",
      loader: 'js',
    }));
  },
};

function toError({ appDir }: AppSource, { text, location }: Message): GraphsteadError {
  const position = location
    ? { line: location.line, column: location.column + 1, source: shownPath(appDir, location.file) }
    : undefined;
  return new GraphsteadError('APP_LOAD', text, { position });
}
