import { assert, countBits } from '../base/index.js';
import type { UidList } from './contract.js';

// A block holds what one family stores for 32 consecutive uids. A block that outgrows a page is cut into 2^shift parts
// of equally many slots; part 0 stays under the block's own key and tells the shift. One part is:
//   shift byte, present mask (32 bits), spilled mask (32 bits), end offset of each present slot (16 bits), payloads
// A spilled slot's payload is only what is needed to find the rest.

/** Uids in one block. */
export const BLOCK_UIDS = 32;
/** Bytes above which a block is cut into parts. */
export const BLOCK_BYTES = 1_900;
/** Payloads above this leave the block. */
export const INLINE_BYTES = 512;

const HEAD = 9;
const MAX_SHIFT = 4;

/** What a block's slots hold: payloads by slot, and which of them are spilled. */
export interface Slots {
  readonly payloads: (Uint8Array | undefined)[];
  spilled: number;
}

/** The number of a uid's block. */
export function blockOf(uid: number): number {
  return Math.floor(uid / BLOCK_UIDS);
}

/** A uid's slot in its block. */
export function slotOf(uid: number): number {
  return uid & (BLOCK_UIDS - 1);
}

/** Parts that the block is cut into, told by its part 0. */
export function partCount(bytes: Uint8Array, at = 0): number {
  return 1 << bytes[at];
}

/** The part that a slot lies in. */
export function partOf(slot: number, parts: number): number {
  return Math.floor((slot * parts) / BLOCK_UIDS);
}

function mask(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** Bit s is set when slot s of this part is present. */
export function presentMask(bytes: Uint8Array): number {
  return mask(bytes, 1);
}

/** Told of a slot's payload, which lies in `bytes` from `start` to `end`; `index` is that of its uid. */
export type SlotVisitor = (index: number, bytes: Uint8Array, start: number, end: number, spilled: boolean) => void;

/** Calls `visit` for those of uids[from, to), all of one part, that have a slot in it. The part begins at `at`. */
export function visitSlots(
  bytes: Uint8Array,
  at: number,
  uids: UidList,
  from: number,
  to: number,
  visit: SlotVisitor,
): void {
  const present = mask(bytes, at + 1);
  const spilled = mask(bytes, at + 5);
  const table = at + HEAD;
  const payloads = table + countBits(present) * 2;
  for (let i = from; i < to; i++) {
    const bit = 1 << slotOf(uids[i]);
    if ((present & bit) === 0) continue;
    const rank = countBits(present & (bit - 1));
    const own = table + rank * 2;
    const start = payloads + (rank === 0 ? 0 : bytes[own - 2] | (bytes[own - 1] << 8));
    const end = payloads + (bytes[own] | (bytes[own + 1] << 8));
    visit(i, bytes, start, end, (spilled & bit) !== 0);
  }
}

/** Adds the slots of one part to `slots`; payloads are views into one copy: a copy each takes several times the memory. */
export function decodePart(given: Uint8Array, slots: Slots): void {
  const bytes = given.slice();
  const present = mask(bytes, 1);
  slots.spilled = (slots.spilled | mask(bytes, 5)) >>> 0;
  let table = HEAD;
  const payloads = HEAD + countBits(present) * 2;
  let start = payloads;
  for (let slot = 0; slot < BLOCK_UIDS; slot++) {
    if ((present & (1 << slot)) === 0) continue;
    const end = payloads + (bytes[table] | (bytes[table + 1] << 8));
    slots.payloads[slot] = bytes.subarray(start, end);
    start = end;
    table += 2;
  }
}

function partBytes(slots: Slots, from: number, to: number): number {
  let bytes = HEAD;
  for (let slot = from; slot < to; slot++) {
    const payload = slots.payloads[slot];
    if (payload) bytes += 2 + payload.length;
  }
  return bytes;
}

function encodePart(slots: Slots, from: number, to: number, shift: number): Uint8Array | undefined {
  const size = partBytes(slots, from, to);
  if (size === HEAD && from > 0) return undefined;
  const out = new Uint8Array(size);
  out[0] = shift;
  let present = 0;
  for (let slot = from; slot < to; slot++) if (slots.payloads[slot]) present |= 1 << slot;
  writeMask(out, 1, present);
  writeMask(out, 5, present & slots.spilled);
  let table = HEAD;
  const payloads = HEAD + countBits(present) * 2;
  let at = payloads;
  for (let slot = from; slot < to; slot++) {
    const payload = slots.payloads[slot];
    if (!payload) continue;
    out.set(payload, at);
    at += payload.length;
    out[table++] = (at - payloads) & 255;
    out[table++] = (at - payloads) >>> 8;
  }
  return out;
}

function writeMask(out: Uint8Array, at: number, bits: number): void {
  out[at] = bits & 255;
  out[at + 1] = (bits >>> 8) & 255;
  out[at + 2] = (bits >>> 16) & 255;
  out[at + 3] = bits >>> 24;
}

/** The parts of a block, as few as fit; an absent part is undefined. Empty for a block without slots. */
export function encodeBlock(slots: Slots): (Uint8Array | undefined)[] {
  if (slots.payloads.every((payload) => payload === undefined)) return [];
  for (let shift = 0; ; shift++) {
    const width = BLOCK_UIDS >> shift;
    let fits = true;
    for (let from = 0; from < BLOCK_UIDS && fits; from += width)
      fits = partBytes(slots, from, from + width) <= BLOCK_BYTES;
    if (!fits && shift < MAX_SHIFT) continue;
    assert(fits, 'slots above INLINE_BYTES are spilled');
    const parts: (Uint8Array | undefined)[] = [];
    for (let from = 0; from < BLOCK_UIDS; from += width) parts.push(encodePart(slots, from, from + width, shift));
    return parts;
  }
}
