import type { Position } from '../base/index.js';

const LINE_END = /\r\n|[\n\r]/;
/** an escape of a string that stands on one line */
const ESCAPED = /^\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|.)/;

/**
 * Where a place inside the value of a string stands in the text that holds the string, which begins at `start` with its
 * quotes: past escapes, and past the lines and the indent that a block string does not count.
 */
export function placeInString(text: string, start: Position, inner: Position): Position {
  const lines = text.split(LINE_END);
  const first = lines[start.line - 1].slice(start.column - 1);
  return first.startsWith('"""')
    ? inBlock([first.slice(3), ...lines.slice(start.line)], start, inner)
    : inLine(first.slice(1), start, inner);
}

/** @param lines of the text, from what follows the opening quotes on */
function inBlock(lines: readonly string[], start: Position, inner: Position): Position {
  const close = lines.findIndex((line) => /(?<!\\)"""/.test(line));
  const own = lines.slice(0, close + 1).map((line, at) => (at === close ? line.replace(/(?<!\\)""".*$/, '') : line));
  const filled = own.findIndex((line) => /[^\t ]/.test(line));
  const at = Math.max(filled, 0) + inner.line - 1;
  if (at === 0) return { ...start, column: start.column + 3 + inner.column - 1 };
  const indents = own.slice(1).flatMap((line) => (/[^\t ]/.test(line) ? [line.search(/[^\t ]/)] : []));
  return { ...start, line: start.line + at, column: Math.min(...indents, own[at]?.length ?? 0) + inner.column };
}

/** @param raw of the text, from behind the opening quote on */
function inLine(raw: string, start: Position, inner: Position): Position {
  let at = 0;
  for (let line = 1, column = 1; at < raw.length && (line < inner.line || column < inner.column); ) {
    const escaped = ESCAPED.exec(raw.slice(at, at + 12))?.[0];
    at += escaped?.length ?? 1;
    if (escaped !== '\\n') column++;
    else {
      line++;
      column = 1;
    }
  }
  return { ...start, column: start.column + 1 + at };
}
