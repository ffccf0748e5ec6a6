import type { Steps } from '../../base/index.js';
import type { TextSpan } from '../rdf/index.js';
import type { Lexer } from './lexer.js';

/**
 * The RDF between the braces of set or delete, the opening brace being the current token; the lexer goes on after
 * the closing one. What stands inside is not looked at, except for texts, names and comments, which may hold a brace.
 */
export function* takeRawBlock(lexer: Lexer): Steps<TextSpan> {
  const start = lexer.offset;
  const { line, lineStart } = lexer.place;
  const end = yield* closingBrace(lexer, start);
  yield* lexer.jump(end + 1);
  return { start, end, line, lineStart };
}

/** Characters that are looked at in one step. */
const STEP_CHARACTERS = 100_000;

function* closingBrace(lexer: Lexer, start: number): Steps<number> {
  const { text } = lexer;
  let stop = start + STEP_CHARACTERS;
  for (let at = start; at < text.length; at++) {
    if (at > stop) {
      stop = at + STEP_CHARACTERS;
      yield;
    }
    const c = text.charCodeAt(at);
    if (c === 0x7d) return at;
    if (c === 0x22) at = skipText(text, at);
    else if (c === 0x3c) at = skipName(text, at);
    else if (c === 0x23) at = lineEnd(text, at) - 1;
  }
  throw lexer.error('this block is not closed', 'Add the missing "}", or the missing quote before it.');
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** Offset of the quote that closes the one at `open`, or of the end of the text. */
function skipText(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x5c) at++;
    else if (c === 0x22) return at;
  }
  return text.length;
}

/** Offset of the `>` that closes the `<` at `open`; `open` itself when its line has none. */
function skipName(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x3e) return at;
    // none of these stands in a name; stopping at the next < keeps the whole scan linear
    if (c === 0x0a || c === 0x3c || c === 0x7d || c === 0x22) return open;
  }
  return open;
}
