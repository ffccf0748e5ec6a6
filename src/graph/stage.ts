import {
  atOnce,
  GraphsteadError,
  inSteps,
  latin1,
  type Limits,
  type MaybePromise,
  type Names,
  type Position,
  type Steps,
  TYPE_PREDICATE,
  Yielder,
} from '../base/index.js';
import {
  convert,
  convertWhole,
  decodeValue,
  encodeValue,
  type Geometry,
  hashPasswordAside,
  isPasswordHash,
  type IndexKind,
  isPlace,
  type ScalarType,
  piecesOf,
  termsOf,
  tokenPieces,
  tokensOf,
  type Value,
} from '../values/index.js';
import { LONG_VALUE } from './long-value.js';
import { ConflictSet, EVERYTHING, indexConflictKey, memberKey, predicateKey } from './conflict.js';
import type { Facets, GraphChange, GraphReader, Refused } from './contract.js';
import { DeltaLog, type NewPredicate, OP } from './delta.js';
import { encodeFacets } from './facet.js';
import { uniqueKind, uniqueViolation } from './merge/group-merge.js';
import { checkSchemaSize, mayHaveLanguages, PLAIN, type PredicateRecord, type SchemaVersion } from './schema.js';
import { MAX_UID } from './uid-list.js';
import { type Claim, UniqueClaims } from './unique-claims.js';

/** Text that one token would be made of, at most; what is longer is not worth an index. */
export const INDEXED_BYTES = 65_000;
/** UTF-8 bytes of a predicate's name. */
export const NAME_BYTES = 65_535;
/** Bytes of values that are staged without a pause: a millisecond or two. */
const STAGED_BYTES = 1024 * 1024;

/** What staging needs from its transaction. */
interface StageContext {
  readonly schema: SchemaVersion;
  readonly names: Names;
  readonly limits: Limits;
  /** predicates that the transaction creates itself */
  readonly created: ReadonlyMap<string, NewPredicate>;
  /** throws LIMIT_EXCEEDED when the transaction cannot hold these too */
  checkSize(more: DeltaLog): void;
  reader(): Promise<GraphReader>;
  readonly refused?: Refused;
}

/** Changes in the form in which they are committed, with the conflict keys that they take. */
interface Staged {
  readonly log: DeltaLog;
  readonly conflicts: ConflictSet;
}

/** Checks and converts changes against the schema. Throws before anything of them is kept. */
export async function stageChanges(context: StageContext, changes: readonly GraphChange[]): Promise<Staged> {
  const yielder = new Yielder(context.limits.yieldMs);
  const stage = new Stage(context, yielder);
  for (let i = 0; i < changes.length; i++) {
    try {
      const pending = stage.add(changes[i]);
      if (pending) await pending;
    } catch (thrown) {
      throw context.refused ? context.refused(thrown, i) : thrown;
    }
    if ((i & 1023) === 1023 || stage.addedBytes > STAGED_BYTES) {
      stage.addedBytes = 0;
      // while there are few: a node to be deleted stands for many changes
      context.checkSize(stage.finish().log);
      await yielder.due();
    }
  }
  context.checkSize(stage.finish().log);
  await stage.checkUnique();
  return stage.finish();
}

type SetValue = Extract<GraphChange, { op: 'setValue' }>;

class Stage {
  /** bytes of values since the last pause */
  addedBytes = 0;
  readonly #context: StageContext;
  readonly #yielder: Yielder;
  readonly #log = new DeltaLog();
  readonly #conflicts = new ConflictSet();
  readonly #records = new Map<string, PredicateRecord | undefined>();
  readonly #unique = new UniqueClaims();

  constructor(context: StageContext, yielder: Yielder) {
    this.#context = context;
    this.#yielder = yielder;
    this.#conflicts.shared(EVERYTHING);
  }

