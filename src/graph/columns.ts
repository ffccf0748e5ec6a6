import type { Steps } from '../base/index.js';

/** Deltas, without the names that they are numbers of. */
export interface Columns {
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

/** Those from the given one on. */
export function columnsFrom(columns: Columns, from: number): Columns {
  if (from === 0) return columns;
  const start = columns.ends[from * 2 - 1];
  return {
    ops: columns.ops.subarray(from),
    predicates: columns.predicates.subarray(from),
    langOf: columns.langOf.subarray(from),
    uids: columns.uids.subarray(from),
    objects: columns.objects.subarray(from),
    bytes: columns.bytes.subarray(start),
    ends: columns.ends.subarray(from * 2).map((end) => end - start),
  };
}

/** One behind the other, with a stop after each. */
export function* joinColumns(parts: readonly Columns[]): Steps<Columns> {
  let [count, bytes] = [0, 0];
  for (const part of parts) {
    count += part.ops.length;
    bytes += part.bytes.length;
  }
  const joined: Columns = {
    ops: new Uint8Array(count),
    predicates: new Uint32Array(count),
    langOf: new Uint32Array(count),
    uids: new Float64Array(count),
    objects: new Float64Array(count),
    bytes: new Uint8Array(bytes),
    ends: new Uint32Array(count * 2),
  };
  let [at, byte] = [0, 0];
  for (const part of parts) {
    joined.ops.set(part.ops, at);
    joined.predicates.set(part.predicates, at);
    joined.langOf.set(part.langOf, at);
    joined.uids.set(part.uids, at);
    joined.objects.set(part.objects, at);
    joined.bytes.set(part.bytes, byte);
    for (let i = 0; i < part.ends.length; i++) joined.ends[at * 2 + i] = part.ends[i] + byte;
    at += part.ops.length;
    byte += part.bytes.length;
    yield;
  }
  return joined;
}
