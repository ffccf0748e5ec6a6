import { GraphsteadError, type Position } from '../base/index.js';

/** A piece of a url: fixed text, or the value of a variable. `offset` counts from the template's start. */
type UrlPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly offset: number };

/** One `name=value` of the query string, or a bare `name`. A parameter whose variable is absent is left out. */
interface UrlParameter {
  readonly name: string;
  readonly value?: UrlPart;
}

/** `http://host/path/$id?name=$name#fragment`, taken apart. */
export interface UrlTemplate {
  readonly text: string;
  /** everything before `?`; variables stand here only in the path */
  readonly path: readonly UrlPart[];
  readonly query: readonly UrlParameter[];
  /** names used in the path, each once: their values must be non-null */
  readonly pathVariables: readonly string[];
  readonly queryVariables: readonly string[];
}

/** A node of a body template. */
export type BodyNode =
  | { readonly kind: 'object'; readonly fields: readonly { readonly key: string; readonly value: BodyNode }[] }
  | { readonly kind: 'list'; readonly items: readonly BodyNode[] }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: string | number | boolean | null };

export interface BodyTemplate {
  readonly text: string;
  readonly root: BodyNode;
  /** names used, each once, in order of appearance */
  readonly variables: readonly string[];
  /** keys, in order of appearance, with their offset */
  readonly keys: readonly { readonly key: string; readonly offset: number }[];
  /** constants, with their offset; the default mode refuses them */
  readonly constants: readonly { readonly text: string; readonly offset: number }[];
}

const NAME_START = /[A-Za-z_]/;
const NAME_PART = /[A-Za-z0-9_]/;

const unique = (names: readonly string[]): string[] => [...new Set(names)];

/** End of the name that begins at `start`; `start` itself where none does. */
function nameEnd(text: string, start: number): number {
  if (!NAME_START.test(text[start] ?? '')) return start;
  let end = start + 1;
  while (end < text.length && NAME_PART.test(text[end])) end++;
  return end;
}

function urlParts(text: string, offset: number): UrlPart[] {
  const parts: UrlPart[] = [];
  let from = 0;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at + 1)) {
    const end = nameEnd(text, at + 1);
    if (end === at + 1) continue;
    if (at > from) parts.push({ kind: 'text', text: text.slice(from, at) });
    parts.push({ kind: 'variable', name: text.slice(at + 1, end), offset: offset + at });
    from = end;
  }
  if (from < text.length) parts.push({ kind: 'text', text: text.slice(from) });
  return parts;
}

const names = (parts: readonly UrlPart[]): string[] =>
  parts.flatMap((part) => (part.kind === 'variable' ? [part.name] : []));

/**
 * Takes a url template apart. A query parameter's value is one `$variable` or fixed text, never a mixture.
 * Throws INVALID_SDL on an address that is no http(s) url, on a variable in its host, on a path that cannot be
 * unescaped, and on a mixed parameter.
 */
export function parseUrlTemplate(text: string, position?: Position): UrlTemplate {
  const fail = (message: string, fix: string): never => {
    throw new GraphsteadError('INVALID_SDL', message, { position, fix });
  };
  const mark = text.indexOf('?');
  const before = mark === -1 ? text : text.slice(0, mark);
  const host = /^https?:\/\/[^/?#]*/i.exec(before)?.[0];
  if (!host || /^https?:\/\/$/i.test(host)) {
    return fail(
      `"${text}" is not an http or https address`,
      'Give an absolute url, like "https://api.example.com/v1/$id".',
    );
  }
  if (host.includes('$')) {
    return fail(`the host of "${text}" holds a variable`, 'Use variables in the path and in query parameters only.');
  }
  if (!URL.canParse(host)) {
    return fail(`"${host}" is not an address: its host or its port cannot be read`, 'Correct the host and the port.');
  }
  if (/%(?![\da-f]{2})/i.test(before)) {
    return fail(`the path of "${text}" holds a "%" that escapes nothing`, 'Write %25 for a percent sign.');
  }
  const braced = /\$\{[^}]*\}/.exec(text)?.[0];
  if (braced) return fail(`"${braced}" is no variable`, 'Write $name, without braces.');
  const path = urlParts(before, 0);
  const query = mark === -1 ? [] : urlQuery(text, mark + 1, fail);
  return {
    text,
    path,
    query,
    pathVariables: unique(names(path)),
    queryVariables: unique(names(query.flatMap(({ value }) => value ?? []))),
  };
}

function urlQuery(text: string, start: number, fail: (message: string, fix: string) => never): UrlParameter[] {
  const parameters: UrlParameter[] = [];
  let at = start;
  for (const pair of text.slice(start).split('&')) {
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const parts = equals === -1 ? [] : urlParts(pair.slice(equals + 1), at + equals + 1);
    if (name.includes('$')) fail(`"${pair}" has a variable as its name`, 'Write the parameter as name=$variable.');
    if (parts.length > 1) {
      fail(`"${pair}" mixes a variable with other text`, 'Give each parameter one variable: name=$variable.');
    }
    const empty: UrlPart | undefined = equals === -1 ? undefined : { kind: 'text', text: '' };
    if (pair !== '') parameters.push({ name, value: parts[0] ?? empty });
    at += pair.length + 1;
  }
  return parameters;
}

