import type { Triple } from '../syntax/index.js';
import { type NQuadOptions, NQuadReader } from './reader.js';

/** One line of an N-Quads file to its triple; undefined for an empty line or a comment. */
type NQuadLineParser = (line: string, lineNumber?: number) => Triple | undefined;

/**
 * A parser for files, line by line; it keeps what predicates repeat between lines.
 * It throws SYNTAX, INVALID_VALUE or INVALID_MUTATION with a position.
 */
export function nquadLineParser(options: NQuadOptions = {}): NQuadLineParser {
  const reader = new NQuadReader({ ...options, lines: true });
  return (text, lineNumber = 1) => {
    reader.open(text, { start: 0, end: text.length, line: lineNumber, lineStart: 0 });
    return reader.next();
  };
}
