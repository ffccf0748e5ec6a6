import {
  atOnce,
  DEFAULT_LIMITS,
  GraphsteadError,
  type Limits,
  type Position,
  STEP,
  type Steps,
} from '../../base/index.js';

/** JSON with the place of each value. Numbers keep their text, so that nothing beyond 2^53 is lost. */
export type JsonNode =
  | ObjectNode
  | { readonly kind: 'array'; readonly items: readonly JsonNode[]; readonly position: Position }
  | { readonly kind: 'string'; readonly text: string; readonly position: Position }
  | { readonly kind: 'number'; readonly text: string; readonly position: Position }
  | { readonly kind: 'bool'; readonly value: boolean; readonly position: Position }
  | { readonly kind: 'null'; readonly position: Position };

export interface ObjectNode {
  readonly kind: 'object';
  readonly entries: ReadonlyMap<string, JsonNode>;
  readonly position: Position;
  readonly span: Span;
}

/** Offsets in the text, so that a part of it can be read again. */
interface Span {
  readonly start: number;
  readonly end: number;
}

const WORDS: Readonly<Record<string, true | false | null>> = { true: true, false: false, null: null };

interface ScanOptions {
  readonly limits?: Limits | undefined;
  /** name of the text in positions */
  readonly source?: string | undefined;
  /** the peer lets the last one of a key that stands twice count, and loses the others */
  readonly lastCounts?: boolean | undefined;
}

/**
 * Reads one JSON text.
 * Throws SYNTAX with a position, also for a key that stands twice, LIMIT_EXCEEDED past limits.nestingDepth.
 */
export function scanJson(text: string, options: ScanOptions = {}): JsonNode {
  return atOnce(scanJsonSteps(text, options));
}

/** As scanJson, for texts that may be long. */
export function scanJsonSteps(text: string, options: ScanOptions = {}): Steps<JsonNode> {
  return new JsonScanner(text, options).document();
}

/** Values down to this depth are read in steps: what is long is a list of nodes, or the places of a geometry of theirs. */
const STEP_DEPTH = 8;

class JsonScanner {
  readonly #text: string;
  readonly #limits: Limits;
  readonly #source: string | undefined;
  readonly #lastCounts: boolean;
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #depth = 0;

  constructor(text: string, { limits = DEFAULT_LIMITS, source, lastCounts = false }: ScanOptions) {
    this.#source = source;
    this.#text = text;
    this.#limits = limits;
    this.#lastCounts = lastCounts;
  }

  *document(): Steps<JsonNode> {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    const node = yield* this.#valueSteps();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the text');
    return node;
  }