/**
 * Parses a body template: objects with bare or quoted keys, lists, `$variables`, and (for the caller to refuse or
 * accept) constants. A template of white space alone is no body: undefined.
 * Throws INVALID_SDL with the reason; `position` is where the template's text starts.
 */
export function parseBodyTemplate(text: string, position?: Position): BodyTemplate | undefined {
  if (text.trim() === '') return undefined;
  const parser = new BodyParser(text, position);
  const root = parser.parse();
  return { text, root, variables: unique(parser.variables), keys: parser.keys, constants: parser.constants };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\n]|\\.)*"/y;
const MAX_DEPTH = 100;

class BodyParser {
  readonly variables: string[] = [];
  readonly keys: { key: string; offset: number }[] = [];
  readonly constants: { text: string; offset: number }[] = [];
  #at = 0;

  constructor(
    readonly text: string,
    readonly position: Position | undefined,
  ) {}

  parse(): BodyNode {
    const root = this.#value(0);
    this.#skip();
    if (this.#at < this.text.length) this.#fail('the end of the template');
    return root;
  }

  #fail(expected: string): never {
    const found = this.text[this.#at];
    throw new GraphsteadError(
      'INVALID_SDL',
      `body template: expected ${expected}, found ${found === undefined ? 'its end' : `"${found}"`} at character ${this.#at + 1}`,
      { position: this.position, fix: 'Write the template like "{ id: $id, address: { city: $city } }".' },
    );
  }

  #unquote(quoted: string): string {
    try {
      return JSON.parse(quoted) as string;
    } catch {
      return this.#fail('a string with JSON escapes');
    }
  }

  #skip(): void {
    while (/[\s,]/.test(this.text[this.#at] ?? '')) this.#at++;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.text)?.[0];
  }

  #value(depth: number): BodyNode {
    if (depth > MAX_DEPTH) this.#fail(`at most ${MAX_DEPTH} levels`);
    this.#skip();
    const start = this.#at;
    const c = this.text[start];
    if (c === '{') return this.#object(depth);
    if (c === '[') return this.#list(depth);
    if (c === '$') return this.#variable();
    const quoted = this.#match(STRING);
    if (quoted !== undefined) return this.#constant(quoted, this.#unquote(quoted));
    const number = this.#match(NUMBER);
    if (number !== undefined) return this.#constant(number, Number(number));
    const word = this.text.slice(start, nameEnd(this.text, start));
    if (word === 'true' || word === 'false') return this.#constant(word, word === 'true');
    if (word === 'null') return this.#constant(word, null);
    if (word !== '') return this.#constant(word, word);
    return this.#fail('an object, a list or a $variable');
  }

  #constant(text: string, value: string | number | boolean | null): BodyNode {
    this.constants.push({ text, offset: this.#at });
    this.#at += text.length;
    return { kind: 'constant', value };
  }

  #variable(): BodyNode {
    const end = nameEnd(this.text, this.#at + 1);
    const name = this.text.slice(this.#at + 1, end);
    if (name === '') {
      this.#at++;
      this.#fail('a name after "$"');
    }
    this.variables.push(name);
    this.#at = end;
    return { kind: 'variable', name };
  }

  #list(depth: number): BodyNode {
    this.#at++;
    const items: BodyNode[] = [];
    for (this.#skip(); this.text[this.#at] !== ']'; this.#skip()) items.push(this.#value(depth + 1));
    this.#at++;
    return { kind: 'list', items };
  }

  #object(depth: number): BodyNode {
    this.#at++;
    const fields: { key: string; value: BodyNode }[] = [];
    const seen = new Set<string>();
    for (this.#skip(); this.text[this.#at] !== '}'; this.#skip()) {
      const at = this.#at;
      const key = this.#key();
      if (seen.has(key)) {
        this.#at = at;
        this.#fail(`a key other than ${key}, which stands there already`);
      }
      seen.add(key);
      this.#skip();
      if (this.text[this.#at] !== ':') this.#fail('":"');
      this.#at++;
      fields.push({ key, value: this.#value(depth + 1) });
    }
    this.#at++;
    return { kind: 'object', fields };
  }

  #key(): string {
    const offset = this.#at;
    const quoted = this.#match(STRING);
    const written = quoted ?? this.text.slice(offset, this.#bareKeyEnd(offset));
    if (written === '') this.#fail('a key');
    this.#at += written.length;
    const key = quoted === undefined ? written : this.#unquote(quoted);
    this.keys.push({ key, offset });
    return key;
  }

  /** Keys may begin with a digit: they may hold any letters and digits. */
  #bareKeyEnd(start: number): number {
    let end = start;
    while (end < this.text.length && NAME_PART.test(this.text[end])) end++;
    return end;
  }
}
