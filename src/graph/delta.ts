import type { Steps } from '../base/index.js';
import type { TypeName } from '../values/index.js';
import { type Columns, columnsFrom, joinColumns } from './columns.js';

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
export interface ChangesPart extends Columns {
  readonly kind: 'changes';
  readonly names: readonly string[];
  readonly langs: readonly string[];
  readonly create: readonly NewPredicate[];
}

/** As many bytes as a typed array holds without memory of its own beside it. */
const FIRST_BYTES = 64;
/** Deltas and bytes after which what came so far is put aside, so that nothing grows that is large. */
const SEGMENT = 4_096;
const SEGMENT_BYTES = 1024 * 1024;
const NONE: Uint8Array = new Uint8Array(0);

/** Collects deltas and gives them as one part. */
export class DeltaLog {
  readonly #names = new Map<string, number>();
  readonly #langs = new Map<string, number>([['', 0]]);
  readonly #create = new Map<string, NewPredicate>();
  /** what was put aside, in order; logs share them */
  readonly #segments: Columns[] = [];
  /** that any delta names */
  #highest = 0;
  #asideCount = 0;
  #asideBytes = 0;
  // Plain arrays: most transactions change little, and typed ones cost more to make than to fill.
  #ops: number[] = [];
  #predicates: number[] = [];
  #langOf: number[] = [];
  #uids: number[] = [];
  #objects: number[] = [];
  #ends: number[] = [];
  #bytes = new Uint8Array(FIRST_BYTES);
  #byteCount = 0;

  get count(): number {
    return this.#asideCount + this.#ops.length;
  }

  get byteLength(): number {
    return this.#asideBytes + this.#byteCount + this.count * 33;
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
    if (uid > this.#highest) this.#highest = uid;
    if (object > this.#highest) this.#highest = object;
    if (value.length > 0) this.#bytes.set(value, this.#byteCount);
    this.#ends.push((this.#byteCount += value.length));
    if (facets.length > 0) this.#bytes.set(facets, this.#byteCount);
    this.#ends.push((this.#byteCount += facets.length));
    if (this.#ops.length === SEGMENT || this.#byteCount >= SEGMENT_BYTES) this.#putAside();
  }

  #putAside(): void {
    if (this.#ops.length === 0) return;
    this.#push(this.#present());
    this.#ops = [];
    this.#predicates = [];
    this.#langOf = [];
    this.#uids = [];
    this.#objects = [];
    this.#ends = [];
    this.#bytes = new Uint8Array(FIRST_BYTES);
    this.#byteCount = 0;
  }

  #push(segment: Columns): void {
    this.#segments.push(segment);
    this.#asideCount += segment.ops.length;
    this.#asideBytes += segment.bytes.length;
  }

  /** What is not put aside yet. */
  #present(): Columns {
    return {
      ops: new Uint8Array(this.#ops),
      predicates: new Uint32Array(this.#predicates),
      langOf: new Uint32Array(this.#langOf),
      uids: new Float64Array(this.#uids),
      objects: new Float64Array(this.#objects),
      bytes: this.#bytes.slice(0, this.#byteCount),
      ends: new Uint32Array(this.#ends),
    };
  }

  /** The highest uid in [from, to) that a delta names; 0 when none does. */
  highestWithin(from: number, to: number): number {
    if (this.#highest < from) return 0; // as of nearly all: only what was leased lies there
    let highest = 0;
    const look = (uids: ArrayLike<number>): void => {
      for (let i = 0; i < uids.length; i++) if (uids[i] > highest && uids[i] >= from && uids[i] < to) highest = uids[i];
    };
    for (const { uids, objects } of [...this.#segments, { uids: this.#uids, objects: this.#objects }]) {
      look(uids);
      look(objects);
    }
    return highest;
  }

  /** Appends the deltas of another log, column by column. */
  append(other: DeltaLog): void {
    for (const draft of other.#create.values()) this.create(draft);
    const names = Array.from(other.#names.keys(), (name) => numberIn(this.#names, name));
    const langs = Array.from(other.#langs.keys(), (lang) => numberIn(this.#langs, lang));
    this.#highest = Math.max(this.#highest, other.#highest);
    if (other.#segments.length > 0) this.#putAside();
    const isSame = [names, langs].every((numbers) => numbers.every((number, i) => number === i));
    for (const segment of other.#segments) this.#push(isSame ? segment : renumbered(segment, names, langs));
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
    if (this.#ops.length >= SEGMENT || this.#byteCount >= SEGMENT_BYTES) this.#putAside();
  }

  /** The deltas from the given one on, as they are now. */
  *partInSteps(from = 0): Steps<ChangesPart> {
    const [names, langs, create] = [[...this.#names.keys()], [...this.#langs.keys()], [...this.#create.values()]];
    const parts: Columns[] = [];
    let first = 0;
    for (const segment of [...this.#segments, this.#present()]) {
      const next = first + segment.ops.length;
      if (next > from) parts.push(columnsFrom(segment, Math.max(0, from - first)));
      first = next;
    }
    const columns = parts.length === 1 ? parts[0] : yield* joinColumns(parts);
    return { kind: 'changes', names, langs, create, ...columns };
  }

  #reserve(bytes: number): void {
    if (this.#byteCount + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array((this.#byteCount + bytes) * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

function renumbered(segment: Columns, names: readonly number[], langs: readonly number[]): Columns {
  return {
    ...segment,
    predicates: segment.predicates.map((predicate) => names[predicate]),
    langOf: segment.langOf.map((lang) => langs[lang]),
  };
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
