import { GraphsteadError, positionAt } from '../../base/index.js';

/** One token of a schema text. */
export interface Token {
  readonly kind: 'name' | 'string' | 'punctuation' | 'end';
  readonly text: string;
  readonly offset: number;
  /** written as <name> */
  readonly bracketed: boolean;
  /** a line break stands between the token before and this one */
  readonly newLine: boolean;
}

const SPACE = /[\s\u00a0\ufeff]+|#[^\n]*/y;
const NAME = /[\p{L}\p{M}\p{N}_~][\p{L}\p{M}\p{N}_.\-/]*/uy;
const BRACKETED = /<([^<>"{}|^`\\\s]+)>/uy;
const STRING = /"((?:[^"\\\n]|\\.)*)"/uy;
const PUNCTUATION = /[:@()[\]{},.!]/y;

/** The tokens of a schema text, the end mark last. Throws SYNTAX with a position. */
export function* tokenize(text: string): Generator<Token, Token> {
  let newLine = true;
  for (let at = 0; at < text.length; ) {
    const space = match(SPACE, text, at);
    if (space) {
      newLine ||= space[0].includes('\n');
      at += space[0].length;
      continue;
    }
    const token = tokenAt(text, at, newLine);
    yield token.token;
    newLine = false;
    at += token.length;
  }
  return { kind: 'end', text: '', offset: text.length, bracketed: false, newLine: true };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function tokenAt(text: string, at: number, newLine: boolean): { token: Token; length: number } {
  const make = (kind: Token['kind'], value: string, length: number, bracketed = false) => ({
    token: { kind, text: value, offset: at, bracketed, newLine },
    length,
  });
  const bracketed = match(BRACKETED, text, at);
  if (bracketed) return make('name', bracketed[1], bracketed[0].length, true);
  const name = match(NAME, text, at);
  if (name) {
    // a dot that ends a word ends the declaration
    const word = name[0].replace(/\.+$/, '');
    return make('name', word, word.length);
  }
  const quoted = match(STRING, text, at);
  if (quoted) return make('string', quoted[1].replace(/\\(.)/gu, '$1'), quoted[0].length);
  const mark = match(PUNCTUATION, text, at);
  if (mark) return make('punctuation', mark[0], 1);
  throw new GraphsteadError('SYNTAX', `Unexpected character ${JSON.stringify(text[at])} in the schema`, {
    position: positionAt(text, at),
    fix: 'Write <predicate>: <type> [directives] . or type <name> { fields }.',
  });
}
