import { atOnce, GraphsteadError, type Position, type Steps } from '../../base/index.js';
import { resolveEscapes } from './escape.js';

/** Kinds of tokens. Punctuation is its own text. */
export type TokenKind =
  | 'name'
  | 'iri'
  | 'string'
  | 'number'
  | 'variable'
  | 'end'
  | '...'
  | '<='
  | '>='
  | '=='
  | '!='
  | '&&'
  | '||'
  | '('
  | ')'
  | '{'
  | '}'
  | '['
  | ']'
  | ':'
  | ','
  | '@'
  | '='
  | '!'
  | '*'
  | '.'
  | '+'
  | '-'
  | '/'
  | '%'
  | '<'
  | '>'
  | ';';

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const CLASS = new Uint8Array(128);
for (let c = 0x41; c <= 0x5a; c++) CLASS[c] = CLASS[c + 32] = LETTER;
for (let c = 0x30; c <= 0x39; c++) CLASS[c] = DIGIT;
CLASS[0x5f] = LETTER;
for (const c of [0x20, 0x09, 0x0a, 0x0d]) CLASS[c] = SPACE;

const SINGLE = new Map<number, TokenKind>(
  [...'(){}[]:,@=!*.+-/%<>;'].map((text) => [text.charCodeAt(0), text as TokenKind]),
);
const PAIRS = new Map<number, TokenKind>(
  (['<=', '>=', '==', '!=', '&&', '||'] as const).map((text) => [
    text.charCodeAt(0) * 0x10000 + text.charCodeAt(1),
    text,
  ]),
);
/** what may not stand between < and > of a name, besides control characters */
const IRI_FORBIDDEN = new Set([...'<>"{}|^`\\'].map((text) => text.charCodeAt(0)));

/** line breaks that are counted in one step */
const LINES = 4_096;

const classOf = (c: number): number => (c < 128 ? CLASS[c] : OTHER);

/**
 * Tokens of the graph language, one at a time: `kind` and `value` tell the current one, `next()` goes on. Every
 * character is looked at once, so the time is linear in the text.
 */
export class Lexer {
  readonly text: string;
  readonly #end: number;
  readonly #maxTokens: number;
  readonly #source: string | undefined;
  #at: number;
  #line = 1;
  #lineStart = 0;
  #tokens = 0;

  kind: TokenKind = 'end';
  /** text of the token: names without < >, strings without quotes and with escapes resolved, variables with their $ */
  value = '';
  /** offset of the token's first character */
  start = 0;
  #tokenLine = 1;
  #tokenLineStart = 0;
  /** true inside math(...): `a-b` is a subtraction and `<` never opens a name */
  math = false;

