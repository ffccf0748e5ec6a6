import { GraphsteadError, type Limits, type Position, STEP, type Steps } from '../../base/index.js';
import { type IndexKind, indexKindNamed, TYPE_NAMES, typeNamed } from '../../values/index.js';
import type { Declaration } from '../alter/part.js';
import type { NodeType } from '../contract.js';
import { checkSchemaSize } from '../schema.js';
import { checkDeclaration, checkIndexKind, indexFix } from './check.js';
import { type Token, tokenize } from './token.js';

/** What a schema text says, in its order, with where each part of it stands. */
export interface SchemaText {
  readonly declarations: readonly (Declaration & { readonly position: Position })[];
  readonly types: readonly (NodeType & { readonly position: Position })[];
}

/**
 * How far a text is read that declares too much: the service's own predicates, which exports declare too, do not count. No type
 * has more fields either, with each predicate and its reverse.
 */
const READ_ON = 2;

/** Reads schema lines and types, one declaration a step. Throws SYNTAX and INVALID_SCHEMA, each with a position, and LIMIT_EXCEEDED. */
export function parseSchemaInSteps(text: string, limits: Limits): Steps<SchemaText> {
  return new SchemaParser(text, limits).parse();
}

type Draft = { -readonly [K in keyof Declaration]: Declaration[K] };

class SchemaParser {
  readonly #text: string;
  readonly #limits: Limits;
  readonly #tokens: Iterator<Token, Token>;
  // made as they are read: a text of 64 MiB has tens of millions
  #peek: Token;
  #following: Token;
  /** the line of the last position that was asked for, from `start` to `end`: the next one is near, and texts are long */
  #line = { number: 1, start: 0, end: 0 };

  constructor(text: string, limits: Limits) {
    this.#text = text;
    this.#limits = limits;
    this.#tokens = tokenize(text);
    this.#peek = this.#tokens.next().value;
    this.#following = this.#peek.kind === 'end' ? this.#peek : this.#tokens.next().value;
    this.#line.end = this.#endOfLine(0);
  }

