import { createHash } from 'node:crypto';
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

/** Tokens longer than this stand in keys as their hash. */
const TOKEN_TEXT_BYTES = 48;

export function predicateKey(name: string): string {
  return `p ${name}`;
}

export function memberKey(name: string, uid: number, member: number | Uint8Array): string {
  return `o ${name}\n${uid.toString(16)}\n${typeof member === 'number' ? member.toString(16) : short(member)}`;
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
  return `#${createHash('sha256').update(bytes).digest('base64url')}`;
}

/** Conflict keys as an intent takes them. */
export interface ListedConflicts {
  readonly conflicts: readonly ConflictKey[];
  readonly numbered: readonly NumberedKeys[];
}

/** Collects conflict keys; a key that is exclusive once stays so. */
export class ConflictSet {
  readonly #keys = new Map<string, boolean>();
  /** by predicate, what would be `u` keys: a text each would take several times the memory of the changes */
  readonly #uids = new Map<string, Map<number, boolean>>();

  get size(): number {
    let { size } = this.#keys;
    for (const uids of this.#uids.values()) size += uids.size;
    return size;
  }

  shared(key: string): void {
    share(this.#keys, key);
  }

  exclusive(key: string): void {
    this.#keys.set(key, true);
  }

  /** The values of one uid under a predicate. */
  sharedUid(name: string, uid: number): void {
    share(this.#uidsOf(name), uid);
  }

  exclusiveUid(name: string, uid: number): void {
    this.#uidsOf(name).set(uid, true);
  }

  #uidsOf(name: string): Map<number, boolean> {
    let uids = this.#uids.get(name);
    if (!uids) {
      uids = new Map();
      this.#uids.set(name, uids);
    }
    return uids;
  }

  merge(other: ConflictSet): void {
    join(this.#keys, other.#keys);
    for (const [name, uids] of other.#uids) join(this.#uidsOf(name), uids);
  }

  *list(): Steps<ListedConflicts> {
    const conflicts: ConflictKey[] = [];
    for (const [key, exclusive] of this.#keys) {
      conflicts.push({ key, exclusive });
      if (conflicts.length % STEP === 0) yield;
    }
    const numbered: NumberedKeys[] = [];
    for (const [name, uids] of this.#uids) numbered.push(...(yield* numberedKeys(`u ${name}\n`, uids)));
    return { conflicts, numbered };
  }
}

function share<Key>(keys: Map<Key, boolean>, key: Key): void {
  if (!keys.has(key)) keys.set(key, false);
}

function join<Key>(keys: Map<Key, boolean>, more: ReadonlyMap<Key, boolean>): void {
  for (const [key, exclusive] of more) {
    if (exclusive) keys.set(key, true);
    else share(keys, key);
  }
}

function* numberedKeys(prefix: string, uids: ReadonlyMap<number, boolean>): Steps<NumberedKeys[]> {
  const [exclusives, shared]: [number[], number[]] = [[], []];
  let count = 0;
  for (const [uid, exclusive] of uids) {
    if (++count % STEP === 0) yield;
    (exclusive ? exclusives : shared).push(uid);
  }
  const all = [
    { prefix, numbers: exclusives, exclusive: true },
    { prefix, numbers: shared, exclusive: false },
  ];
  return all.filter(({ numbers }) => numbers.length > 0);
}

/** All of them as texts. */
export function conflictTexts({ conflicts, numbered }: ListedConflicts): readonly ConflictKey[] {
  const texts = numbered.flatMap(({ prefix, numbers, exclusive }) =>
    numbers.map((number) => ({ key: `${prefix}${number.toString(16)}`, exclusive })),
  );
  return [...conflicts, ...texts];
}
