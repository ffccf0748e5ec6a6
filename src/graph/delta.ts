import type { TypeName } from '../values/index.js';

/** What a delta does; the numbers are stored in commit records and never change their meaning. */
export const OP = {
  setValue: 1,
  setEdge: 2,
  deleteValue: 3,
  deleteEdge: 4,
  deleteLang: 5,
  deletePredicate: 6,
} as const;

/** A predicate that did not exist when the deltas were staged. */
export interface NewPredicate {
  readonly name: string;
  readonly type: TypeName;
  readonly list: boolean;
  readonly lang: boolean;
}

/**
 * Logical deltas in columns, in the order in which the client made them: plain data that clones and stores cheaply.
 * Value i is bytes[ends[2i-1], ends[2i]), its facets are bytes[ends[2i], ends[2i+1]).
 */
export interface ChangesPart {
  readonly kind: 'changes';
  readonly names: readonly string[];
  readonly langs: readonly string[];
  readonly create: readonly NewPredicate[];
  readonly ops: Uint8Array;
  /** index into names */
  readonly predicates: Uint32Array;
  /** index into langs; langs[0] is "" */
  readonly langOf: Uint32Array;
  readonly uids: Float64Array;
  /** edges; 0 for values */
  readonly objects: Float64Array;
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

/** Deltas that a log has room for at first: most transactions change little. */
const FIRST = 16;
const NONE: Uint8Array = new Uint8Array(0);

/** Collects deltas and gives them as one part. */
export class DeltaLog {
  readonly #names = new Map<string, number>();
  readonly #langs = new Map<string, number>([['', 0]]);
  readonly #create = new Map<string, NewPredicate>();
  #count = 0;
  #ops = new Uint8Array(FIRST);
  #predicates = new Uint32Array(FIRST);
  #langOf = new Uint32Array(FIRST);
  #uids = new Float64Array(FIRST);
  #objects = new Float64Array(FIRST);
  #ends = new Uint32Array(FIRST * 2);
  #bytes = new Uint8Array(256);
  #byteCount = 0;

  get count(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#byteCount + this.#count * 33;
  }

  get predicates(): string[] {
    return [...this.#names.keys()];
  }

  get created(): ReadonlyMap<string, NewPredicate> {
    return this.#create;
  }

  create(predicate: NewPredicate): void {
    this.#create.set(predicate.name, predicate);
  }

  add(op: number, predicate: string, uid: number, object: number, lang: string, value = NONE, facets = NONE): void {
    this.#reserve(value.length + facets.length);
    const i = this.#count++;
    this.#ops[i] = op;
    this.#predicates[i] = numberIn(this.#names, predicate);
    this.#langOf[i] = numberIn(this.#langs, lang);
    this.#uids[i] = uid;
    this.#objects[i] = object;
    this.#bytes.set(value, this.#byteCount);
    this.#ends[2 * i] = this.#byteCount += value.length;
    this.#bytes.set(facets, this.#byteCount);
    this.#ends[2 * i + 1] = this.#byteCount += facets.length;
  }

  /** The highest uid in [from, to) that a delta names; 0 when none does. */
  highestWithin(from: number, to: number): number {
    let highest = 0;
    for (let i = 0; i < this.#count; i++) {
      const uid = this.#uids[i];
      const object = this.#objects[i];
      if (uid > highest && uid >= from && uid < to) highest = uid;
      if (object > highest && object >= from && object < to) highest = object;
    }
    return highest;
  }

  /** Appends the deltas of another log, column by column. */
  append(other: DeltaLog): void {
    for (const draft of other.#create.values()) this.create(draft);
    const names = Uint32Array.from(other.#names.keys(), (name) => numberIn(this.#names, name));
    const langs = Uint32Array.from(other.#langs.keys(), (lang) => numberIn(this.#langs, lang));
    const [from, more] = [this.#count, other.#count];
    this.#reserve(other.#byteCount, more);
    this.#ops.set(other.#ops.subarray(0, more), from);
    this.#uids.set(other.#uids.subarray(0, more), from);
    this.#objects.set(other.#objects.subarray(0, more), from);
    this.#bytes.set(other.#bytes.subarray(0, other.#byteCount), this.#byteCount);
    for (let i = 0; i < more; i++) {
      this.#predicates[from + i] = names[other.#predicates[i]];
      this.#langOf[from + i] = langs[other.#langOf[i]];
    }
    for (let i = 0; i < more * 2; i++) this.#ends[from * 2 + i] = other.#ends[i] + this.#byteCount;
    this.#count += more;
    this.#byteCount += other.#byteCount;
  }

  /** The deltas from the given one on, as they are now. */
  part(from = 0): ChangesPart {
    const count = this.#count;
    const start = from === 0 ? 0 : this.#ends[from * 2 - 1];
    return {
      kind: 'changes',
      names: [...this.#names.keys()],
      langs: [...this.#langs.keys()],
      create: [...this.#create.values()],
      ops: this.#ops.slice(from, count),
      predicates: this.#predicates.slice(from, count),
      langOf: this.#langOf.slice(from, count),
      uids: this.#uids.slice(from, count),
      objects: this.#objects.slice(from, count),
      bytes: this.#bytes.slice(start, this.#byteCount),
      ends: this.#ends.slice(from * 2, count * 2).map((end) => end - start),
    };
  }

  #reserve(bytes: number, deltas = 1): void {
    if (this.#count + deltas > this.#ops.length) {
      const size = (this.#count + deltas) * 2;
      this.#ops = grown(this.#ops, new Uint8Array(size));
      this.#predicates = grown(this.#predicates, new Uint32Array(size));
      this.#langOf = grown(this.#langOf, new Uint32Array(size));
      this.#uids = grown(this.#uids, new Float64Array(size));
      this.#objects = grown(this.#objects, new Float64Array(size));
      this.#ends = grown(this.#ends, new Uint32Array(size * 2));
    }
    if (this.#byteCount + bytes > this.#bytes.length) {
      this.#bytes = grown(this.#bytes, new Uint8Array((this.#byteCount + bytes) * 2));
    }
  }
}

function grown<T extends Uint8Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function numberIn(numbers: Map<string, number>, name: string): number {
  let number = numbers.get(name);
  if (number === undefined) {
    number = numbers.size;
    numbers.set(name, number);
  }
  return number;
}

/** The value and the facets of delta i; empty where it has none. */
export function payloadOf(part: ChangesPart, i: number): { value: Uint8Array; facets: Uint8Array } {
  const start = i === 0 ? 0 : part.ends[2 * i - 1];
  const middle = part.ends[2 * i];
  const end = part.ends[2 * i + 1];
  return {
    value: start === middle ? NONE : part.bytes.subarray(start, middle),
    facets: middle === end ? NONE : part.bytes.subarray(middle, end),
  };
}