  finish(): Staged {
    return { log: this.#log, conflicts: this.#conflicts };
  }

  add(change: GraphChange): MaybePromise<void> {
    checkUid(change.uid);
    if (change.op === 'deleteNode') return this.#deleteNode(change.uid);
    switch (change.op) {
      case 'setValue':
        return this.#setValue(change);
      case 'setEdge':
        return this.#setEdge(change);
      case 'keepNode':
        return this.#conflicts.sharedUid(TYPE_PREDICATE, change.uid);
      default:
        return this.#delete(change);
    }
  }

  /** The predicate, or undefined when nobody has created it. */
  #record(name: string): PredicateRecord | undefined {
    if (this.#records.has(name)) return this.#records.get(name);
    checkName(name, this.#context.names);
    const existing = this.#context.schema.predicate(name);
    const created = this.#context.created.get(name);
    const record = existing ?? (created && { ...PLAIN, id: 0, ...created });
    this.#records.set(name, record);
    if (record) this.#conflicts.shared(predicateKey(name));
    return record;
  }

  #create(name: string, type: NewPredicate['type'], list: boolean, lang: boolean): PredicateRecord {
    const { schema, created, limits } = this.#context;
    const size = schema.predicates.length + created.size + this.#log.created.size;
    if (!this.#records.get(name)) checkSchemaSize('predicates', size + 1, limits);
    const draft: NewPredicate = { name, type, list, lang };
    this.#log.create(draft);
    this.#conflicts.shared(predicateKey(name));
    const record = { ...PLAIN, id: 0, ...draft };
    this.#records.set(name, record);
    return record;
  }

  #setValue(change: SetValue): MaybePromise<void> {
    const { predicate, lang, value } = change;
    const record = this.#record(predicate) ?? this.#create(predicate, value.type, change.list === true, false);
    if (record.type === 'uid') throw mismatch(record, 'scalar');
    if (lang !== '' && !record.lang) {
      if (record.id !== 0 || !mayHaveLanguages(record)) throw noLang(record);
      this.#create(predicate, record.type, record.list, true);
    }
    const password = plainPassword(record, value);
    if (password !== undefined) return this.#setPassword(record, change, password);
    return this.#keep(record, change, convertFor(record, value, this.#context));
  }

  /** A hash is much work: not on this thread. */
  async #setPassword(record: PredicateRecord, change: SetValue, text: string): Promise<void> {
    const hash = await hashPasswordAside(text).catch((thrown: unknown) => {
      throw named(record, thrown);
    });
    await this.#keep(record, change, convertFor(record, { type: 'password', value: hash }, this.#context));
  }

