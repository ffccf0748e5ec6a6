import { GraphsteadError, type Position, positionAt } from '../base/index.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A parsed text and where each value stands: keys are paths joined with "/" ("connections/api/baseUrl"). */
export interface Located {
  readonly value: Json;
  position(path: readonly (string | number)[]): Position;
}

/**
 * JSON with comments and trailing commas, with positions kept. Throws SYNTAX with line, column and the fix.
 * @param source the file's name in errors
 */
export function parseJsonc(text: string, source: string): Located {
  const parser = new Parser(text, source);
  const value = parser.document();
  return {
    value,
    position: (path) => positionAt(text, parser.offsetOf(path), source),
  };
}

const MAX_DEPTH = 100;

class Parser {
  #at = 0;
  readonly #offsets = new Map<string, number>();

  constructor(
    readonly text: string,
    readonly source: string,
  ) {}

  /** The value's offset, or that of the nearest parent that exists. */
  offsetOf(path: readonly (string | number)[]): number {
    for (let length = path.length; length > 0; length--) {
      const offset = this.#offsets.get(path.slice(0, length).join('/'));
      if (offset !== undefined) return offset;
    }
    return 0;
  }

  document(): Json {
    this.#space();
    const value = this.#value([], 0);
    this.#space();
    if (this.#at < this.text.length)
      throw this.#error('nothing more may follow the closing bracket', 'remove this text');
    return value;
  }

  #error(message: string, fix: string): GraphsteadError {
    return new GraphsteadError('SYNTAX', message, { position: positionAt(this.text, this.#at, this.source), fix });
  }

  #space(): void {
    for (;;) {
      while (' \t\r\n\uFEFF'.includes(this.text[this.#at] ?? '?')) this.#at++;
      const two = this.text.slice(this.#at, this.#at + 2);
      if (two === '//') this.#at = this.#find('\n', this.#at);
      else if (two === '/*') this.#at = this.#find('*/', this.#at + 2) + 2;
      else return;
    }
  }

  #find(what: string, from: number): number {
    const found = this.text.indexOf(what, from);
    return found === -1 ? this.text.length : found;
  }

  #value(path: readonly (string | number)[], depth: number): Json {
    if (depth > MAX_DEPTH) throw this.#error(`more than ${MAX_DEPTH} levels of nesting`, 'nest less deeply');
    if (path.length > 0) this.#offsets.set(path.join('/'), this.#at);
    const c = this.text[this.#at];
    if (c === '{') return this.#object(path, depth);
    if (c === '[') return this.#array(path, depth);
    if (c === '"') return this.#string();
    const literal = /[^\s,\]}:]*/y;
    literal.lastIndex = this.#at;
    const word = literal.exec(this.text)?.[0] ?? '';
    const known: Readonly<Record<string, Json>> = { true: true, false: false, null: null };
    const value = Object.hasOwn(known, word)
      ? known[word]
      : /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(word)
        ? Number(word)
        : undefined;
    if (value === undefined)
      throw this.#error(`expected a value, found "${word || (c ?? 'the end')}"`, 'texts need double quotes');
    this.#at += word.length;
    return value;
  }

  #object(path: readonly (string | number)[], depth: number): Json {
    const object: Record<string, Json> = Object.create(null) as Record<string, Json>;
    this.#at++;
    for (;;) {
      this.#space();
      if (this.text[this.#at] === '}') break;
      if (this.text[this.#at] !== '"') throw this.#error('expected a key in double quotes or }', 'write "key": value');
      const key = this.#string();
      if (key in object) throw this.#error(`the key "${key}" stands here twice`, 'remove one of them');
      this.#space();
      if (this.text[this.#at] !== ':') throw this.#error(`expected : after "${key}"`, 'write "key": value');
      this.#at++;
      this.#space();
      object[key] = this.#value([...path, key], depth + 1);
      this.#space();
      if (this.text[this.#at] === ',') this.#at++;
      else if (this.text[this.#at] !== '}') throw this.#error('expected , or }', 'separate entries by commas');
    }
    this.#at++;
    return object;
  }

  #array(path: readonly (string | number)[], depth: number): Json {
    const list: Json[] = [];
    this.#at++;
    for (;;) {
      this.#space();
      if (this.text[this.#at] === ']') break;
      list.push(this.#value([...path, list.length], depth + 1));
      this.#space();
      if (this.text[this.#at] === ',') this.#at++;
      else if (this.text[this.#at] !== ']') throw this.#error('expected , or ]', 'separate members by commas');
    }
    this.#at++;
    return list;
  }

  #string(): string {
    let end = this.#at + 1;
    while (end < this.text.length && this.text[end] !== '"' && this.text[end] !== '\n')
      end += this.text[end] === '\\' ? 2 : 1;
    if (this.text[end] !== '"') throw this.#error('this text has no closing quote', 'close it with "');
    try {
      const value = JSON.parse(this.text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      throw this.#error('this text has a wrong escape', 'write a backslash as \\\\');
    }
  }
}
