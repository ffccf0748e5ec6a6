import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type AppSource, shownPath } from '../app-source.js';
import { checkOptions } from './check-options.js';

/** One thing that TypeScript does not accept, as plain data. */
interface TypeMistake {
  /** begins with TypeScript's own number: `TS2322: ...` */
  readonly message: string;
  /** 1-based; absent for what stands in no file */
  readonly position?: { readonly line: number; readonly column: number; readonly source: string };
}

/** What a check found, and what it depends on. */
export interface SourceCheck {
  readonly mistakes: readonly TypeMistake[];
  /** why nothing was checked */
  readonly unchecked?: string;
  /** the app's files and configuration, without installed packages */
  readonly files: readonly string[];
}

/** mistakes told of one app */
const MOST = 500;

/**
 * Checks an app as `tsc --noEmit` does, under the app's own tsconfig.json: its entry files, what they import, and the
 * declarations that tsconfig.json includes. Files of installed packages are read and not judged.
 */
export function checkSource(source: AppSource): SourceCheck {
  const { options, declarations, configFiles, mistakes: wrongConfig } = checkOptions(source);
  if (!knowsConsole(source.appDir, options)) {
    return {
      mistakes: [],
      files: configFiles,
      unchecked: 'the types of Node.js are missing: npm install -D @types/node',
    };
  }
  const program = ts.createProgram([...source.functions, ...source.agents, ...declarations], options, hostFor(options));
  const own = program.getSourceFiles().filter((file) => {
    return !program.isSourceFileDefaultLibrary(file) && !program.isSourceFileFromExternalLibrary(file);
  });
  const judged = own.filter((file) => isInApp(source.appDir, file.fileName));
  const found = [
    ...wrongConfig,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...judged.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ].filter((one) => one.category === ts.DiagnosticCategory.Error);
  return {
    mistakes: ts
      .sortAndDeduplicateDiagnostics(found)
      .slice(0, MOST)
      .map((one) => toMistake(source.appDir, one)),
    files: [...configFiles, ...own.map((file) => file.fileName)],
  };
}

/** As `tsc` reads: comments of a TypeScript file name no type, and they are half of what the types of Node.js hold. */
function hostFor(options: ts.CompilerOptions): ts.CompilerHost {
  return { ...ts.createCompilerHost(options), jsDocParsingMode: ts.JSDocParsingMode.ParseForTypeErrors };
}

/** Without the types of Node.js or of browsers the first console.log would be a mistake. */
function knowsConsole(appDir: string, options: ts.CompilerOptions): boolean {
  if (options.lib?.some((lib) => /dom/i.test(lib))) return true;
  const from = join(appDir, 'index.ts');
  return ts.resolveTypeReferenceDirective('node', from, options, ts.sys).resolvedTypeReferenceDirective !== undefined;
}

function isInApp(appDir: string, file: string): boolean {
  return !shownPath(appDir, file).startsWith('/') && !file.includes('/node_modules/') && existsSync(file);
}

function toMistake(appDir: string, { code, file, start, messageText }: ts.Diagnostic): TypeMistake {
  const message = `TS${code}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  if (file === undefined) return { message };
  const { line, character } = ts.getLineAndCharacterOfPosition(file, start ?? 0);
  return { message, position: { line: line + 1, column: character + 1, source: shownPath(appDir, file.fileName) } };
}