  #keep(record: PredicateRecord, { uid, predicate, lang, facets }: SetValue, converted: Value): MaybePromise<void> {
    // a vector without dimensions says that there is none: it takes the place of the one before, and is not kept itself
    if (converted.type === 'float32vector' && converted.value.length === 0) {
      if (record.list) return;
      return this.#delete({ op: 'deletePredicate', uid, predicate });
    }
    const stored = encodeValue(converted);
    this.addedBytes += stored.length;
    checkIndexed(record, converted, stored.length);
    this.#log.add(OP.setValue, predicate, uid, 0, lang, stored, facetBytes(facets));
    if (record.list) this.#memberConflict(record, uid, stored);
    else this.#uidConflict(record, uid);
    if (record.unique) this.#unique.set(record, uid, lang, stored);
    return this.#indexConflicts(record, converted, stored, lang);
  }

  #memberConflict(record: PredicateRecord, uid: number, member: Uint8Array): void {
    if (record.noconflict) return;
    this.#conflicts.exclusiveMember(memberKey(record.name, uid, member));
    this.#conflicts.sharedUid(record.name, uid);
  }

  #indexConflicts(record: PredicateRecord, value: Value, stored: Uint8Array, lang: string): MaybePromise<void> {
    if (!record.upsert) return;
    const steps = this.#indexConflictSteps(record, value, lang);
    return stored.length > LONG_VALUE ? inSteps(steps, () => this.#yielder.due()) : atOnce(steps);
  }

  *#indexConflictSteps(record: PredicateRecord, value: Value, lang: string): Steps<void> {
    for (const { kind } of record.indexes) {
      for (const piece of tokenPieces(kind, value, lang) ?? [tokensOf(kind, value, lang)]) {
        for (const token of piece) this.#conflicts.exclusive(indexConflictKey(record.name, kind, token));
        yield;
      }
    }
  }

  #setEdge(change: Extract<GraphChange, { op: 'setEdge' }>): void {
    const { uid, predicate, object } = change;
    checkUid(object);
    const record = this.#record(predicate) ?? this.#create(predicate, 'uid', change.single !== true, false);
    if (record.type !== 'uid') throw mismatch(record, 'uid');
    this.#log.add(OP.setEdge, predicate, uid, object, '', undefined, facetBytes(change.facets));
    this.#edgeConflict(record, uid, object);
  }

  #edgeConflict(record: PredicateRecord, uid: number, object: number): void {
    // the peer counts inside the transaction, so that two that change one count conflict
    const ofList = record.list && !(record.count && this.#context.names.dgraph);
    if (!ofList) this.#uidConflict(record, uid);
    else if (!record.noconflict) {
      this.#conflicts.exclusiveEdge(record.name, uid, object);
      this.#conflicts.sharedUid(record.name, uid);
    }
  }

  #delete(
    change: Exclude<GraphChange, { op: 'setValue' | 'setEdge' | 'deleteNode' | 'keepNode' }>,
  ): MaybePromise<void> {
    const { uid, predicate } = change;
    const record = this.#record(predicate);
    if (!record) return;
    switch (change.op) {
      case 'deleteEdge':
        this.#deleteEdge(record, uid, change.object);
        return;
      case 'deleteValue':
        return this.#deleteValue(record, change);
      case 'deleteLang':
        if (record.type === 'uid') this.#log.add(OP.deletePredicate, predicate, uid, 0, '');
        else this.#log.add(OP.deleteLang, predicate, uid, 0, change.lang);
        if (this.#mayGiveUp(record)) this.#unique.clear(record, uid, record.list ? undefined : change.lang);
        break;
      case 'deletePredicate':
        this.#log.add(OP.deletePredicate, predicate, uid, 0, '');
        if (this.#mayGiveUp(record)) this.#unique.clear(record, uid);
    }
    this.#uidConflict(record, uid);
  }

  #deleteEdge(record: PredicateRecord, uid: number, object: number): void {
    if (record.type !== 'uid') throw mismatch(record, 'uid');
    this.#log.add(OP.deleteEdge, record.name, uid, object, '');
    this.#edgeConflict(record, uid, object);
  }

  #deleteValue(record: PredicateRecord, change: Extract<GraphChange, { op: 'deleteValue' }>): MaybePromise<void> {
    if (record.type === 'uid') throw mismatch(record, 'scalar');
    if (plainPassword(record, change.value) !== undefined) {
      this.#uidConflict(record, change.uid); // no text is stored that could be it
      return;
    }
    const value = convertFor(record, change.value, this.#context);
    const stored = encodeValue(value);
    this.#log.add(OP.deleteValue, record.name, change.uid, 0, change.lang, stored);
    if (this.#mayGiveUp(record)) this.#unique.remove(record, change.uid, change.lang, stored);
    if (record.list) this.#memberConflict(record, change.uid, stored);
    else this.#uidConflict(record, change.uid);
    return this.#indexConflicts(record, value, stored, change.lang);
  }

  /** The peer refuses a value that is deleted in the same request, too. */
  #mayGiveUp({ unique }: PredicateRecord): boolean {
    return unique && !this.#context.names.dgraph;
  }

  #uidConflict(record: PredicateRecord, uid: number): void {
    if (!record.noconflict) this.#conflicts.exclusiveUid(record.name, uid);
  }

  /** The predicates of the node's types, as the transaction sees them now, and service.type itself. */
  async #deleteNode(uid: number): Promise<void> {
    const reader = await this.#context.reader();
    try {
      const typePredicate = reader.schema.predicate(TYPE_PREDICATE);
      const names = new Set<string>();
      const [types] = typePredicate ? await reader.allValues(typePredicate, Float64Array.of(uid)) : [[]];
      for (const { value } of types) {
        const type = reader.schema.type(String(decodeValue(value).value));
        for (const field of type?.fields ?? []) if (!field.startsWith('~')) names.add(field);
      }
      names.add(TYPE_PREDICATE);
      for (const predicate of names) this.#delete({ op: 'deletePredicate', uid, predicate });
    } finally {
      reader.release();
    }
  }

  /** Values of @unique predicates against what the transaction sees; the commit checks again. */
  async checkUnique(): Promise<void> {
    if (this.#unique.size === 0) return;
    const reader = await this.#context.reader();
    try {
      const claimed = new Set<string>();
      for (const claim of this.#unique.claims()) {
        const { record, lang, stored } = claim;
        const text = `${record.name}\n${lang}\n${latin1(stored)}`;
        if (claimed.has(text) || (await this.#isTaken(claim, reader))) throw uniqueViolation(record.name, stored);
        claimed.add(text);
      }
    } finally {
      reader.release();
    }
  }

  async #isTaken(claim: Claim, reader: GraphReader): Promise<boolean> {
    const { record, uid, lang, stored } = claim;
    const current = reader.schema.predicate(record.name);
    const kind = uniqueKind(record);
    const [token] = kind ? tokensOf(kind, decodeValue(stored), lang) : [];
    if (!current || !kind || !token) return false;
    const [holders] = await reader.postings(current, kind, [token]);
    const held = await reader.allValues(current, holders);
    return held.some((values, i) => {
      if (holders[i] === uid || this.#unique.givesUp(claim, holders[i])) return false;
      return values.some((one) => one.lang === lang && Buffer.compare(one.value, stored) === 0);
    });
  }
}

/** What may stand between < and > in schemas, queries and N-Quads; escapes are part of a name, as their readers take them. */
const NAME = /^(?:[^\p{Cc}\s<>"{}|^`\\]|\\u[\da-fA-F]{4}|\\U[\da-fA-F]{8})+$/u;

/** Throws INVALID_MUTATION on what cannot be the name of a predicate that clients write. */
export function checkName(name: string, names: Names): void {
  if (name.length > NAME_BYTES / 3 && Buffer.byteLength(name) > NAME_BYTES) {
    throw new GraphsteadError('INVALID_MUTATION', 'Predicate name length cannot be bigger than 2^16', {
      fix: 'Choose a shorter name.',
    });
  }
  if (!NAME.test(name)) {
    throw new GraphsteadError('INVALID_MUTATION', `${JSON.stringify(name)} is not a name of a predicate`, {
      fix: 'Leave out spaces and < > " { } | ^ ` \\: no query, schema or N-Quad could name it.',
    });
  }
  if (name.startsWith('~')) {
    throw new GraphsteadError('INVALID_MUTATION', `${name} names edges that are read backwards`, {
      fix: `Write ${name.slice(1)} from the other end: subject and object change places.`,
    });
  }
  if (name === UID_NAME) throw namedUid('INVALID_MUTATION');
  if (isReserved(name, names)) throw reserved('store predicate', name, names);
}

/** What decides whether an index can hold a value. */
interface Indexed {
  readonly name: string;
  readonly indexes: readonly { readonly kind: IndexKind }[];
}

/**
 * Throws VALUE_TOO_LARGE on a text too long to be one token, and INVALID_VALUE on a geometry that is no place: they could
 * not be found by the index.
 */
export function checkIndexed(record: PredicateRecord, value: Value, bytes: number): void {
  if (value.type === 'geo') checkPlace(record, value.value);
  if (!isTooLarge(record, value, bytes)) return;
  throw new GraphsteadError('VALUE_TOO_LARGE', `value in the mutation is too large for the index of ${record.name}`, {
    fix: `Values under an index may have ${INDEXED_BYTES} bytes; use the hash index, or none.`,
  });
}

/** Whether a value of so many bytes is a text too long to be one token. */
export function isTooLarge({ name, indexes }: Indexed, value: Value, bytes: number): boolean {
  if (bytes + name.length <= INDEXED_BYTES || typeof value.value !== 'string') return false;
  const text = value.value;
  return indexes.some(({ kind }) => {
    if (kind === 'exact') return true;
    if (kind !== 'term' && kind !== 'fulltext') return name.length > INDEXED_BYTES;
    return hasLongTerm(text, INDEXED_BYTES - name.length);
  });
}

function checkPlace({ name, indexes }: PredicateRecord, geometry: Geometry): void {
  if (isPlace(geometry) || indexes.length === 0) return;
  throw new GraphsteadError('INVALID_VALUE', `predicate ${name}: its index cannot hold a ${geometry.type}`, {
    fix: 'Give it a Point, a Polygon or a MultiPolygon, or take the index away.',
  });
}

/** UTF-8 bytes that a unit of text comes to at most when it is a part of a term: NFKC makes 18 of one. */
const TERM_BYTES_A_UNIT = 54;

/** Whether a term of the text has more bytes. Only what stands together for long can be one. */
function hasLongTerm(text: string, bytes: number): boolean {
  for (const piece of piecesOf(text)) {
    if (piece.length * TERM_BYTES_A_UNIT <= bytes) continue;
    if (termsOf(piece).some((term) => Buffer.byteLength(term) > bytes)) return true;
  }
  return false;
}

/** Throws INVALID_VALUE on what is no uid. */
export function checkUid(uid: number): void {
  if (Number.isSafeInteger(uid) && uid >= 1 && uid <= MAX_UID) return;
  throw new GraphsteadError('INVALID_VALUE', `${uid} is not a uid`, {
    fix: 'Uids are whole numbers from 1 to 2^53 - 2.',
  });
}

function facetBytes(facets: Facets | undefined): Uint8Array | undefined {
  return facets && facets.length > 0 ? encodeFacets(facets) : undefined;
}

/** A value as one of another type is kept: a fraction makes no int, except at the peer. Throws INVALID_VALUE. */
function asKept(value: Value, type: ScalarType, names: Names): Value {
  return (names.dgraph ? convert : convertWhole)(value, type);
}

/** What decides how a value is kept. */
export interface KeepTerms {
  readonly names: Names;
  readonly limits: Pick<Limits, 'vectorDimensions'>;
}

/** A value in the predicate's type; throws INVALID_VALUE with its name. */
export function convertFor(record: PredicateRecord, value: Value, { names, limits }: KeepTerms): Value {
  try {
    const converted = asKept(value, record.type as ScalarType, names);
    if (converted.type === 'float32vector') checkDimensions(converted.value.length, limits.vectorDimensions);
    return converted;
  } catch (thrown) {
    throw named(record, thrown);
  }
}

function checkDimensions(count: number, most: number): void {
  if (count <= most) return;
  throw new GraphsteadError('INVALID_VALUE', `a vector of ${count} dimensions; at most ${most} are kept`, {
    fix: 'Keep a shorter one, or raise limits.vectorDimensions.',
  });
}

function named(record: PredicateRecord, thrown: unknown): unknown {
  if (!(thrown instanceof GraphsteadError) || thrown.code !== 'INVALID_VALUE') return thrown;
  return new GraphsteadError('INVALID_VALUE', `predicate ${record.name}: ${thrown.message}`, {
    fix: thrown.fix,
    cause: thrown,
  });
}

/** The text of a password that is to be hashed: of any text under a password, and of a password under any text. */
function plainPassword({ type }: PredicateRecord, value: Value): string | undefined {
  if (type !== 'password' && value.type !== 'password') return undefined;
  if (value.type !== 'default' && value.type !== 'string' && value.type !== 'password') return undefined;
  if (type !== 'default' && type !== 'string' && type !== 'password') return undefined;
  return isPasswordHash(value.value) ? undefined : value.value;
}

/** The refusal of an edge where values lie, or of a value where edges do. */
export function mismatch(record: PredicateRecord, given: 'uid' | 'scalar'): GraphsteadError {
  return new GraphsteadError(
    'INVALID_VALUE',
    `Input for predicate "${record.name}" of type ${record.type} is ${given}`,
    {
      fix:
        given === 'uid'
          ? 'Give a literal, or change the type to uid.'
          : 'Give a node: <0x1> or _:name in N-Quads, {"uid": "0x1"} or {"uid": "_:name"} in JSON.',
    },
  );
}

/** The refusal of a language. */
export function noLang(record: PredicateRecord): GraphsteadError {
  const { name } = record;
  return new GraphsteadError(
    'INVALID_VALUE',
    `predicate ${name} should have @lang directive in schema to take a language`,
    {
      fix: mayHaveLanguages(record)
        ? `Add @lang to ${name} in the schema.`
        : 'Leave the language out: only a single text has one.',
    },
  );
}

/** Whether a stored name belongs to the service itself and may not be altered or written by clients, as a node's type may. */
export function isReserved(name: string, names: Names): boolean {
  if (name === TYPE_PREDICATE) return false;
  return name.startsWith('service.') || (names.dgraph && name.startsWith('dgraph.'));
}

/** What every node has besides its predicates: queries could not tell one of this name from it. */
export const UID_NAME = 'uid';

export function namedUid(code: 'INVALID_MUTATION' | 'INVALID_SCHEMA', position?: Position): GraphsteadError {
  return new GraphsteadError(code, 'a predicate cannot have the name uid', {
    position,
    fix: 'Choose another name: uid is what identifies a node.',
  });
}

/** The refusal of a reserved name; `what` is the attempt: "store predicate", "alter type" ... */
export function reserved(what: string, name: string, names: Names): GraphsteadError {
  const own = names.dgraph ? 'dgraph' : 'service';
  const [verb, kind] = what.split(' ');
  return new GraphsteadError(
    verb === 'alter' ? 'INVALID_SCHEMA' : 'INVALID_MUTATION',
    `Can't ${verb} ${kind} \`${names.shown(name)}\` as it is prefixed with \`${own}.\` which is reserved as the namespace ` +
      `for ${own}'s internal types/predicates.`,
    { fix: 'Choose another name.' },
  );
}
