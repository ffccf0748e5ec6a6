import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { packageRoot } from '../../base/index.js';
import type { AppSource } from '../app-source.js';

/** How an app is checked. */
interface CheckOptions {
  readonly options: ts.CompilerOptions;
  /** declaration files that tsconfig.json includes */
  readonly declarations: readonly string[];
  /** tsconfig.json and what it extends */
  readonly configFiles: readonly string[];
  /** mistakes of tsconfig.json itself */
  readonly mistakes: readonly ts.Diagnostic[];
}

const ROOT = fileURLToPath(packageRoot);

/** Nothing is written, whatever the app's own tsconfig.json says of that. */
const CHECK_ONLY: ts.CompilerOptions = {
  noEmit: true,
  incremental: false,
  composite: false,
  declaration: false,
  declarationMap: false,
  emitDeclarationOnly: false,
  tsBuildInfoFile: undefined,
  rootDir: undefined,
};

/** For an app without tsconfig.json: strict, and as the bundler resolves modules. */
const DEFAULTS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
};

export function checkOptions(source: AppSource): CheckOptions {
  const path = join(source.appDir, 'tsconfig.json');
  if (!existsSync(path)) {
    // as if one stood there: types are looked for from it, wherever the command was called
    const options = withOwnTypes(source, withNodeTypes(source, { ...DEFAULTS, ...CHECK_ONLY, configFilePath: path }));
    return { options, declarations: [], configFiles: [], mistakes: [] };
  }
  const mistakes: ts.Diagnostic[] = [];
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (one: ts.Diagnostic) => void mistakes.push(one) };
  const parsed = ts.getParsedCommandLineOfConfigFile(path, CHECK_ONLY, host);
  const extended = (parsed?.options.configFile as ts.TsConfigSourceFile | undefined)?.extendedSourceFiles ?? [];
  return {
    options: withOwnTypes(source, withNodeTypes(source, parsed?.options ?? { ...DEFAULTS, ...CHECK_ONLY })),
    declarations: (parsed?.fileNames ?? []).filter((name) => name.endsWith('.d.ts')),
    configFiles: [path, ...extended],
    mistakes: [...mistakes, ...(parsed?.errors.filter(({ code }) => code !== NO_INPUTS) ?? [])],
  };
}

/** The entry files come from the app's layout: what tsconfig.json includes need not name them. */
const NO_INPUTS = 18003;

/** An app outside of any installation, as in a clone of this package, takes the types of Node.js from here. */
function withNodeTypes({ appDir }: AppSource, options: ts.CompilerOptions): ts.CompilerOptions {
  const from = join(appDir, 'index.ts');
  const found = ts.resolveTypeReferenceDirective('node', from, options, ts.sys).resolvedTypeReferenceDirective;
  const own = join(ROOT, 'node_modules', '@types');
  if (found !== undefined || options.typeRoots !== undefined || !existsSync(join(own, 'node'))) return options;
  return { ...options, typeRoots: [join(appDir, 'node_modules', '@types'), own] };
}

const TYPED: ReadonlySet<string> = new Set([ts.Extension.Ts, ts.Extension.Dts, ts.Extension.Dmts]);

/** "graphstead/app" as the app finds it; where it is not installed, this package's own. */
function withOwnTypes(source: AppSource, options: ts.CompilerOptions): ts.CompilerOptions {
  const [entry = join(source.appDir, 'index.ts')] = [...source.functions, ...source.agents];
  const paths = { ...options.paths };
  for (const name of ['app', 'testing']) {
    const module = `graphstead/${name}`;
    const found = ts.resolveModuleName(module, entry, options, ts.sys).resolvedModule;
    // A clone of this package finds itself compiled, without types.
    if (found !== undefined && TYPED.has(found.extension)) continue;
    const path = join(ROOT, 'src', `${name}.ts`);
    paths[module] = [existsSync(path) ? path : join(ROOT, 'dist', `${name}.d.ts`)];
  }
  return { ...options, paths };
}
