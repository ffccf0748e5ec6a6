import { dirname, join } from 'node:path';
import ts from 'typescript';

interface PageModule {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** its name among the modules of its page, where it has one */
  readonly file?: string;
}

/** Type mistakes of modules that exist on pages only, as `page:line: reason`. Modules of one page may import each other. */
export function typeMistakes(root: string, modules: readonly PageModule[]): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config as { compilerOptions: object };
  const { options } = ts.convertCompilerOptionsFromJson({ ...config.compilerOptions, incremental: false }, root);
  const files = new Map(
    modules.map((module, index) => {
      const name = module.file ?? `block-${index}.ts`;
      return [join(root, 'docs/.checked', module.page.replaceAll('/', '-'), name), module];
    }),
  );
  const host = ts.createCompilerHost({ ...options, tsBuildInfoFile: undefined });
  const { fileExists, readFile, getSourceFile } = host;
  const folders = new Set([...files.keys()].map((file) => dirname(file)));
  host.directoryExists = (path) => folders.has(path) || ts.sys.directoryExists(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path)?.text ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = files.get(path)?.text;
    return text === undefined ? getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language);
  };
  // what the service itself takes from packages shows in no type of an app: leaving it out saves seconds
  const source = join(root, 'src');
  host.resolveModuleNameLiterals = (literals, from, _redirected, settings, importer) =>
    literals.map(({ text }) => {
      if (from.startsWith(source) && !text.startsWith('.')) return { resolvedModule: undefined };
      return ts.resolveModuleName(text, from, settings, host, undefined, undefined, importer.impliedNodeFormat);
    });
  const program = ts.createProgram([...files.keys()], { ...options, tsBuildInfoFile: undefined }, host);
  return [...files].flatMap(([path, { page, line }]) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ start = 0, messageText }) => {
      const at = source?.getLineAndCharacterOfPosition(start).line ?? 0;
      return `${page}:${line + at}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}
