import { DEFAULT_LIMITS, defaultNames, GraphsteadError, type Names, type Position } from '../../base/index.js';
import { parseLiteral, type Value } from '../../values/index.js';
import { resolveEscapes } from '../parse/escape.js';
import { splitLanguage, type TaggedName } from '../parse/language-tag.js';
import { uidNumber } from '../parse/number.js';
import type { NodeReference, ObjectReference, SubjectReference, Triple, TripleFacet } from '../syntax/index.js';
import { facetValue, isFacetKeyCharacter, tooManyFacets } from './facet.js';

export interface NQuadOptions {
  readonly names?: Names;
  /** name of the text in positions */
  readonly source?: string;
  /** each statement must end its line, as N-Quads have it */
  readonly lines?: boolean;
  /** uids that this store could not have given are read as names of another system, and not refused */
  readonly otherUids?: boolean;
  /** facets that one statement may have */
  readonly mostFacets?: number;
  /** hears of each namespace that a statement names; it may throw */
  readonly onNamespace?: (namespace: number, position: Position) => void;
}

/** The part of a text that is read, and where it stands in a larger one. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  /** line of `start`, and the offset at which that line begins */
  readonly line: number;
  readonly lineStart: number;
}

const ALL = { kind: 'all' } as const;
const NO_FACETS: readonly TripleFacet[] = [];
const ESCAPES: Readonly<Record<string, string>> = {
  t: '\t',
  b: '\b',
  n: '\n',
  r: '\r',
  f: '\f',
  v: '\v',
  '"': '"',
  "'": "'",
  '\\': '\\',
};
/** what may not stand between < and >: bit set over ASCII */
const FORBIDDEN = new Uint8Array(128);
for (let c = 0; c <= 0x20; c++) FORBIDDEN[c] = 1;
for (const text of '<>"{}|^`\\') FORBIDDEN[text.charCodeAt(0)] = 1;
/** letters, digits and _ */
const WORD = new Uint8Array(128);
for (const text of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_') WORD[text.charCodeAt(0)] = 1;
/** empty lines and comments that are passed at once: well below a millisecond's worth */
const BLANKS = 4_096;
/** predicates of one text that are remembered by their spelling */
const MAX_REMEMBERED = 10_000;

/**
 * Reads RDF N-Quads one statement after another; each stands on one line and ends with a dot. Every character is
 * looked at a bounded number of times. Throws SYNTAX, INVALID_VALUE or INVALID_MUTATION with a position.
 */
export class NQuadReader {
  readonly #names: Names;
  readonly #source: string | undefined;
  readonly #lines: boolean;
  readonly #otherUids: boolean;
  readonly #mostFacets: number;
  readonly #onNamespace: NQuadOptions['onNamespace'];
  readonly #predicates = new Map<string, TaggedName>();
  #text = '';
  #at = 0;
  #end = 0;
  #line = 1;
  #lineStart = 0;

  constructor(options: NQuadOptions = {}) {
    this.#names = options.names ?? defaultNames;
    this.#source = options.source;
    this.#lines = options.lines ?? false;
    this.#otherUids = options.otherUids ?? false;
    this.#mostFacets = options.mostFacets ?? DEFAULT_LIMITS.facets;
    this.#onNamespace = options.onNamespace;
  }

  /** Begins a text, or a part of it. */
  open(text: string, span: TextSpan = { start: 0, end: text.length, line: 1, lineStart: 0 }): this {
    this.#text = text;
    this.#at = span.start;
    this.#end = span.end;
    this.#line = span.line;
    this.#lineStart = span.lineStart;
    return this;
  }

  /** All has been read. */
  get ended(): boolean {
    return this.#at >= this.#end;
  }

  /** The next statement; undefined at the end, and where it has passed many empty lines or comments and found none yet. */
  next(): Triple | undefined {
    if (!this.#skipToStatement()) return undefined;
    const position = this.#position(this.#at);
    const subject = this.#subject();
    this.#space();
    const predicate = this.#predicate();
    this.#space();
    const object = this.#object();
    const { name } = predicate;
    const lang = object.kind === 'literal' && object.lang !== '' ? object.lang : predicate.lang;
    this.#space();
    if (this.#peek() === 0x3c) this.#namespace();
    let facets = NO_FACETS;
    if (this.#peek() === 0x28) facets = this.#facets();
    if (this.#peek() !== 0x2e)
      throw this.#unexpected('"." at the end of the statement', 'End each statement with " .".');
    this.#at++;
    if (this.#lines && !this.atLineEnd()) {
      throw this.#error('something stands after the end of the statement', 'Put one statement on each line.');
    }
    const tagged = object.kind === 'literal' && object.lang !== lang ? { ...object, lang } : object;
    return { subject, predicate: name, lang, object: tagged, facets, listed: false, alone: false, position };
  }

  /** True when nothing but spaces and a comment is left on the line after a statement. */
  atLineEnd(): boolean {
    this.#space();
    const c = this.#peek();
    return c === 0 || c === 0x0a || c === 0x23;
  }

  #position(at: number): Position {
    const line = this.#line;
    const column = at - this.#lineStart + 1;
    return this.#source === undefined ? { line, column } : { line, column, source: this.#source };
  }

  #error(message: string, fix: string, at = this.#at): GraphsteadError {
    return new GraphsteadError('SYNTAX', message, { position: this.#position(at), fix });
  }

  #unexpected(expected: string, fix: string): GraphsteadError {
    const at = this.#at;
    if (at >= this.#end || this.#text.charCodeAt(at) === 0x0a) {
      return this.#error(`expected ${expected}, found the end of the line`, fix);
    }
    const rest = this.#text.slice(at, Math.min(this.#end, at + 20)).split('\n', 1)[0];
    return this.#error(`expected ${expected}, found ${JSON.stringify(rest)}`, fix);
  }

  #peek(): number {
    return this.#at < this.#end ? this.#text.charCodeAt(this.#at) : 0;
  }

  /** Past spaces and tabs. */
  #space(): void {
    const text = this.#text;
    let at = this.#at;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (c !== 0x20 && c !== 0x09 && c !== 0x0d) break;
    }
    this.#at = at;
  }

  /** Past spaces, empty lines and comments, but not more than so many of them; false where no statement stands. */
  #skipToStatement(): boolean {
    const text = this.#text;
    for (let left = BLANKS; left > 0; left--) {
      this.#space();
      if (this.#at >= this.#end) return false;
      const c = text.charCodeAt(this.#at);
      if (c === 0x23) {
        const stop = text.indexOf('\n', this.#at);
        this.#at = stop === -1 || stop > this.#end ? this.#end : stop;
      } else if (c === 0x0a) {
        this.#at++;
        this.#line++;
        this.#lineStart = this.#at;
      } else if (c === 0xfeff) this.#at++;
      else return true;
    }
    return false;
  }

  #subject(): SubjectReference {
    const c = this.#peek();
    if (c === 0x2a) {
      this.#at++;
      return ALL;
    }
    const node = this.#node(c);
    if (node) return node;
    throw this.#unexpected('a subject', 'Write it as <0x1f>, _:name or uid(variable).');
  }

  /** `<...>`, `_:name` or `uid(v)`; undefined when something else stands there. */
  #node(c: number): NodeReference | undefined {
    if (c === 0x3c) return this.#iriNode();
    if (c === 0x5f) return { kind: 'blank', name: this.#blank() };
    if (c === 0x75) return { kind: 'variable', name: this.#variable('uid') };
    return undefined;
  }

  #iriNode(): NodeReference {
    const at = this.#at;
    const iri = this.#iri();
    const uid = uidNumber(iri);
    if (uid !== undefined) {
      if (uid > 0 && Number.isFinite(uid)) return { kind: 'uid', uid };
      if (this.#otherUids) return { kind: 'iri', iri };
      throw new GraphsteadError('INVALID_MUTATION', `<${iri}> is out of range: uids go from 1 to 2^53 - 2`, {
        position: this.#position(at),
        fix: 'Use a uid that the store has given, or a blank node _:name.',
      });
    }
    if (iri.startsWith('_:') && iri.length > 2) return { kind: 'blank', name: iri.slice(2) };
    return { kind: 'iri', iri };
  }

  /** What stands between < and >. */
  #iri(): string {
    const text = this.#text;
    const open = this.#at;
    let at = open + 1;
    for (; ; at++) {
      const c = at < this.#end ? text.charCodeAt(at) : 0x0a;
      if (c === 0x3e) break;
      if (c >= 128 || FORBIDDEN[c] === 0) continue;
      if (c === 0x5c && isUnicodeEscape(text, at)) continue;
      const missing = c === 0x0a || at >= this.#end;
      throw this.#error(
        missing ? 'this "<" has no ">"' : `${JSON.stringify(text[at])} cannot stand between < and >`,
        missing ? 'Close it with ">".' : 'Write it as \\uHHHH.',
        missing ? open : at,
      );
    }
    if (at === open + 1) throw this.#error('nothing stands between < and >', 'Put a uid or a name there.', open);
    if (at === open + 2 && text.charCodeAt(open + 1) === 0x2a) {
      throw this.#error('"*" does not stand between < and >', 'Write * alone.', open);
    }
    this.#at = at + 1;
    return text.slice(open + 1, at);
  }

  /** The name after `_:`. A dot at its end belongs to the statement. */
  #blank(): string {
    const text = this.#text;
    const start = this.#at + 2;
    const fix = 'Write a blank node as _:name with letters, digits, "_", "-" and ".".';
    if (text.charCodeAt(this.#at + 1) !== 0x3a) throw this.#unexpected('":" after "_"', fix);
    let at = start;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (c >= 128 || WORD[c] === 1) continue;
      if (at > start && (c === 0x2d || c === 0x2e)) continue;
      break;
    }
    while (at > start && text.charCodeAt(at - 1) === 0x2e) at--;
    this.#at = at;
    if (at === start) throw this.#unexpected('a name after "_:"', fix);
    return text.slice(start, at);
  }

  /** `uid ( v )` or `val(v)`: the variable. */
  #variable(word: 'uid' | 'val'): string {
    const fix = `Write it as ${word}(variable), and text in quotes.`;
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected(`${word}(variable)`, fix);
    this.#at += 3;
    this.#space();
    if (this.#peek() !== 0x28) throw this.#unexpected(`"(" after ${word}`, fix);
    this.#at++;
    this.#space();
    const start = this.#at;
    while (this.#at < this.#end && isNameCharacter(this.#text.charCodeAt(this.#at))) this.#at++;
    if (this.#at === start) throw this.#unexpected(`a variable in ${word}(...)`, fix);
    const name = this.#text.slice(start, this.#at);
    this.#space();
    if (this.#peek() !== 0x29) throw this.#unexpected(`")" after ${word}(${name}`, 'Close the bracket.');
    this.#at++;
    return name;
  }

  #predicate(): TaggedName {
    const c = this.#peek();
    if (c === 0x2a) {
      this.#at++;
      return { name: '*', lang: '' };
    }
    if (c !== 0x3c) throw this.#unexpected('a predicate', 'Write it as <name>.');
    const start = this.#at;
    const written = this.#iri();
    const known = this.#predicates.get(written);
    if (known) return known;
    if (written.length > 65_535) {
      throw this.#error('the name of a predicate is longer than 65535', 'Use a shorter name.', start);
    }
    const { name, lang } = splitLanguage(written, this.#position(start));
    const parsed = { name: this.#names.stored(name), lang };
    if (this.#predicates.size < MAX_REMEMBERED) this.#predicates.set(written, parsed);
    return parsed;
  }

  #object(): ObjectReference {
    const c = this.#peek();
    if (c === 0x22) return this.#literal();
    if (c === 0x2a) {
      this.#at++;
      return ALL;
    }
    if (c === 0x76) return { kind: 'value', variable: this.#variable('val') };
    const node = this.#node(c);
    if (node) return node;
    throw this.#unexpected('an object', 'Write it as "text", <0x1f>, _:name, uid(variable), val(variable) or *.');
  }

  #literal(): ObjectReference {
    const at = this.#at;
    const text = this.#quoted();
    const c = this.#peek();
    if (c === 0x40) return { kind: 'literal', value: { type: 'default', value: text }, lang: this.#lang() };
    if (c !== 0x5e) return { kind: 'literal', value: { type: 'default', value: text }, lang: '' };
    if (!this.#text.startsWith('^^<', this.#at)) {
      throw this.#unexpected('"^^<type>" after the text', 'Write a type as in "42"^^<xs:int>.');
    }
    this.#at += 2;
    const iri = this.#iri();
    return { kind: 'literal', value: this.#positioned(at, () => parseLiteral(text, iri)), lang: '' };
  }

  /** Errors of values know no place; this text does. */
  #positioned(at: number, make: () => Value): Value {
    try {
      return make();
    } catch (thrown) {
      if (!(thrown instanceof GraphsteadError)) throw thrown;
      const { code, message, fix } = thrown;
      throw new GraphsteadError(code, message, { position: this.#position(at), fix });
    }
  }

  /** Text between quotes, its escapes resolved. */
  #quoted(): string {
    const text = this.#text;
    const open = this.#at;
    let at = open + 1;
    let escaped = false;
    for (; ; at++) {
      const c = at < this.#end ? text.charCodeAt(at) : 0x0a;
      if (c === 0x22) break;
      if (c === 0x5c && at + 1 < this.#end && text.charCodeAt(at + 1) !== 0x0a) {
        escaped = true;
        at++;
      } else if (c === 0x0a) {
        throw this.#error(
          'this text has no closing quote on its line',
          'Close it with "; write a line break as \\n.',
          open,
        );
      }
    }
    this.#at = at + 1;
    const raw = text.slice(open + 1, at);
    return escaped ? resolveEscapes(raw, this.#position(open), ESCAPES) : raw;
  }

  /** A tag such as en, en-US or a1 after `@`: a letter comes first. */
  #lang(): string {
    const text = this.#text;
    const start = this.#at + 1;
    let at = start;
    let part = start;
    for (; at < this.#end; at++) {
      const c = text.charCodeAt(at);
      if (c < 128 && WORD[c] === 1 && c !== 0x5f && (at > start || (c | 32) >= 0x61)) continue;
      if (c !== 0x2d || at === part) break;
      part = at + 1;
    }
    this.#at = at;
    if (at === part) throw this.#unexpected('a language after "@"', 'Write it as in "text"@en or "text"@en-US.');
    return text.slice(start, at);
  }

  /** `<0x2>` before the dot: the namespace that an export of several tenants names; there is one here. */
  #namespace(): void {
    const at = this.#at;
    const iri = this.#iri();
    const namespace = uidNumber(iri);
    if (namespace === undefined) {
      throw this.#error(`<${iri}> is no number: graph names are not kept`, 'Remove it.', at);
    }
    this.#onNamespace?.(namespace, this.#position(at));
    this.#space();
  }

  /** `(since=2006-01-02, close=true)`, and the spaces after it. */
  #facets(): readonly TripleFacet[] {
    const facets: TripleFacet[] = [];
    const keys = new Set<string>();
    this.#at++;
    for (;;) {
      this.#space();
      if (facets.length === 0 && this.#peek() === 0x29) break;
      if (facets.length >= this.#mostFacets) throw tooManyFacets(this.#mostFacets, this.#position(this.#at));
      facets.push(this.#facet(keys));
      this.#space();
      if (this.#peek() === 0x2c) this.#at++;
      else if (this.#peek() === 0x29) break;
      else throw this.#unexpected('"," or ")" after a facet', 'Write facets as (key=value, key2="text").');
    }
    this.#at++;
    this.#space();
    return facets;
  }

  #facet(before: Set<string>): TripleFacet {
    const start = this.#at;
    const text = this.#text;
    while (this.#at < this.#end && isFacetKeyCharacter(text.charCodeAt(this.#at))) this.#at++;
    if (this.#at === start) throw this.#unexpected('the key of a facet', 'Write facets as (key=value, key2="text").');
    const key = text.slice(start, this.#at);
    if (before.has(key)) throw this.#error(`the facet ${key} stands twice`, 'Remove one of them.', start);
    before.add(key);
    this.#space();
    if (this.#peek() !== 0x3d)
      throw this.#unexpected(`"=" after the facet ${key}`, 'Write facets as (key=value, key2="text").');
    this.#at++;
    this.#space();
    if (this.#peek() === 0x22) return { key, value: { type: 'string', value: this.#quoted() } };
    const from = this.#at;
    while (this.#at < this.#end && isFacetValue(text.charCodeAt(this.#at))) this.#at++;
    const written = text.slice(from, this.#at);
    if (written === '') this.#checkEmptyFacet(key);
    return { key, value: this.#positioned(from, () => facetValue(written)) };
  }

  /** `(a=, b=1)` is an empty text; a comma must have another facet after it. */
  #checkEmptyFacet(key: string): void {
    const c = this.#peek();
    if (c !== 0x2c && c !== 0x29) throw this.#unexpected(`a value of the facet ${key}`, 'Put text in quotes.');
  }
}

function isNameCharacter(c: number): boolean {
  return c >= 128 || WORD[c] === 1 || c === 0x2e || c === 0x2d;
}

function isFacetValue(c: number): boolean {
  return c >= 128 || WORD[c] === 1 || c === 0x2e || c === 0x2d || c === 0x2b || c === 0x3a;
}

/** `\uHHHH` or `\UHHHHHHHH`. */
function isUnicodeEscape(text: string, at: number): boolean {
  const letter = text.charCodeAt(at + 1);
  const digits = letter === 0x75 ? 4 : letter === 0x55 ? 8 : 0;
  for (let i = at + 2; i < at + 2 + digits; i++) {
    const c = text.charCodeAt(i) | 32;
    if (!((c >= 0x30 && c <= 0x39) || (c >= 0x61 && c <= 0x66))) return false;
  }
  return digits > 0;
}
