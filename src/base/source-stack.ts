import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from './package-root.js';

const ROOT = fileURLToPath(packageRoot);
/** a place in a file of dist/, as stacks write it */
const PLACE = /(?:file:\/\/)?([^\s()]*\/dist\/[^\s():]+\.js):(\d+):(\d+)/g;

/**
 * A stack with places in this package's src/ where it names the bundled files. Maps are read here and nowhere else: to
 * let Node.js read them at every start would cost more than all files they belong to.
 */
export function sourceStack(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replace(PLACE, (text, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, mapOf(file));
    const found = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !('originalSource' in found)) return text;
    const source = resolve(dirname(file), found.originalSource);
    return `${relative(ROOT, source)}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  if (!file.startsWith(ROOT)) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  } catch {
    return undefined; // a package without maps: the places in dist/ stay
  }
}