  #position(at = this.#at): Position {
    const column = at - this.#lineStart + 1;
    const line = this.#line;
    return this.#source === undefined ? { line, column } : { line, column, source: this.#source };
  }

  #error(message: string, fix: string, at = this.#at): GraphsteadError {
    return new GraphsteadError('SYNTAX', message, { position: this.#position(at), fix });
  }

  #unexpected(expected: string): GraphsteadError {
    const found =
      this.#at < this.#text.length ? JSON.stringify(this.#text.slice(this.#at, this.#at + 20)) : 'the end of the text';
    return this.#error(`expected ${expected}, found ${found}`, 'The body must be JSON.');
  }

  #space(): void {
    const text = this.#text;
    let at = this.#at;
    for (; at < text.length; at++) {
      const c = text.charCodeAt(at);
      if (c === 0x0a) {
        this.#line++;
        this.#lineStart = at + 1;
      } else if (c !== 0x20 && c !== 0x09 && c !== 0x0d) break;
    }
    this.#at = at;
  }

  #value(): JsonNode {
    this.#space();
    const c = this.#text.charCodeAt(this.#at);
    if (c === 0x7b) return this.#nested(() => this.#object());
    if (c === 0x5b) return this.#nested(() => this.#array());
    const position = this.#position();
    if (c === 0x22) return { kind: 'string', text: this.#string(), position };
    if (c === 0x2d || (c >= 0x30 && c <= 0x39)) return { kind: 'number', text: this.#number(), position };
    return this.#word(position);
  }

  /** As #value, with a stop after every so many members. */
  *#valueSteps(): Steps<JsonNode> {
    this.#space();
    const c = this.#text.charCodeAt(this.#at);
    if (this.#depth >= STEP_DEPTH || (c !== 0x7b && c !== 0x5b)) return this.#value();
    this.#deeper();
    const position = this.#position();
    const start = this.#at++;
    const close = c === 0x7b ? 0x7d : 0x5d;
    const entries = new Map<string, JsonNode>();
    const items: JsonNode[] = [];
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== close) {
      let members = 0;
      do {
        if (close === 0x7d) {
          const key = this.#key(entries);
          entries.set(key, this.#isNested() ? yield* this.#valueSteps() : this.#value());
        } else items.push(this.#isNested() ? yield* this.#valueSteps() : this.#value());
        if (++members % STEP === 0) yield;
      } while (this.#comma());
    }
    this.#close(close);
    this.#depth--;
    return close === 0x5d
      ? { kind: 'array', items, position }
      : { kind: 'object', entries, position, span: { start, end: this.#at } };
  }

  /** An object or a list comes next. */
  #isNested(): boolean {
    this.#space();
    const c = this.#text.charCodeAt(this.#at);
    return c === 0x7b || c === 0x5b;
  }

  #nested(read: () => JsonNode): JsonNode {
    this.#deeper();
    const node = read();
    this.#depth--;
    return node;
  }

  #deeper(): void {
    if (++this.#depth > this.#limits.nestingDepth) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `nested deeper than ${this.#limits.nestingDepth} (limit nestingDepth)`,
        {
          position: this.#position(),
          fix: 'Flatten it, or raise limits.nestingDepth.',
        },
      );
    }
  }

  #object(): JsonNode {
    const position = this.#position();
    const start = this.#at++;
    const entries = new Map<string, JsonNode>();
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== 0x7d) {
      do entries.set(this.#key(entries), this.#value());
      while (this.#comma());
    }
    this.#close(0x7d);
    return { kind: 'object', entries, position, span: { start, end: this.#at } };
  }

  #close(bracket: 0x7d | 0x5d): void {
    if (this.#text.charCodeAt(this.#at) !== bracket) throw this.#unexpected(`"," or "${String.fromCharCode(bracket)}"`);
    this.#at++;
  }

  /** The key of a further entry, and the colon after it. */
  #key(entries: ReadonlyMap<string, JsonNode>): string {
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== 0x22) throw this.#unexpected('a key in quotes');
    const start = this.#at;
    const key = this.#string();
    if (!this.#lastCounts && entries.has(key)) {
      const fix = 'Keep one of them; several values of a predicate stand in a list.';
      throw this.#error(`the key ${JSON.stringify(key)} stands twice in one object`, fix, start);
    }
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== 0x3a) throw this.#unexpected(`":" after the key ${JSON.stringify(key)}`);
    this.#at++;
    return key;
  }

  #array(): JsonNode {
    const position = this.#position();
    this.#at++;
    const items: JsonNode[] = [];
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== 0x5d) {
      do items.push(this.#value());
      while (this.#comma());
    }
    this.#close(0x5d);
    return { kind: 'array', items, position };
  }

  #comma(): boolean {
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== 0x2c) return false;
    this.#at++;
    return true;
  }

  #string(): string {
    const text = this.#text;
    const open = this.#at;
    let escaped = false;
    let at = open + 1;
    for (; ; at++) {
      const c = at < text.length ? text.charCodeAt(at) : 0;
      if (c === 0x22) break;
      if (c < 0x20) {
        const ended = at >= text.length;
        throw this.#error(
          ended ? 'this text has no closing quote' : 'a control character stands in this text',
          ended ? 'Close it with ".' : 'Write it as an escape, such as \\n.',
          ended ? open : at,
        );
      }
      if (c === 0x5c) {
        escaped = true;
        at++;
      }
    }
    this.#at = at + 1;
    if (!escaped) return text.slice(open + 1, at);
    try {
      return JSON.parse(text.slice(open, at + 1)) as string;
    } catch {
      throw this.#error('this text holds an escape that JSON does not know', 'Write a backslash as \\\\.', open);
    }
  }

  #number(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    for (; at < text.length; at++) {
      const c = text.charCodeAt(at);
      const part = (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x2b || c === 0x2e || (c | 32) === 0x65;
      if (!part) break;
    }
    const number = text.slice(start, at);
    if (!isJsonNumber(number))
      throw this.#error(`${number} is not a JSON number`, 'Write it as 1, -2.5 or 1e3, or as text in quotes.');
    this.#at = at;
    return number;
  }

  #word(position: Position): JsonNode {
    const start = this.#at;
    let at = start;
    while (at < this.#text.length && at < start + 5 && isLetter(this.#text.charCodeAt(at))) at++;
    const word = this.#text.slice(start, at);
    if (!Object.hasOwn(WORDS, word)) throw this.#unexpected('a value');
    this.#at = at;
    const value = WORDS[word];
    return value === null ? { kind: 'null', position } : { kind: 'bool', value, position };
  }
}

/** The grammar of numbers: -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
function isJsonNumber(text: string): boolean {
  let at = text.charCodeAt(0) === 0x2d ? 1 : 0;
  const digits = (): number => {
    const from = at;
    while (text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39) at++;
    return at - from;
  };
  const leadingZero = text.charCodeAt(at) === 0x30;
  const whole = digits();
  if (whole === 0 || (leadingZero && whole > 1)) return false;
  if (text.charCodeAt(at) === 0x2e) {
    at++;
    if (digits() === 0) return false;
  }
  if ((text.charCodeAt(at) | 32) === 0x65) {
    at++;
    if (text.charCodeAt(at) === 0x2b || text.charCodeAt(at) === 0x2d) at++;
    if (digits() === 0) return false;
  }
  return at === text.length;
}

function isLetter(c: number): boolean {
  return c >= 0x61 && c <= 0x7a;
}
