import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { BuildContext, BuildOptions, Message, Plugin } from 'esbuild';
import { GraphsteadError, GraphsteadErrors } from '../base/index.js';
import { type AppSource, CORRECT_CODE, shownPath } from './app-source.js';
import { packagesOutside } from './packages.js';

/** What is no file: the entry, and what the host provides. */
const OWN_INPUT = /^graphstead[-:]/;

/** how the entry imports what names the file that comes next */
const NEXT = 'graphstead-next:';

/** What esbuild says where its process is gone. */
const PROCESS_ENDED = /^The service (was stopped|is no longer running)/;

/** How app code becomes a module that Node.js loads. */
export const BUNDLING = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'silent',
} as const satisfies BuildOptions;

/**
 * Bundles an app to one ESM file: its default export holds the exported functions by name. Packages stay outside (they
 * are found from where the file lies); "graphstead/app" is what the host process provides. What was parsed once is kept
 * until `close`.
 */
export class Bundler {
  #kept: { readonly entry: string; readonly context: BuildContext } | undefined;

  /**
   * Gives the files that went in. Throws GraphsteadErrors (APP_LOAD) with every mistake that esbuild finds. One bundle at
   * a time.
   */
  async bundle(source: AppSource, outFile: string): Promise<readonly string[]> {
    mkdirSync(dirname(outFile), { recursive: true });
    const build = () => this.#build(source, outFile);
    try {
      return await build().catch((error: unknown) => this.#anew(error, build));
    } catch (error) {
      throw bundleErrors(source.appDir, error);
    }
  }

  async #build(source: AppSource, outFile: string): Promise<readonly string[]> {
    const context = await this.#contextFor(source, outFile);
    const { metafile } = await context.rebuild();
    return Object.keys(metafile?.inputs ?? {})
      .filter((input) => !OWN_INPUT.test(input))
      .map((input) => resolve(input));
  }

  /** esbuild works in a process of its own, and begins no other where something (memory that ran out, say) has ended it. */
  async #anew<T>(error: unknown, build: () => Promise<T>): Promise<T> {
    if (!(error instanceof Error && PROCESS_ENDED.test(error.message))) throw error;
    const { stop } = await import('esbuild');
    await this.close().catch(() => undefined);
    await stop();
    return build();
  }

  async #contextFor(source: AppSource, outfile: string): Promise<BuildContext> {
    const entry = [outfile, entryOf(source)].join('\n');
    if (this.#kept?.entry === entry) return this.#kept.context;
    await this.close();
    const { context } = await import('esbuild');
    this.#kept = { entry, context: await context(optionsFor(source, outfile)) };
    return this.#kept.context;
  }

  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    await kept?.context.dispose();
  }
}

function optionsFor(source: AppSource, outfile: string): BuildOptions {
  return {
    stdin: { contents: entryOf(source), resolveDir: source.appDir, sourcefile: 'graphstead-entry.ts', loader: 'ts' },
    outfile,
    ...BUNDLING,
    metafile: true,
    sourcemap: 'linked',
    keepNames: true,
    plugins: [providedByHost, packagesOutside],
  };
}

/** In front of each file stands what says that it comes next: of code that does not come to its end nothing else would tell. */
function entryOf({ appDir, functions, agents }: AppSource): string {
  const next = (file: string) => `import ${JSON.stringify(`${NEXT}${shownPath(appDir, file)}`)};`;
  const imports = agents.map((file) => `${next(file)} import ${JSON.stringify(file)};`);
  const modules = functions.map((file, i) => `${next(file)} import * as m${i} from ${JSON.stringify(file)};`);
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
    build.onResolve({ filter: /^graphstead-next:/ }, ({ path }) => ({
      path: path.slice(NEXT.length),
      namespace: 'graphstead-next',
    }));
    build.onLoad({ filter: /.*/, namespace: 'graphstead-next' }, ({ path }) => ({
      contents: `globalThis[Symbol.for('graphstead.next')]?.(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};

/** What esbuild found, with its places; anything else as it is. */
export function bundleErrors(appDir: string, error: unknown): unknown {
  const { errors } = error as { errors?: readonly Message[] };
  return errors === undefined ? error : new GraphsteadErrors(errors.map((message) => toError(appDir, message)));
}

function toError(appDir: string, { text, location }: Message): GraphsteadError {
  const position = location
    ? { line: location.line, column: location.column + 1, source: shownPath(appDir, location.file) }
    : undefined;
  return new GraphsteadError('APP_LOAD', text, { position, fix: CORRECT_CODE });
}
