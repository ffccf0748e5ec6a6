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

/** As many bytes as a typed array holds without memory of its own beside it. */
const FIRST_BYTES = 64;
const NONE: Uint8Array = new Uint8Array(0);

/** Collects deltas and gives them as one part. */
export class DeltaLog {
  readonly #names = new Map<string, number>();
  readonly #langs = new Map<string, number>([['', 0]]);
  readonly #create = new Map<string, NewPredicate>();
  // Plain arrays: most transactions change little, and typed ones cost more to make than to fill.
  readonly #ops: number[] = [];
  readonly #predicates: number[] = [];
  readonly #langOf: number[] = [];
  readonly #uids: number[] = [];
  readonly #objects: number[] = [];
  readonly #ends: number[] = [];
  #bytes = new Uint8Array(FIRST_BYTES);
  #byteCount = 0;

  get count(): number {
    return this.#ops.length;
  }

  get byteLength(): number {
    return this.#byteCount + this.#ops.length * 33;
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
    this.#ops.push(op);
    this.#predicates.push(numberIn(this.#names, predicate));
    this.#langOf.push(lang === '' ? 0 : numberIn(this.#langs, lang));
    this.#uids.push(uid);
    this.#objects.push(object);
    if (value.length > 0) this.#bytes.set(value, this.#byteCount);
    this.#ends.push((this.#byteCount += value.length));
    if (facets.length > 0) this.#bytes.set(facets, this.#byteCount);
    this.#ends.push((this.#byteCount += facets.length));
  }

  /** The highest uid in [from, to) that a delta names; 0 when none does. */
  highestWithin(from: number, to: number): number {
    let highest = 0;
    for (let i = 0; i < this.#uids.length; i++) {
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
    const names = Array.from(other.#names.keys(), (name) => numberIn(this.#names, name));
    const langs = Array.from(other.#langs.keys(), (lang) => numberIn(this.#langs, lang));
    this.#reserve(other.#byteCount);
    this.#bytes.set(other.#bytes.subarray(0, other.#byteCount), this.#byteCount);
    for (let i = 0; i < other.#ops.length; i++) {
      this.#ops.push(other.#ops[i]);
      this.#predicates.push(names[other.#predicates[i]]);
      this.#langOf.push(langs[other.#langOf[i]]);
      this.#uids.push(other.#uids[i]);
      this.#objects.push(other.#objects[i]);
    }
    for (const end of other.#ends) this.#ends.push(end + this.#byteCount);
    this.#byteCount += other.#byteCount;
  }

  /** The deltas from the given one on, as they are now. */
  part(from = 0): ChangesPart {
    const start = from === 0 ? 0 : this.#ends[from * 2 - 1];
    const rest = (column: number[]) => (from === 0 ? column : column.slice(from));
    const ends = new Uint32Array(from === 0 ? this.#ends : this.#ends.slice(from * 2));
    if (start > 0) for (let i = 0; i < ends.length; i++) ends[i] -= start;
    return {
      kind: 'changes',
      names: [...this.#names.keys()],
      langs: [...this.#langs.keys()],
      create: [...this.#create.values()],
      ops: new Uint8Array(rest(this.#ops)),
      predicates: new Uint32Array(rest(this.#predicates)),
      langOf: new Uint32Array(rest(this.#langOf)),
      uids: new Float64Array(rest(this.#uids)),
      objects: new Float64Array(rest(this.#objects)),
      bytes: this.#bytes.slice(start, this.#byteCount),
      ends,
    };
  }

  #reserve(bytes: number): void {
    if (this.#byteCount + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array((this.#byteCount + bytes) * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

function numberIn(numbers: Map<string, number>, name: string): number {
  let number = numbers.get(name);
  if (number === undefined) {
    number = numbers.size;
    numbers.set(name, number);
  }
  return number;
}

export function hasValue({ ends }: ChangesPart, i: number): boolean {
  return ends[2 * i] > (i === 0 ? 0 : ends[2 * i - 1]);
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