  constructor(text: string, options: { start?: number; end?: number; maxTokens: number; source?: string }) {
    this.text = text;
    this.#at = 0;
    this.#end = options.end ?? text.length;
    this.#maxTokens = options.maxTokens;
    this.#source = options.source;
    if (options.start) atOnce(this.#skipTo(options.start));
    this.next();
  }

  /** Offset after the current token. */
  get offset(): number {
    return this.#at;
  }

  /** Line that the reading has reached, and the offset at which it begins. */
  get place(): { line: number; lineStart: number } {
    return { line: this.#line, lineStart: this.#lineStart };
  }

  /** Where the current token stands. */
  get position(): Position {
    return this.#positionOf(this.#tokenLine, this.start - this.#tokenLineStart + 1);
  }

  #positionOf(line: number, column: number): Position {
    return this.#source === undefined ? { line, column } : { line, column, source: this.#source };
  }

  /** Goes to an offset at or after the current token, counting lines on the way, and reads the token there. */
  *jump(offset: number): Steps<void> {
    yield* this.#skipTo(offset);
    this.next();
  }

  *#skipTo(offset: number): Steps<void> {
    let lines = 0;
    for (let i = this.text.indexOf('\n', this.#at); i !== -1 && i < offset; i = this.text.indexOf('\n', i + 1)) {
      this.#line++;
      this.#lineStart = i + 1;
      if (++lines % LINES === 0) yield;
    }
    this.#at = offset;
  }

  /** The current token as a message shows it. */
  shown(): string {
    if (this.kind === 'end') return 'the end of the text';
    const text = this.text.slice(this.start, Math.min(this.#at, this.start + 40));
    return `"${text}${this.#at > this.start + 40 ? '...' : ''}"`;
  }

  error(message: string, fix: string): GraphsteadError {
    return new GraphsteadError('SYNTAX', message, { position: this.position, fix });
  }

  /** Kind of the token after the current one. */
  peek(): TokenKind {
    this.#peek();
    return this.#peekedKind;
  }

  /** Text of the token after the current one. */
  peekValue(): string {
    this.#peek();
    return this.#peekedValue;
  }

  #peekedKind: TokenKind = 'end';
  #peekedValue = '';

  #peek(): void {
    const { kind, value, start } = this;
    const at = this.#at;
    const line = this.#line;
    const lineStart = this.#lineStart;
    const tokenLine = this.#tokenLine;
    const tokenLineStart = this.#tokenLineStart;
    const tokens = this.#tokens;
    try {
      this.next();
      this.#peekedKind = this.kind;
      this.#peekedValue = this.value;
    } finally {
      this.kind = kind;
      this.value = value;
      this.start = start;
      this.#at = at;
      this.#line = line;
      this.#lineStart = lineStart;
      this.#tokenLine = tokenLine;
      this.#tokenLineStart = tokenLineStart;
      this.#tokens = tokens;
    }
  }

  next(): void {
    this.#space();
    this.start = this.#at;
    this.#tokenLine = this.#line;
    this.#tokenLineStart = this.#lineStart;
    if (++this.#tokens > this.#maxTokens) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `the text has more than ${this.#maxTokens} tokens (limit syntaxTokens)`,
        {
          position: this.position,
          fix: 'Split it into several requests, or raise limits.syntaxTokens.',
        },
      );
    }
    if (this.#at >= this.#end) {
      this.kind = 'end';
      this.value = '';
      return;
    }
    const c = this.text.charCodeAt(this.#at);
    const kind = classOf(c);
    if (kind === LETTER) this.#name();
    else if (kind === DIGIT) this.#number();
    else if (c === 0x22) this.#string();
    else this.#symbol(c);
  }

  /** Empty lines and comments count as tokens too: millions of them would be passed in one go. */
  #space(): void {
    const text = this.text;
    let at = this.#at;
    let lines = 0;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (c === 0x0a) {
        this.#line++;
        this.#lineStart = at + 1;
        if (++lines > 1 && ++this.#tokens > this.#maxTokens) break;
      } else if (c === 0x23) {
        // by itself: a search for each of millions of comments takes ten times as long
        while (at + 1 < this.#end && text.charCodeAt(at + 1) !== 0x0a) at++;
      } else if (classOf(c) !== SPACE && c !== 0xfeff) break;
    }
    this.#at = at;
  }

  #name(): void {
    this.#at = this.#nameEnd(this.#at + 1);
    this.kind = 'name';
    this.value = this.text.slice(this.start, this.#at);
  }

  /** Letters, digits, _ and dots; a dash only where a letter follows it. */
  #nameEnd(at: number): number {
    const text = this.text;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (classOf(c) === LETTER || classOf(c) === DIGIT || c === 0x2e) continue;
      if (c === 0x2d && !this.math && at + 1 < this.#end && classOf(text.charCodeAt(at + 1)) === LETTER) continue;
      break;
    }
    return at;
  }

  /** A number as written: also 0x1f, 1e-7. Its digits are checked by whoever uses it. */
  #number(): void {
    const text = this.text;
    const hex = text.charCodeAt(this.start) === 0x30 && (text.charCodeAt(this.start + 1) | 32) === 0x78;
    let at = this.#at + 1;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (classOf(c) === LETTER || classOf(c) === DIGIT || c === 0x2e) continue;
      const exponent = !hex && (c === 0x2d || c === 0x2b) && (text.charCodeAt(at - 1) | 32) === 0x65;
      if (exponent && classOf(text.charCodeAt(at + 1)) === DIGIT) continue;
      break;
    }
    this.#at = at;
    this.kind = 'number';
    this.value = text.slice(this.start, at);
  }

  #string(): void {
    const text = this.text;
    let at = this.#at + 1;
    let escaped = false;
    for (; ; at++) {
      if (at >= this.#end)
        throw this.error('this text has no closing quote', 'Close it with ", or write \\" for a quote inside.');
      const c = text.charCodeAt(at);
      if (c === 0x22) break;
      if (c === 0x5c) {
        escaped = true;
        at++;
        if (text.charCodeAt(at) !== 0x0a) continue;
      }
      if (text.charCodeAt(at) === 0x0a) {
        this.#line++;
        this.#lineStart = at + 1;
      }
    }
    this.#at = at + 1;
    this.kind = 'string';
    const raw = text.slice(this.start + 1, at);
    this.value = escaped ? resolveEscapes(raw, this.position) : raw;
  }

  #symbol(c: number): void {
    const second = this.#at + 1 < this.#end ? this.text.charCodeAt(this.#at + 1) : 0;
    if (c === 0x7e) this.#reverse(second);
    else if (c === 0x24) this.#variable(second);
    else if (c === 0x3c && !this.math && this.#iri(this.#at)) return;
    else this.#operator(c, second);
  }

  #operator(c: number, second: number): void {
    const text = this.text;
    if (c === 0x2e && second === 0x2e && text.charCodeAt(this.#at + 2) === 0x2e) {
      this.#punctuation('...', 3);
      return;
    }
    const pair = PAIRS.get(c * 0x10000 + second);
    const kind = pair ?? SINGLE.get(c);
    if (kind !== undefined) {
      this.#punctuation(kind, kind.length);
      return;
    }
    const shown = String.fromCodePoint(text.codePointAt(this.#at) ?? 0);
    throw this.error(
      `the character ${JSON.stringify(shown)} has no meaning here`,
      c > 127
        ? 'Names with other characters than a-z, 0-9, _ and . stand between < and >.'
        : 'Remove it, or put the text in double quotes.',
    );
  }

  #punctuation(kind: TokenKind, length: number): void {
    this.#at += length;
    this.kind = kind;
    this.value = kind;
  }

  /** `~name` or `~<iri>`; the tilde stays in the value. */
  #reverse(second: number): void {
    if (second === 0x3c && this.#iri(this.#at + 1)) {
      this.value = `~${this.value}`;
      return;
    }
    if (classOf(second) !== LETTER) {
      throw this.error('"~" needs the name of a predicate after it', 'Write the reverse edge as ~predicate.');
    }
    this.#name();
  }

  #variable(second: number): void {
    if (classOf(second) !== LETTER) {
      throw this.error(
        '"$" needs the name of a variable after it',
        'Write it as $name; in a text it stands in quotes.',
      );
    }
    const math = this.math;
    this.math = true;
    this.#at = this.#nameEnd(this.#at + 2);
    this.math = math;
    this.kind = 'variable';
    this.value = this.text.slice(this.start, this.#at);
  }

  /** `<...>` without spaces, quotes or brackets inside; anything else leaves `<` an operator. */
  #iri(open: number): boolean {
    const text = this.text;
    let at = open + 1;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (c === 0x3e) break;
      if (c <= 0x20) return false;
      if (c === 0x5c && isUnicodeEscape(text, at)) continue;
      if (IRI_FORBIDDEN.has(c)) return false;
    }
    if (at >= this.#end || at === open + 1) return false;
    this.#at = at + 1;
    this.kind = 'iri';
    this.value = text.slice(open + 1, at);
    return true;
  }

  /**
   * The rest of a regular expression whose opening slash is the current token: up to the next slash without a
   * backslash, then its flags. Becomes the current token's end; call `next()` afterwards.
   */
  regexp(): { pattern: string; flags: string } {
    const text = this.text;
    let at = this.start + 1;
    for (; ; at++) {
      const c = at < this.#end ? text.charCodeAt(at) : 0x0a;
      if (c === 0x2f) break;
      if (c === 0x5c && at + 1 < this.#end && text.charCodeAt(at + 1) !== 0x0a) at++;
      else if (c === 0x0a)
        throw this.error('this regular expression has no closing "/"', 'Write it as /pattern/flags on one line.');
    }
    let stop = at + 1;
    while (
      stop < this.#end &&
      (classOf(text.charCodeAt(stop)) === LETTER || classOf(text.charCodeAt(stop)) === DIGIT)
    ) {
      stop++;
    }
    const flags = text.slice(at + 1, stop);
    for (let i = 0; i < flags.length; i++) {
      if (classOf(flags.charCodeAt(i)) === DIGIT) {
        throw this.error(
          `"${flags}" after a regular expression are no flags`,
          'Only letters follow the closing "/", as in /pattern/i.',
        );
      }
    }
    this.#at = stop;
    return { pattern: plainSlashes(text.slice(this.start + 1, at)), flags };
  }
}

/** `\/` is how a slash stands in a pattern; it means a slash. */
function plainSlashes(pattern: string): string {
  let out = '';
  let from = 0;
  for (let at = pattern.indexOf('\\'); at !== -1; at = pattern.indexOf('\\', at + 2)) {
    if (pattern.charCodeAt(at + 1) !== 0x2f) continue;
    out += pattern.slice(from, at);
    from = at + 1;
  }
  return out + pattern.slice(from);
}

/** `\uXXXX` or `\UXXXXXXXX` at an offset. */
function isUnicodeEscape(text: string, at: number): boolean {
  const letter = text.charCodeAt(at + 1);
  const digits = letter === 0x75 ? 4 : letter === 0x55 ? 8 : 0;
  if (digits === 0) return false;
  for (let i = at + 2; i < at + 2 + digits; i++) {
    const c = text.charCodeAt(i) | 32;
    if (!((c >= 0x30 && c <= 0x39) || (c >= 0x61 && c <= 0x66))) return false;
  }
  return true;
}