  *parse(): Steps<SchemaText> {
    const declarations: (Declaration & { readonly position: Position })[] = [];
    const types: (NodeType & { readonly position: Position })[] = [];
    while (this.#peek.kind !== 'end') {
      this.#namespace();
      if (this.#isType()) types.push(yield* this.#type());
      else declarations.push(this.#declaration());
      checkSchemaSize('predicates', declarations.length / READ_ON, this.#limits);
      checkSchemaSize('types', types.length / READ_ON, this.#limits);
      if ((declarations.length + types.length) % STEP === 0) yield;
    }
    return { declarations, types };
  }

  #next(): Token {
    const token = this.#peek;
    if (token.kind === 'end') return token;
    this.#peek = this.#following;
    if (this.#peek.kind !== 'end') this.#following = this.#tokens.next().value;
    return token;
  }

  #is(mark: string): boolean {
    return this.#peek.kind === 'punctuation' && this.#peek.text === mark;
  }

  #take(mark: string): boolean {
    if (!this.#is(mark)) return false;
    this.#next();
    return true;
  }

  /** What to do with what only types of GraphQL have. */
  #foreign(): string | undefined {
    if (!['!', '@', '('].some((mark) => this.#is(mark))) return undefined;
    return 'Leave it out; types of GraphQL go to POST /admin/schema.';
  }

  #position(token: Token = this.#peek): Position {
    let { number, start, end } = this.#line;
    while (token.offset < start) {
      end = start - 1;
      start = end === 0 ? 0 : this.#text.lastIndexOf('\n', end - 1) + 1;
      number--;
    }
    while (token.offset > end) {
      start = end + 1;
      end = this.#endOfLine(start);
      number++;
    }
    this.#line = { number, start, end };
    return { line: number, column: token.offset - start + 1 };
  }

  #endOfLine(start: number): number {
    const end = this.#text.indexOf('\n', start);
    return end === -1 ? this.#text.length : end;
  }

  #fail(message: string, fix: string, token: Token = this.#peek, code: 'SYNTAX' | 'INVALID_SCHEMA' = 'SYNTAX'): never {
    throw new GraphsteadError(code, message, { position: this.#position(token), fix });
  }

  #expect(mark: string, message: string): void {
    if (!this.#take(mark)) this.#fail(message, `Write "${mark}" here.`);
  }

  /** `[0x0]` before a line, as exports of the peer have it. */
  #namespace(): void {
    if (!this.#is('[')) return;
    this.#next();
    const namespace = this.#next();
    if (!/^(0x)?0+$/i.test(namespace.text)) this.#fail('Only the namespace 0x0 exists', 'Leave it out.', namespace);
    this.#expect(']', 'Expected ] after the namespace');
  }

  #isType(): boolean {
    const [first, second] = [this.#peek, this.#following];
    return first.kind === 'name' && !first.bracketed && first.text === 'type' && second.kind !== 'punctuation';
  }

  #name(what: string): Token {
    const token = this.#next();
    const named = token.kind === 'name' || token.kind === 'string';
    if (!named || token.text === '') this.#fail(`Expected ${what}`, 'Names stand as they are or in < and >.', token);
    return token;
  }

  #declaration(): Declaration & { readonly position: Position } {
    const name = this.#name('a predicate name or type');
    if (name.text.startsWith('~')) {
      this.#fail(
        `${name.text} cannot be declared`,
        'Declare the predicate itself, with @reverse.',
        name,
        'INVALID_SCHEMA',
      );
    }
    this.#expect(':', `Missing colon after ${name.text}`);
    const draft: Draft = { ...this.#predicateType(name.text), ...NO_DIRECTIVES, name: name.text };
    const seen = new Set<string>();
    while (this.#take('@')) this.#directive(draft, seen);
    if (!this.#take('.')) {
      const fix = this.#is('[')
        ? 'A list is written with its type in brackets, [uid].'
        : (this.#foreign() ?? 'End the line with " ."');
      this.#fail(`Invalid ending: expected a dot after predicate ${name.text}`, fix);
    }
    const position = this.#position(name);
    checkDeclaration(draft, position);
    return { ...draft, position };
  }

  #predicateType(predicate: string): Pick<Declaration, 'type' | 'list'> {
    const list = this.#take('[');
    const token = this.#next();
    if (token.kind !== 'name')
      this.#fail(`Missing Type of predicate ${predicate}`, 'Write a type, such as string.', token);
    const type = typeNamed(token.text);
    if (!type) {
      this.#fail(
        `Undefined Type ${token.text} of predicate ${predicate}`,
        `Use one of ${TYPE_NAMES.join(', ')}; an edge is uid, or [uid] for several.`,
        token,
      );
    }
    if (list && (type === 'password' || type === 'bool')) {
      this.#fail(`Unsupported type for list: [${token.text}]`, 'Leave the brackets out.', token, 'INVALID_SCHEMA');
    }
    if (list) this.#expect(']', `Unclosed [ while parsing the type of ${predicate}`);
    return { type, list };
  }

  #directive(draft: Draft, seen: Set<string>): void {
    const token = this.#name('a directive');
    const directive = token.text.toLowerCase();
    // of two @index the first would be lost without a word
    if (seen.has(directive)) this.#fail(`@${token.text} stands twice`, 'Join both into one.', token, 'INVALID_SCHEMA');
    seen.add(directive);
    switch (directive) {
      case 'index':
        draft.indexes = this.#indexes(draft);
        return;
      case 'reverse':
        draft.reverse = true;
        return;
      case 'count':
        draft.count = true;
        return;
      case 'lang':
        draft.lang = true;
        return;
      case 'upsert':
        draft.upsert = true;
        return;
      case 'unique':
        draft.unique = true;
        return;
      case 'noconflict':
        draft.noconflict = true;
        return;
      default:
        this.#fail(
          `Invalid index specification: unknown directive @${token.text}`,
          'Use @index, @reverse, @count, @lang, @upsert, @unique or @noconflict.',
          token,
        );
    }
  }

  #indexes(draft: Draft): Declaration['indexes'] {
    const missing = `Require type of tokenizer for pred: ${draft.name} for indexing.`;
    if (!this.#take('(') || this.#is(')')) this.#fail(missing, indexFix(draft.type));
    const indexes: Declaration['indexes'][number][] = [];
    do {
      const token = this.#name('an index kind');
      const kind = indexKindNamed(token.text.toLowerCase());
      if (!kind) this.#fail(`Invalid tokenizer ${token.text}`, indexFix(draft.type), token, 'INVALID_SCHEMA');
      checkIndexKind(draft, kind, this.#position(token));
      if (indexes.some((index) => index.kind === kind)) {
        this.#fail(
          `Duplicate tokenizers defined for pred ${draft.name}`,
          `Name ${kind} once.`,
          token,
          'INVALID_SCHEMA',
        );
      }
      indexes.push({ kind, options: this.#options(kind) });
    } while (this.#take(','));
    this.#expect(')', 'Expected , or ) in the list of index kinds');
    return indexes;
  }

  /** `(metric: "euclidean", exponent: "4")` behind hnsw. */
  #options(kind: IndexKind): Readonly<Record<string, string>> {
    const options: Record<string, string> = {};
    if (!this.#is('(')) return options;
    if (kind !== 'hnsw') this.#fail(`The index ${kind} has no options`, 'Leave them out.');
    this.#next();
    while (!this.#take(')')) {
      const key = this.#name('an option');
      this.#expect(':', `Expected : after the option ${key.text}`);
      const value = this.#next();
      if (value.kind !== 'string')
        this.#fail(`Expected a quoted value of ${key.text}`, 'Write it in double quotes.', value);
      if (!HNSW_OPTIONS.has(key.text.toLowerCase())) {
        this.#fail(`Unknown option ${key.text} of hnsw`, `Use ${[...HNSW_OPTIONS].join(', ')}.`, key, 'INVALID_SCHEMA');
      }
      if (Object.keys(options).some((name) => name.toLowerCase() === key.text.toLowerCase())) {
        this.#fail(`${key.text} stands twice in hnsw`, 'Give each option once.', key, 'INVALID_SCHEMA');
      }
      options[key.text] = this.#option(key.text, value);
      if (!this.#take(',') && !this.#is(')'))
        this.#fail('Expected , or ) in the options', 'Separate options by commas.');
    }
    return options;
  }

  #option(name: string, value: Token): string {
    const valid = name.toLowerCase() === 'metric' ? METRICS.has(value.text) : /^[1-9]\d{0,5}$/.test(value.text);
    if (!valid) {
      const allowed = name.toLowerCase() === 'metric' ? [...METRICS].join(', ') : 'a whole number above zero';
      this.#fail(`${JSON.stringify(value.text)} is no value of ${name}`, `Use ${allowed}.`, value, 'INVALID_SCHEMA');
    }
    return value.text;
  }

  *#type(): Steps<NodeType & { readonly position: Position }> {
    this.#next();
    const name = this.#name('a type name');
    this.#expect('{', `Expected { after type ${name.text}`);
    const fields = new Set<string>();
    while (!this.#take('}')) {
      if (this.#peek.kind === 'end') this.#fail(`Unclosed type ${name.text}`, 'End it with }.');
      const foreign = this.#foreign();
      if (foreign) this.#fail(`Expected a field of type ${name.text}`, foreign);
      const field = this.#name(`a field of type ${name.text}`);
      if (this.#take(':')) this.#fieldType(field.text);
      if (fields.has(field.text)) {
        this.#fail(`Duplicate fields with name: ${field.text}`, 'Name each field once.', field, 'INVALID_SCHEMA');
      }
      fields.add(field.text);
      checkSchemaSize('fields in a type', fields.size / READ_ON, this.#limits);
      if (fields.size % STEP === 0) yield;
      this.#take(',');
    }
    if (!this.#peek.newLine) {
      this.#fail('Expected new line or EOF after type declaration', 'Begin the next declaration on a new line.');
    }
    return { name: name.text, fields: [...fields], position: this.#position(name) };
  }

  /** `: [string!]!`, as older schemas have it; the type itself says nothing that the predicate does not. */
  #fieldType(field: string): void {
    const list = this.#take('[');
    this.#name(`the type of ${field}`);
    if (list) {
      this.#take('!');
      this.#expect(']', `Unclosed [ in the type of ${field}`);
    }
    this.#take('!');
  }
}

const METRICS = new Set(['euclidean', 'cosine', 'dotproduct']);
const HNSW_OPTIONS = new Set(['metric', 'exponent', 'maxlevels', 'efconstruction', 'efsearch']);

const NO_DIRECTIVES: Omit<Declaration, 'name' | 'type' | 'list'> = {
  indexes: [],
  reverse: false,
  count: false,
  lang: false,
  upsert: false,
  unique: false,
  noconflict: false,
};
