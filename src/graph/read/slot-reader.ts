import { chain, type MaybePromise } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import { blockOf, partCount, partOf, type SlotVisitor, slotOf, visitSlots } from '../block.js';
import type { ReadMetrics, UidList } from '../contract.js';
import { blockKey, chunkKey, type Family, spillPrefix } from '../key.js';
import { BlockKeys, ListedKeys } from './key-run.js';
import { spillChunks, spillLength } from '../merge/bytes-family.js';
import { type Source, visitValues } from '../source.js';
import { StoredColumn } from '../stored-column.js';

/** Payloads aligned with uids; the caller's to keep. */
export type Payloads = (Uint8Array | undefined)[];

/** Slots of ascending uids in one family of one predicate. */
export interface Wanted {
  readonly predicate: number;
  readonly family: Family;
  readonly uids: UidList;
}

/** Keys of blocks, each once; the uids of key k are those before ends[k] that belong to no key before it. */
function blockKeys({ predicate, family, uids }: Wanted): { keys: BlockKeys; ends: Uint32Array } {
  const keys = new BlockKeys(predicate, family, uids.length);
  const ends = new Uint32Array(uids.length);
  for (let i = 0; i < uids.length; ) {
    const block = blockOf(uids[i]);
    while (++i < uids.length && blockOf(uids[i]) === block);
    ends[keys.length] = i;
    keys.push(block);
  }
  return { keys, ends };
}

/** Calls `visit` for each uid that has a slot; the bytes are good during the call only. */
export function visitPayloads(
  source: Source,
  wanted: Wanted,
  metrics: ReadMetrics,
  visit: SlotVisitor,
): MaybePromise<void> {
  const { uids } = wanted;
  if (uids.length === 0) return;
  const { keys, ends } = blockKeys(wanted);
  metrics.keysRead += keys.length;
  const later: LaterParts = { keys: [], from: [], ends: [] };
  const visited = visitValues(source, keys, (k, bytes, start) => {
    const from = k === 0 ? 0 : ends[k - 1];
    const parts = partCount(bytes, start);
    if (parts === 1) visitSlots(bytes, start, uids, from, ends[k], visit);
    else visitFirst(bytes, start, wanted, from, ends[k], visit, later);
  });
  return chain(visited, () => {
    if (later.keys.length === 0) return;
    metrics.keysRead += later.keys.length;
    return visitValues(source, new ListedKeys(later.keys), (k, bytes, start) =>
      visitSlots(bytes, start, uids, later.from[k], later.ends[k], visit),
    );
  });
}

/** Parts that a first part tells of, with the uids in them. */
interface LaterParts {
  readonly keys: Key[];
  readonly from: number[];
  readonly ends: number[];
}

function visitFirst(
  bytes: Uint8Array,
  start: number,
  { predicate, family, uids }: Wanted,
  from: number,
  to: number,
  visit: SlotVisitor,
  later: LaterParts,
): void {
  const parts = partCount(bytes, start);
  for (let i = from; i < to; ) {
    const first = i;
    const part = partOf(slotOf(uids[i]), parts);
    while (++i < to && partOf(slotOf(uids[i]), parts) === part);
    if (part === 0) visitSlots(bytes, start, uids, first, i, visit);
    else {
      later.keys.push(blockKey(predicate, family, blockOf(uids[first]), part));
      later.from.push(first);
      later.ends.push(i);
    }
  }
}

/** Copies below this many bytes are made byte by byte. */
const SMALL_COPY = 48;

function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  if (end - start > SMALL_COPY) return bytes.slice(start, end);
  // of Node's pool: what V8 keeps in its own heap it moves out once somebody looks into it with a view or a Buffer
  const out = Buffer.allocUnsafe(end - start);
  for (let i = start; i < end; i++) out[i - start] = bytes[i];
  return out;
}

/** The payloads of uids in one family of one predicate, those outside their blocks included. */
export function readSlots(source: Source, wanted: Wanted, metrics: ReadMetrics): MaybePromise<Payloads> {
  const payloads: Payloads = new Array(wanted.uids.length).fill(undefined);
  const spilled: number[] = [];
  const visited = visitPayloads(source, wanted, metrics, (i, bytes, start, end, out) => {
    payloads[i] = copyOf(bytes, start, end);
    if (out) spilled.push(i);
  });
  return chain(visited, () => {
    if (spilled.length === 0) return payloads;
    const markers = spilled.map((i) => payloads[i] as Uint8Array);
    return chain(readSpills(source, wanted, spilled, markers, metrics), (wholes) => {
      for (let s = 0; s < spilled.length; s++) payloads[spilled[s]] = wholes[s];
      return payloads;
    });
  });
}

/** The same as a column, for payloads that are values. */
export function readColumn(source: Source, wanted: Wanted, metrics: ReadMetrics): MaybePromise<StoredColumn> {
  const column = new StoredColumn(wanted.uids.length);
  const spilled: number[] = [];
  const markers: Uint8Array[] = [];
  const visited = visitPayloads(source, wanted, metrics, (i, bytes, start, end, out) => {
    if (!out) {
      column.put(i, bytes, start, end);
      return;
    }
    spilled.push(i);
    markers.push(bytes.slice(start, end));
  });
  return chain(visited, () => {
    if (spilled.length === 0) return column;
    return chain(readSpills(source, wanted, spilled, markers, metrics), (wholes) => {
      for (let s = 0; s < spilled.length; s++) column.put(spilled[s], wholes[s], 0, wholes[s].length);
      return column;
    });
  });
}

/**
 * Bytes before a long payload in its buffer: what follows a value's type byte stands on a multiple of four, so that a vector
 * is read where it lies.
 */
const SPILL_PADDING = 3;

/** What stands outside of the blocks for the uids at `spilled`. */
function readSpills(
  source: Source,
  { predicate, family, uids }: Wanted,
  spilled: readonly number[],
  markers: readonly Uint8Array[],
  metrics: ReadMetrics,
): MaybePromise<Uint8Array[]> {
  const keys: Key[] = [];
  /** of each key, which payload it is of */
  const owners: number[] = [];
  for (let s = 0; s < spilled.length; s++) {
    const prefix = spillPrefix(predicate, family, uids[spilled[s]]);
    for (let chunk = 0; chunk < spillChunks(markers[s]); chunk++) {
      keys.push(chunkKey(prefix, chunk));
      owners.push(s);
    }
  }
  metrics.keysRead += keys.length;
  const wholes = markers.map((marker) => {
    return new Uint8Array(new ArrayBuffer(SPILL_PADDING + spillLength(marker)), SPILL_PADDING);
  });
  const ends = new Uint32Array(wholes.length);
  const visited = visitValues(source, new ListedKeys(keys), (k, bytes, start, end) => {
    const owner = owners[k];
    wholes[owner].set(bytes.subarray(start, end), ends[owner]);
    ends[owner] += end - start;
  });
  return chain(visited, () => wholes);
}

/** Which of the uids have a slot in the family. */
export function readPresence(source: Source, wanted: Wanted, metrics: ReadMetrics): MaybePromise<Uint8Array> {
  const present = new Uint8Array(wanted.uids.length);
  const visited = visitPayloads(source, wanted, metrics, (i) => {
    present[i] = 1;
  });
  return chain(visited, () => present);
}
