import { GraphsteadError, withSource } from '../../base/index.js';
import type { TakeNamespace } from './one-namespace.js';
import { type SourceFile, wholeText } from './source.js';

/** What exports write before each predicate and type. */
const NAMESPACE = /^[ \t]*\[(0x[0-9a-f]+|\d+)\](?=[ \t]*(?:<|type\b))/i;

/** A type with its fields. */
const TYPE = /^[ \t]*type[ \t]+[^{}\n]+\{[^{}]*\}/gm;

/**
 * Applies all schema files as one text: those of the groups of a cluster each hold all types, whose predicates are spread
 * over them. Mistakes have the file and its line.
 */
export async function applySchemas(
  files: readonly SourceFile[],
  take: TakeNamespace,
  apply: (text: string) => Promise<void>,
): Promise<void> {
  if (files.length === 0) return;
  const types = new Set<string>();
  const texts: string[] = [];
  for (const file of files) {
    const text = withoutNamespaces(await wholeText(file), take, file.path);
    texts.push(withoutTypes(text, types));
  }
  try {
    await apply(texts.join('\n'));
  } catch (error) {
    throw inFile(error, files, texts);
  }
}

/** The text with blanks in place of its one namespace. */
function withoutNamespaces(text: string, take: TakeNamespace, source: string): string {
  const lines = text.split('\n').map((line, at) =>
    line.replace(NAMESPACE, (written: string, namespace: string) => {
      take(Number(namespace), { line: at + 1, column: written.indexOf('[') + 1, source });
      return ' '.repeat(written.length);
    }),
  );
  return lines.join('\n');
}

/** The text without the types that stood so before; lines stay where they are. */
function withoutTypes(text: string, before: Set<string>): string {
  return text.replace(TYPE, (type) => {
    const words = type.replace(/\s+/g, ' ').trim();
    if (before.has(words)) return type.replace(/[^\n]/g, '');
    before.add(words);
    return type;
  });
}

function inFile(error: unknown, files: readonly SourceFile[], texts: readonly string[]): unknown {
  if (!(error instanceof GraphsteadError) || error.position === undefined) return withSource(error, files[0].path);
  let { line } = error.position;
  let at = 0;
  for (; at < files.length - 1; at++) {
    const lines = texts[at].split('\n').length;
    if (line <= lines) break;
    line -= lines;
  }
  const { code, message, fix, details } = error;
  const position = { line, column: error.position.column, source: files[at].path };
  return new GraphsteadError(code, message, { fix, details, position, cause: error });
}
