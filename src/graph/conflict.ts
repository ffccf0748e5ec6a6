import { hash } from 'node:crypto';
import { STEP, type Steps } from '../base/index.js';
import type { ConflictKey, NumberedKeys } from '../commit/index.js';
import type { IndexKind } from '../values/index.js';

// Conflict keys as text. A name may hold any character but never a line break, which ends it.
//   *                            everything: exclusive for drops of everything
//   p <name>                     one predicate: exclusive when it is altered or dropped
//   u <name>\n<uid>              the values of one uid
//   o <name>\n<uid>\n<object>    one member of a list, one edge of many
//   i <name>\n<kind>\n<token>    one index key

export const EVERYTHING = '*';

const NONE: ReadonlySet<string> = new Set();

/** Tokens longer than this stand in keys as their hash. */
const TOKEN_TEXT_BYTES = 48;

export function predicateKey(name: string): string {
  return `p ${name}`;
}

/** Of a list of values; an edge is told by two numbers (ConflictSet.exclusiveEdge). */
export function memberKey(name: string, uid: number, member: Uint8Array): string {
  return `o ${name}\n${uid.toString(16)}\n${short(member)}`;
}

/** The conflict key of an index key: what queries note when they look one up (Transaction.noteRead). */
export function indexConflictKey(name: string, kind: IndexKind, token: Uint8Array): string {
  return `i ${name}\n${kind}\n${short(token)}`;
}

/** The predicate that an index conflict key is about; undefined for other keys. */
export function predicateOfIndexKey(key: string): string | undefined {
  return key.startsWith('i ') ? key.slice(2, key.indexOf('\n')) : undefined;
}

function short(bytes: Uint8Array): string {
  if (bytes.length <= TOKEN_TEXT_BYTES) return Buffer.from(bytes).toString('base64url');
  return `#${hash('sha256', bytes, 'base64url')}`;
}

/** Conflict keys as an intent takes them. */
export interface ListedConflicts {
  readonly conflicts: readonly ConflictKey[];
  readonly numbered: readonly NumberedKeys[];
}

/**
 * Collects conflict keys; a key that is exclusive once stays so. What there may be millions of is kept as it comes, and may
 * stand there more than once, or shared beside exclusive: a table of so many would take more time and memory than the
 * changes, and hold everybody while it grows.
 */
export class ConflictSet {
  /** predicates and index keys */
  readonly #keys = new Map<string, boolean>();
  /** `o` keys of values */
  readonly #members: string[] = [];
  /** by predicate, what would be `u` keys: a text each would take several times the memory of the changes */
  readonly #uids = new Map<string, { readonly shared: number[]; readonly exclusive: number[] }>();
  /** by predicate, what would be `o` keys of edges, subject and object in turn */
  readonly #edges = new Map<string, number[]>();

  get size(): number {
    let size = this.#keys.size + this.#members.length;
    for (const { shared, exclusive } of this.#uids.values()) size += shared.length + exclusive.length;
    for (const edges of this.#edges.values()) size += edges.length / 2;
    return size;
  }

  shared(key: string): void {
    if (!this.#keys.has(key)) this.#keys.set(key, false);
  }

  exclusive(key: string): void {
    this.#keys.set(key, true);
  }

  /** One member of a list of values. */
  exclusiveMember(key: string): void {
    this.#members.push(key);
  }

  /** The values of one uid under a predicate. */
  sharedUid(name: string, uid: number): void {
    const { shared } = this.#uidsOf(name);
    // edges of one node follow each other
    if (shared.length === 0 || shared[shared.length - 1] !== uid) shared.push(uid);
  }

  exclusiveUid(name: string, uid: number): void {
    const { exclusive } = this.#uidsOf(name);
    if (exclusive.length === 0 || exclusive[exclusive.length - 1] !== uid) exclusive.push(uid);
  }

  exclusiveEdge(name: string, uid: number, object: number): void {
    const edges = this.#edges.get(name);
    if (edges) edges.push(uid, object);
    else this.#edges.set(name, [uid, object]);
  }

  #uidsOf(name: string): { readonly shared: number[]; readonly exclusive: number[] } {
    let uids = this.#uids.get(name);
    if (!uids) {
      uids = { shared: [], exclusive: [] };
      this.#uids.set(name, uids);
    }
    return uids;
  }

  merge(other: ConflictSet): void {
    for (const [key, exclusive] of other.#keys) {
      if (exclusive) this.exclusive(key);
      else this.shared(key);
    }
    append(this.#members, other.#members);
    for (const [name, { shared, exclusive }] of other.#uids) {
      const mine = this.#uidsOf(name);
      append(mine.shared, shared);
      append(mine.exclusive, exclusive);
    }
    for (const [name, edges] of other.#edges) {
      const mine = this.#edges.get(name);
      if (mine) append(mine, edges);
      else this.#edges.set(name, edges.slice());
    }
  }

  /** @param exclusive keys that are held exclusively beside those that were collected */
  *list(exclusive: ReadonlySet<string> = NONE): Steps<ListedConflicts> {
    const conflicts: ConflictKey[] = [];
    for (const [key, held] of this.#keys) {
      if (!exclusive.has(key)) conflicts.push({ key, exclusive: held });
      if (conflicts.length % STEP === 0) yield;
    }
    for (const keys of [exclusive, this.#members]) {
      for (const key of keys) {
        conflicts.push({ key, exclusive: true });
        if (conflicts.length % STEP === 0) yield;
      }
    }
    return { conflicts, numbered: [...this.#numbered()] };
  }

  *#numbered(): Generator<NumberedKeys> {
    for (const [name, uids] of this.#uids) {
      const prefix = `u ${name}\n`;
      if (uids.exclusive.length > 0) yield { prefix, numbers: uids.exclusive, width: 1, exclusive: true };
      if (uids.shared.length > 0) yield { prefix, numbers: uids.shared, width: 1, exclusive: false };
    }
    for (const [name, numbers] of this.#edges) yield { prefix: `o ${name}\n`, numbers, width: 2, exclusive: true };
  }
}

function append<Item>(to: Item[], items: readonly Item[]): void {
  for (const item of items) to.push(item);
}

/** Those that are exclusive as texts. Of what there may be millions of, one may stand there twice. */
export function* exclusiveTexts({ conflicts, numbered }: ListedConflicts): Steps<readonly string[]> {
  const texts: string[] = [];
  for (const { key, exclusive } of conflicts) {
    if (exclusive) texts.push(key);
    if (texts.length % STEP === STEP - 1) yield;
  }
  for (const { prefix, numbers, width, exclusive } of numbered) {
    if (!exclusive) continue;
    for (let i = 0; i < numbers.length; i += width) {
      texts.push(textOf(prefix, numbers, i, width));
      if (texts.length % STEP === 0) yield;
    }
  }
  return texts;
}

function textOf(prefix: string, numbers: ArrayLike<number>, at: number, width: number): string {
  const second = width === 2 ? `\n${numbers[at + 1].toString(16)}` : '';
  return `${prefix}${numbers[at].toString(16)}${second}`;
}

/** All of them as texts, each once. */
export function conflictTexts({ conflicts, numbered }: ListedConflicts): readonly ConflictKey[] {
  const texts = new Map<string, boolean>();
  for (const { key, exclusive } of conflicts) texts.set(key, exclusive);
  for (const { prefix, numbers, width, exclusive } of numbered) {
    for (let i = 0; i < numbers.length; i += width) {
      const key = textOf(prefix, numbers, i, width);
      texts.set(key, exclusive || texts.get(key) === true);
    }
  }
  return Array.from(texts, ([key, exclusive]) => ({ key, exclusive }));
}
