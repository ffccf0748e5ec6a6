import {
  DEFAULT_LIMITS,
  defaultNames,
  GraphsteadError,
  type Names,
  type Position,
  STEP,
  type Steps,
} from '../../base/index.js';
import { parseGeometry, type Value } from '../../values/index.js';
import { invalidMutation } from '../parse/invalid.js';
import { splitLanguage } from '../parse/language-tag.js';
import { uidNumber } from '../parse/number.js';
import type { NodeReference, ObjectReference, Triple, TripleFacet } from '../syntax/index.js';
import { type FacetEntry, type FacetIndex, facetIndex, facetsOf, listFacets } from './facets.js';
import { numberValue } from './number.js';
import type { JsonNode, ObjectNode } from './scan.js';

type ArrayNode = Extract<JsonNode, { kind: 'array' }>;

interface JsonTripleOptions {
  readonly names?: Names;
  /** the JSON text that the nodes were scanned from */
  readonly text: string;
  /** names of nodes without a uid: `<prefix>.<n>`; must not be what a client may write */
  readonly blankPrefix: string;
  /** what is no uid that this store could have given is read as the name of another system, and not refused */
  readonly otherUids?: boolean;
  /** facets that one edge or value may have */
  readonly mostFacets?: number;
  /** hears of each namespace that an object names; it may throw */
  readonly onNamespace?: (namespace: number, position: Position) => void;
}

/**
 * JSON of a mutation to triples: an object is a node, a nested object another node with an edge to it.
 * One converter serves all parts of a request, so that names of new nodes stay apart.
 * Throws INVALID_MUTATION and INVALID_VALUE with positions.
 */
export class JsonTriples {
  readonly #names: Names;
  readonly #text: string;
  readonly #prefix: string;
  readonly #otherUids: boolean;
  readonly #mostFacets: number;
  readonly #onNamespace: JsonTripleOptions['onNamespace'];
  /** as the peer, which keeps the form of a variable to itself; what it exported is text */
  readonly #refusesCalls: boolean;
  #fresh = 0;

  constructor(options: JsonTripleOptions) {
    this.#names = options.names ?? defaultNames;
    this.#text = options.text;
    this.#prefix = options.blankPrefix;
    this.#otherUids = options.otherUids ?? false;
    this.#mostFacets = options.mostFacets ?? DEFAULT_LIMITS.facets;
    this.#onNamespace = options.onNamespace;
    this.#refusesCalls = this.#names.dgraph && !this.#otherUids;
  }

  /** What a `set` (or `delete`) key holds: an object or a list of objects. */
  *convert(node: JsonNode, op: 'set' | 'delete'): Steps<Triple[]> {
    const out: Triple[] = [];
    const roots = node.kind === 'array' ? node.items : [node];
    for (let i = 0; i < roots.length; i++) {
      if (i % STEP === STEP - 1) yield;
      const root = roots[i];
      if (root.kind === 'null') continue;
      if (root.kind !== 'object') {
        throw invalidMutation(
          `${op} holds something that is no object`,
          root.position,
          'Give it an object, or a list of objects.',
        );
      }
      yield* this.#node(root, op, out, '');
    }
    return out;
  }

  /** Triples of one node; answers what it is. `parent` is the key that led to it, "" at the top. */
  *#node(node: ObjectNode, op: 'set' | 'delete', out: Triple[], parent: string): Steps<NodeReference> {
    const subject = this.#subject(node, op);
    if (op === 'delete' && parent === '' && node.entries.size === 1) {
      out.push(tripleOf({ subject, predicate: '*', lang: '', listed: false, position: node.position }, ALL, NO_FACETS));
      return subject;
    }
    const facets = facetIndex(node, this.#mostFacets);
    if (op === 'set') this.#demandOwners(facets, node, parent);
    let members = 0;
    for (const [key, value] of node.entries) {
      if (++members % STEP === 0) yield;
      if (key === 'uid' || key.includes('|') || this.#isNamespace(key, value)) continue;
      const below = this.#entry({ facets, subject, key, value, op, out, parent });
      if (below) yield* below;
    }
    return subject;
  }

  /** Facets that belong to nothing in the object would go without a word; the peer lets them. */
  #demandOwners(facets: FacetIndex, { entries }: ObjectNode, parent: string): void {
    if (this.#names.dgraph || this.#otherUids) return;
    for (const [key, values] of facets ?? []) {
      if (key === parent) demandOwnList(key, values, entries.get(key));
      else if (!entries.has(key)) {
        const [[facet, { position }]] = values;
        const fix = `Give both: {"${key}": ..., "${key}|${facet}": ...}.`;
        throw invalidMutation(`the facet ${key}|${facet} stands without the value or the edge ${key}`, position, fix);
      }
    }
  }

  #isNamespace(key: string, value: JsonNode): boolean {
    if (key !== 'namespace' || !this.#names.dgraph) return false;
    const namespace = value.kind === 'number' || value.kind === 'string' ? uidNumber(value.text) : undefined;
    if (namespace !== undefined) this.#onNamespace?.(namespace, value.position);
    return namespace !== undefined;
  }

  #subject(node: ObjectNode, op: 'set' | 'delete'): NodeReference {
    const uid = node.entries.get('uid');
    const empty = uid === undefined || uid.kind === 'null' || (uid.kind === 'string' && uid.text === '');
    if (!empty) return referenceOf(uid, this.#otherUids);
    if (op === 'set') return { kind: 'blank', name: `${this.#prefix}.${++this.#fresh}` };
    throw invalidMutation(
      'an object to delete has no uid',
      uid?.position ?? node.position,
      'Give it "uid": "0x1f" or "uid(v)".',
    );
  }

  /** What is left to do where a list or a node is nested. */
  #entry(entry: Entry): Steps<void> | undefined {
    const { value, op, out, subject } = entry;
    const { predicate, lang } = this.#predicate(entry);
    const base = { subject, predicate, lang, listed: value.kind === 'array', position: value.position };
    if (value.kind === 'null') {
      if (op === 'delete') out.push(tripleOf(base, ALL, NO_FACETS));
      return undefined;
    }
    if (value.kind === 'array') return this.#list(entry, value, base);
    const facets = entry.key === entry.parent ? NO_FACETS : facetsOf(entry.facets, entry.key, false);
    return this.#value(value, base, facets, entry);
  }

