import type { MaybePromise } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import { blockOf, findSlot, partCount, partOf, type SlotSpan, slotOf } from '../block.js';
import type { ReadMetrics, UidList } from '../contract.js';
import { blockKey, chunkKey, type Family, spillPrefix } from '../key.js';
import { spillChunks, spillLength } from '../merge/bytes-family.js';
import { chain, type Source } from '../source.js';

/** Copies below this many bytes are made byte by byte. */
const SMALL_COPY = 48;

/** Payloads aligned with uids; the caller's to keep. */
export type Payloads = (Uint8Array | undefined)[];

interface Wanted {
  readonly predicate: number;
  readonly family: Family;
  readonly uids: UidList;
}

/** Keys of the blocks of ascending uids, each once, and the key's index for every uid. */
function blockKeys({ predicate, family, uids }: Wanted): { keys: Key[]; keyOf: Uint32Array } {
  const keys: Key[] = [];
  const keyOf = new Uint32Array(uids.length);
  let last = -1;
  for (let i = 0; i < uids.length; i++) {
    const block = blockOf(uids[i]);
    if (block !== last) keys.push(blockKey(predicate, family, block, 0));
    last = block;
    keyOf[i] = keys.length - 1;
  }
  return { keys, keyOf };
}

/** Calls `visit` with the part that would hold each uid; the bytes are valid during the call only. */
function visitParts(
  source: Source,
  wanted: Wanted,
  metrics: ReadMetrics,
  visit: (index: number, part: Uint8Array) => void,
): MaybePromise<void> {
  const { predicate, family, uids } = wanted;
  if (uids.length === 0) return;
  const { keys, keyOf } = blockKeys(wanted);
  metrics.keysRead += keys.length;
  return chain(source.getMany(keys), (values) => {
    const later: number[] = [];
    for (let i = 0; i < uids.length; i++) {
      const bytes = values[keyOf[i]];
      if (!bytes) continue;
      const parts = partCount(bytes);
      if (parts === 1 || partOf(slotOf(uids[i]), parts) === 0) visit(i, bytes);
      else later.push(i, parts);
    }
    if (later.length === 0) return;
    const more: Key[] = [];
    const moreOf: number[] = [];
    let last = '';
    for (let l = 0; l < later.length; l += 2) {
      const uid = uids[later[l]];
      const part = partOf(slotOf(uid), later[l + 1]);
      const name = `${blockOf(uid)} ${part}`;
      if (name !== last) more.push(blockKey(predicate, family, blockOf(uid), part));
      last = name;
      moreOf.push(more.length - 1);
    }
    metrics.keysRead += more.length;
    return chain(source.getMany(more), (found) => {
      for (let l = 0; l < moreOf.length; l++) {
        const bytes = found[moreOf[l]];
        if (bytes) visit(later[l * 2], bytes);
      }
    });
  });
}

function copyOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  if (end - start > SMALL_COPY) return bytes.slice(start, end);
  const out = new Uint8Array(end - start);
  for (let i = start; i < end; i++) out[i - start] = bytes[i];
  return out;
}

/** The payloads of uids in one family of one predicate, those outside their blocks included. */
export function readSlots(
  source: Source,
  predicate: number,
  family: Family,
  uids: UidList,
  metrics: ReadMetrics,
): MaybePromise<Payloads> {
  const payloads: Payloads = new Array(uids.length).fill(undefined);
  const spilled: number[] = [];
  const span: SlotSpan = { start: 0, end: 0, spilled: false };
  const visited = visitParts(source, { predicate, family, uids }, metrics, (i, part) => {
    if (!findSlot(part, slotOf(uids[i]), span)) return;
    payloads[i] = copyOf(part, span.start, span.end);
    if (span.spilled) spilled.push(i);
  });
  return chain(visited, () => {
    if (spilled.length === 0) return payloads;
    return fillSpilled(source, { predicate, family, uids }, payloads, spilled, metrics);
  });
}

function fillSpilled(
  source: Source,
  { predicate, family, uids }: Wanted,
  payloads: Payloads,
  spilled: readonly number[],
  metrics: ReadMetrics,
): MaybePromise<Payloads> {
  const keys: Key[] = [];
  for (const i of spilled) {
    const prefix = spillPrefix(predicate, family, uids[i]);
    for (let chunk = 0; chunk < spillChunks(payloads[i]!); chunk++) keys.push(chunkKey(prefix, chunk));
  }
  metrics.keysRead += keys.length;
  return chain(source.getMany(keys), (chunks) => {
    let next = 0;
    for (const i of spilled) {
      const marker = payloads[i]!;
      const whole = new Uint8Array(spillLength(marker));
      let at = 0;
      for (let count = spillChunks(marker); count > 0; count--) {
        const chunk = chunks[next++];
        if (!chunk) continue;
        whole.set(chunk, at);
        at += chunk.length;
      }
      payloads[i] = whole;
    }
    return payloads;
  });
}

/** Which of the uids have a slot in the family. */
export function readPresence(
  source: Source,
  predicate: number,
  family: Family,
  uids: UidList,
  metrics: ReadMetrics,
): MaybePromise<Uint8Array> {
  const present = new Uint8Array(uids.length);
  const span: SlotSpan = { start: 0, end: 0, spilled: false };
  const visited = visitParts(source, { predicate, family, uids }, metrics, (i, part) => {
    if (findSlot(part, slotOf(uids[i]), span)) present[i] = 1;
  });
  return chain(visited, () => present);
}
