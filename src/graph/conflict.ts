import { createHash } from 'node:crypto';
import { STEP, type Steps } from '../base/index.js';
import type { ConflictKey } from '../commit/index.js';
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

export function uidKey(name: string, uid: number): string {
  return `u ${name}\n${uid.toString(16)}`;
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

/** Collects conflict keys; a key that is exclusive once stays so. */
export class ConflictSet {
  readonly #keys = new Map<string, boolean>();

  get size(): number {
    return this.#keys.size;
  }

  shared(key: string): void {
    if (!this.#keys.has(key)) this.#keys.set(key, false);
  }

  exclusive(key: string): void {
    this.#keys.set(key, true);
  }

  merge(other: ConflictSet): void {
    for (const [key, exclusive] of other.#keys) {
      if (exclusive) this.exclusive(key);
      else this.shared(key);
    }
  }

  *list(): Steps<ConflictKey[]> {
    const keys: ConflictKey[] = [];
    for (const [key, exclusive] of this.#keys) {
      keys.push({ key, exclusive });
      if (keys.length % STEP === 0) yield;
    }
    return keys;
  }
}