  *#list(entry: Entry, value: ArrayNode, base: Base): Steps<void> {
    const facets = listFacets(entry.facets, entry.key, {
      length: value.items.length,
      inside: entry.key === entry.parent,
      lone: this.#otherUids && value.items.length === 1 && value.items[0].kind === 'object',
    });
    for (const [index, item] of value.items.entries()) {
      if (index % STEP === STEP - 1) yield;
      if (item.kind === 'null') continue;
      if (item.kind === 'array') {
        throw invalidMutation(
          `${JSON.stringify(entry.key)} holds a list in a list`,
          item.position,
          'Give it values or objects.',
        );
      }
      const below = this.#value(item, { ...base, position: item.position }, facets.get(index) ?? NO_FACETS, entry);
      if (below) yield* below;
    }
  }

  #value(value: JsonNode, base: Base, facets: readonly TripleFacet[], entry: Entry): Steps<void> | undefined {
    const { op, out } = entry;
    if (value.kind !== 'object') {
      const star = op === 'delete' && value.kind === 'string' && value.text === '';
      if (value.kind === 'string' && this.#refusesCalls && looksLikeCall(value.text)) throw looseCall(value);
      out.push(tripleOf(base, star ? ALL : scalarOf(value, base.lang), facets));
      return undefined;
    }
    if (value.entries.size === 0) return undefined;
    const geometry = this.#geometry(value);
    if (geometry) {
      out.push(tripleOf(base, { kind: 'literal', value: geometry, lang: base.lang }, facets));
      return undefined;
    }
    return this.#edge(value, base, facets, entry);
  }

  *#edge(value: ObjectNode, base: Base, facets: readonly TripleFacet[], { op, out, key }: Entry): Steps<void> {
    const at = out.length;
    const object = yield* this.#node(value, op, out, key);
    // friend|since inside a friend belongs to the edge that leads to it
    const own = facetsOf(facetIndex(value, this.#mostFacets), key, true);
    const edge = tripleOf(base, object, own.length > 0 ? [...facets, ...own] : facets);
    if (at === out.length) out.push(edge);
    else out.splice(at, 0, edge);
  }

  /** `{"type": "Point", "coordinates": [...]}` is one value and not a node; so is a collection of them. */
  #geometry(value: ObjectNode): Value | undefined {
    const type = value.entries.get('type');
    if (type?.kind !== 'string') return undefined;
    const parts = value.entries.get(type.text === 'GeometryCollection' ? 'geometries' : 'coordinates');
    if (parts?.kind !== 'array') return undefined;
    try {
      return { type: 'geo', value: parseGeometry(this.#text.slice(value.span.start, value.span.end)) };
    } catch (thrown) {
      if (!(thrown instanceof GraphsteadError)) throw thrown;
      const { code, message, fix } = thrown;
      throw new GraphsteadError(code, message, { position: value.position, fix });
    }
  }

  /** `name@en` is the predicate name with a language. */
  #predicate({ key, value }: Entry): { predicate: string; lang: string } {
    const { name, lang } = splitLanguage(key, value.position);
    if (name === '') throw invalidMutation('a key is empty', value.position, 'Name the predicate.');
    if (name.length > 65_535) {
      throw invalidMutation('the name of a predicate is longer than 65535', value.position, 'Use a shorter name.');
    }
    return { predicate: this.#names.stored(name), lang };
  }
}

interface Entry {
  readonly facets: FacetIndex;
  readonly subject: NodeReference;
  readonly key: string;
  readonly value: JsonNode;
  readonly op: 'set' | 'delete';
  readonly out: Triple[];
  readonly parent: string;
}

type Base = Pick<Triple, 'subject' | 'predicate' | 'lang' | 'listed' | 'position'>;

const ALL = { kind: 'all' } as const;
const NO_FACETS: readonly TripleFacet[] = [];

/** Facets in a node of the edge that leads to it: a map is none of that edge's, but tells of the members of a list. */
function demandOwnList(key: string, facets: readonly FacetEntry[], list: JsonNode | undefined): void {
  for (const [facet, { kind, position }] of facets) {
    if (kind !== 'array' && (kind !== 'object' || list?.kind === 'array')) continue;
    const fix = `Give the edge one value; a map such as {"0": ...} needs a list "${key}" beside it.`;
    throw invalidMutation(`the facet ${key}|${facet} of an edge is a list or a map`, position, fix);
  }
}

/** Written out, so that all triples have one shape in memory, as those of RDF have. */
function tripleOf(base: Base, object: ObjectReference, facets: readonly TripleFacet[]): Triple {
  const { subject, predicate, lang, listed, position } = base;
  return { subject, predicate, lang, object, facets, listed, alone: !listed, position };
}

function referenceOf(uid: JsonNode, otherUids: boolean): NodeReference {
  const fix = 'Write it as "0x1f", "_:name" or "uid(variable)".';
  if (uid.kind !== 'string' && uid.kind !== 'number')
    throw invalidMutation('a uid is neither text nor a number', uid.position, fix);
  const text = uid.text.trim();
  if (text.startsWith('_:') && text.length > 2) return { kind: 'blank', name: text.slice(2) };
  const variable = variableIn(text, 'uid', uid.position);
  if (variable !== undefined) return { kind: 'variable', name: variable, position: uid.position };
  const number = uidNumber(text);
  if (number !== undefined && number > 0 && Number.isFinite(number)) return { kind: 'uid', uid: number };
  if (otherUids && text !== '') return { kind: 'iri', iri: text };
  const why =
    number === undefined
      ? `${JSON.stringify(uid.text)} is not a uid`
      : `the uid ${text} is out of range: uids go from 1 to 2^53 - 2`;
  throw invalidMutation(why, uid.position, fix);
}

/**
 * The variable in `uid(v)` or `val(v)`; undefined for other text, also for one that only begins like that. Throws
 * INVALID_MUTATION when the text ends before the bracket is closed, or names nothing.
 */
function variableIn(written: string, word: 'uid' | 'val', position: Position): string | undefined {
  const text = written.trim();
  if (!text.startsWith(word)) return undefined;
  const rest = text.slice(word.length).trim();
  if (!rest.startsWith('(')) return undefined;
  const closed = rest.endsWith(')');
  const name = rest.slice(1, closed ? -1 : undefined).trim();
  if (!isVariable(name)) return undefined;
  const fix = `Write it as ${word}(variable).`;
  if (!closed) throw invalidMutation(`the bracket in ${JSON.stringify(text)} is not closed`, position, fix);
  if (name === '') throw invalidMutation(`${word}() names no variable`, position, fix);
  return name;
}

/** True for `uid(...)` and `val(...)` around anything but the name of a variable: `val(two words)`. */
function looksLikeCall(written: string): boolean {
  const text = written.trim();
  if (!(text.startsWith('uid') || text.startsWith('val')) || !text.endsWith(')')) return false;
  const rest = text.slice('uid'.length).trim();
  if (!rest.startsWith('(')) return false;
  const inside = rest.slice(1, -1);
  return !inside.includes(')') && !isVariable(inside.trim());
}

function looseCall({ text, position }: Extract<JsonNode, { kind: 'string' }>): GraphsteadError {
  return invalidMutation(
    `${JSON.stringify(text)} names no variable`,
    position,
    'Write uid(variable) or val(variable). A text of this form can be set by an N-Quad.',
  );
}

/** True for what can be the name of a variable, or its beginning. */
function isVariable(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    const letter = (c | 32) >= 0x61 && (c | 32) <= 0x7a;
    const other = (c >= 0x30 && c <= 0x39) || c === 0x5f || c === 0x2d || c === 0x2e;
    if (!letter && !other && c < 128) return false;
  }
  return true;
}

function scalarOf(node: JsonNode, lang: string): ObjectReference {
  if (node.kind === 'string') {
    const uid = variableIn(node.text, 'uid', node.position);
    if (uid !== undefined) return { kind: 'variable', name: uid };
    const variable = variableIn(node.text, 'val', node.position);
    if (variable !== undefined) return { kind: 'value', variable };
    return { kind: 'literal', value: { type: 'string', value: node.text }, lang };
  }
  if (node.kind === 'bool') return { kind: 'literal', value: { type: 'bool', value: node.value }, lang };
  if (node.kind === 'number') return { kind: 'literal', value: numberValue(node.text, node.position), lang };
  throw invalidMutation('this is no value', node.position, 'Give it text, a number, true or false.');
}
