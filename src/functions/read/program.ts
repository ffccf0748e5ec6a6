import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { GraphsteadError, GraphsteadErrors, packageRoot } from '../../base/index.js';
import { type AppSource, CORRECT_CODE, isOwnFile, shownPath } from '../app-source.js';

/** An app's sources with their types resolved. */
export interface Program {
  readonly checker: ts.TypeChecker;
  readonly entries: readonly ts.SourceFile[];
  /** the app's own files among those that were read */
  readonly sources: readonly ts.SourceFile[];
  /** every file that the types depend on, without installed packages and TypeScript's own */
  readonly files: readonly Text[];
}

/** A file as it was read. */
interface Text {
  readonly fileName: string;
  readonly text: string;
}

const ROOT = fileURLToPath(packageRoot);

/**
 * Throws GraphsteadErrors (SYNTAX) for files that do not parse.
 * @param withPlatform loads the types of Node.js and of what this package itself imports: they are most of the work, and
 * few signatures need them
 */
export function openProgram(source: AppSource, withPlatform: boolean): Program {
  const own = ownOptions(source.appDir);
  const options = optionsFor(source.appDir, own.options, withPlatform);
  const program = ts.createProgram([...source.functions, ...source.agents], options, hostFor(options, withPlatform));
  forgetOthers(program);
  const entries = source.functions.map((file) => program.getSourceFile(file)).filter((file) => file !== undefined);
  const wrong = program.getSyntacticDiagnostics().map((one) => syntaxError(source.appDir, one));
  if (wrong.length > 0) throw new GraphsteadErrors(wrong);
  const files = program.getSourceFiles().filter((file) => {
    return !program.isSourceFileDefaultLibrary(file) && !program.isSourceFileFromExternalLibrary(file);
  });
  const sources = files.filter(({ fileName, isDeclarationFile }) => !isDeclarationFile && !isOwnFile(fileName));
  return { checker: program.getTypeChecker(), entries, sources, files: [...files, ...own.extended] };
}

/** Parsed and bound files by path, for the next reading of the same app. */
const parsed = new Map<string, ts.SourceFile>();

/** Declarations that are published do not change while this runs; any other file is what it was while its text is. */
function hostFor(options: ts.CompilerOptions, withPlatform: boolean): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => {
    const known = parsed.get(name);
    if (known && (/\/typescript\/lib\/|\/@types\//.test(name) || known.text === host.readFile(name))) return known;
    const file = parse(name, ...rest);
    if (file) parsed.set(name, file);
    return file;
  };
  if (!withPlatform) leaveOutPlatform(host, options);
  return host;
}

function forgetOthers(program: ts.Program): void {
  const used = new Set(program.getSourceFiles());
  for (const [name, file] of parsed) if (!used.has(file)) parsed.delete(name);
}

/** What this package's own files import from others reads as `any`. */
function leaveOutPlatform(host: ts.CompilerHost, options: ts.CompilerOptions): void {
  const own = dirname(appTypes());
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      if (from.startsWith(own) && !text.startsWith('.')) return { resolvedModule: undefined };
      return ts.resolveModuleName(text, from, options, host);
    });
}

function optionsFor(appDir: string, own: ts.CompilerOptions, withPlatform: boolean): ts.CompilerOptions {
  const typeRoots = [join(appDir, 'node_modules/@types'), join(ROOT, 'node_modules/@types')].filter((dir) => {
    return existsSync(join(dir, 'node'));
  });
  return {
    ...own,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    typeRoots,
    types: withPlatform && typeRoots.length > 0 ? ['node'] : [],
    paths: { ...own.paths, 'graphstead/app': [appTypes()] },
  };
}

interface OwnOptions {
  readonly options: ts.CompilerOptions;
  /** what the app's tsconfig.json extends */
  readonly extended: readonly Text[];
}

/** The app's own path names, where it has a tsconfig.json. */
function ownOptions(appDir: string): OwnOptions {
  const path = join(appDir, 'tsconfig.json');
  if (!existsSync(path)) return { options: {}, extended: [] };
  const file = ts.readJsonConfigFile(path, ts.sys.readFile);
  const { options } = ts.parseJsonSourceFileConfigFileContent(file, ts.sys, appDir, undefined, path);
  const { baseUrl, paths } = options;
  // The folder of the file that names them, where `extends` leads to another; never the one the service was started in.
  const from = baseUrl ?? (options.pathsBasePath as string | undefined) ?? appDir;
  const whole = Object.entries(paths ?? {}).map(([name, to]) => [name, to.map((path) => resolve(from, path))] as const);
  return {
    options: { ...(baseUrl === undefined ? {} : { baseUrl }), paths: Object.fromEntries(whole) },
    extended: (file.extendedSourceFiles ?? []).map((name) => ({ fileName: name, text: ts.sys.readFile(name) ?? '' })),
  };
}

/** Types of "graphstead/app": the source in a clone, the declarations in an installed package. */
function appTypes(): string {
  const source = join(ROOT, 'src', 'app.ts');
  return existsSync(source) ? source : join(ROOT, 'dist', 'app.d.ts');
}

function syntaxError(appDir: string, one: ts.DiagnosticWithLocation): GraphsteadError {
  const { line, character } = one.file.getLineAndCharacterOfPosition(one.start);
  return new GraphsteadError('SYNTAX', ts.flattenDiagnosticMessageText(one.messageText, ' '), {
    position: { line: line + 1, column: character + 1, source: shownPath(appDir, one.file.fileName) },
    fix: CORRECT_CODE,
  });
}
