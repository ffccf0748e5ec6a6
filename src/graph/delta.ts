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

const NONE: Uint8Array = new Uint8Array(0);

/** Collects deltas and gives them as one part. */
export class DeltaLog {
  readonly #names = new Map<string, number>();
  readonly #langs = new Map<string, number>([['', 0]]);
  readonly #create = new Map<string, NewPredicate>();
  #count = 0;
  #ops = new Uint8Array(64);
  #predicates = new Uint32Array(64);
  #langOf = new Uint32Array(64);
  #uids = new Float64Array(64);
  #objects = new Float64Array(64);
  #ends = new Uint32Array(128);
  #bytes = new Uint8Array(1_024);
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

  /** Appends the deltas of another log. */
  append(other: DeltaLog): void {
    const part = other.part();
    for (const draft of part.create) this.create(draft);
    for (let i = 0; i < part.ops.length; i++) {
      const { value, facets } = payloadOf(part, i);
      this.add(
        part.ops[i],
        part.names[part.predicates[i]],
        part.uids[i],
        part.objects[i],
        part.langs[part.langOf[i]],
        value,
        facets,
      );
    }
  }

  /** The deltas so far; the columns are views that later additions may leave behind, never change. */
  part(): ChangesPart {
    const count = this.#count;
    return {
      kind: 'changes',
      names: [...this.#names.keys()],
      langs: [...this.#langs.keys()],
      create: [...this.#create.values()],
      ops: this.#ops.slice(0, count),
      predicates: this.#predicates.slice(0, count),
      langOf: this.#langOf.slice(0, count),
      uids: this.#uids.slice(0, count),
      objects: this.#objects.slice(0, count),
      bytes: this.#bytes.slice(0, this.#byteCount),
      ends: this.#ends.slice(0, count * 2),
    };
  }

  #reserve(bytes: number): void {
    if (this.#count === this.#ops.length) {
      const size = this.#count * 2;
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
  return { value: part.bytes.subarray(start, middle), facets: part.bytes.subarray(middle, part.ends[2 * i + 1]) };
}
