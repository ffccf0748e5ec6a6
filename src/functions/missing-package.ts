import { readFileSync } from 'node:fs';
import { GraphsteadError, type Position } from '../base/index.js';
import { shownPath } from './app-source.js';

const MISSING = /^Cannot find package '([^']+)'/;

/**
 * A package that is not installed is told by the line that imports it: Node.js names the bundle, which nobody wrote.
 * Other failures stay as they are.
 * @param files what went into the bundle
 */
export function atImport(error: GraphsteadError, appDir: string, files: readonly string[]): GraphsteadError {
  const missing = MISSING.exec(error.message)?.[1];
  const position = missing === undefined ? undefined : importOf(missing, appDir, files);
  if (position === undefined) return error;
  const { code, fix } = error;
  return new GraphsteadError(code, `the package "${missing}" is not installed`, { fix, position, cause: error });
}

function importOf(name: string, appDir: string, files: readonly string[]): Position | undefined {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const imported = new RegExp(`(?:\\bfrom|\\bimport|\\brequire)\\s*\\(?\\s*(?=(['"])${escaped}(?:/[^'"]*)?\\1)`);
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const found = imported.exec(text);
    if (found === null) continue;
    const before = text.slice(0, found.index + found[0].length).split('\n');
    return { source: shownPath(appDir, file), line: before.length, column: (before.at(-1) ?? '').length + 1 };
  }
  return undefined;
}
