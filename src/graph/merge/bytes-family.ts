import { chain, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import { BLOCK_UIDS, blockOf, INLINE_BYTES, slotOf } from '../block.js';
import { decodeEntries, type EntryMap, encodeEntries } from '../entry-map.js';
import { chunkKey, type Family, spillPrefix } from '../key.js';
import type { PutKey, Source } from '../source.js';
import { readVarint, varintLength, writeVarint } from '../varint.js';
import { BlockTable } from './block-table.js';

/** Bytes of one chunk of a payload that lies outside its block. */
export const SPILL_BYTES = 3_800;

/** Number of chunks of a spilled payload, told by what its slot holds. */
export function spillChunks(marker: Uint8Array): number {
  return Math.ceil(readVarint(marker, 0) / SPILL_BYTES);
}

/** Length of a spilled payload. */
export function spillLength(marker: Uint8Array): number {
  return readVarint(marker, 0);
}

function encoded(entries: EntryMap): Uint8Array | undefined {
  return entries.size === 0 ? undefined : encodeEntries(entries);
}

/** A block family whose payloads are bytes: scalars, languages, members of lists, facets. */
export class BytesFamily {
  readonly table: BlockTable;
  /** payloads as they were before the group, of uids that it changed */
  readonly original = new Map<number, Uint8Array | undefined>();
  readonly #spilled = new Map<number, Uint8Array>();
  #wanted: number[] = [];
  /** payloads that are maps, decoded once however often a group edits them */
  readonly #maps = new Map<number, EntryMap>();
  readonly #edited = new Set<number>();

  constructor(predicate: number, family: Family) {
    this.table = new BlockTable(predicate, family);
  }

  /** Notes that a uid's payload will be read or replaced. */
  need(uid: number): void {
    this.table.need(blockOf(uid));
    this.#wanted.push(uid);
  }

  /** Fetches what was noted, payloads outside the blocks included. */
  load(source: Source): MaybePromise<void> {
    return chain(this.table.load(source), () => this.#loadSpilled(source));
  }

  #loadSpilled(source: Source): MaybePromise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    const keys = [];
    const owners: number[] = [];
    for (const uid of wanted) {
      const block = this.table.block(blockOf(uid));
      const slot = slotOf(uid);
      if ((block.spilled & (1 << slot)) === 0 || this.#spilled.has(uid) || this.original.has(uid)) continue;
      const marker = block.payloads[slot]!;
      const prefix = spillPrefix(this.table.predicate, this.table.family, uid);
      for (let i = 0; i < spillChunks(marker); i++) {
        keys.push(chunkKey(prefix, i));
        owners.push(uid);
      }
      this.#spilled.set(uid, new Uint8Array(spillLength(marker)));
    }
    if (keys.length === 0) return;
    return chain(source.getMany(keys), (chunks) => {
      let at = 0;
      for (let i = 0; i < chunks.length; i++) {
        if (i > 0 && owners[i] !== owners[i - 1]) at = 0;
        const chunk = chunks[i];
        if (!chunk) continue;
        this.#spilled.get(owners[i])!.set(chunk, at);
        at += chunk.length;
      }
    });
  }

  /** The payload as it stands in the group; the uid must have been needed and loaded. */
  get(uid: number): Uint8Array | undefined {
    if (this.#edited.delete(uid)) this.#store(uid, encoded(this.#maps.get(uid)!));
    const block = this.table.block(blockOf(uid));
    const slot = slotOf(uid);
    if ((block.spilled & (1 << slot)) !== 0 && (block.dirty & (1 << slot)) === 0) return this.#spilled.get(uid);
    return block.payloads[slot];
  }

  /** Whether the uid's payload can be read. */
  has(uid: number): boolean {
    return this.table.loaded(blockOf(uid)) !== undefined;
  }

  /** Replaces the payload; undefined or empty of a map removes it. */
  set(uid: number, payload: Uint8Array | undefined): void {
    if (!this.original.has(uid)) this.original.set(uid, this.get(uid));
    this.#maps.delete(uid);
    this.#edited.delete(uid);
    this.#store(uid, payload);
  }

  #store(uid: number, payload: Uint8Array | undefined): void {
    const block = this.table.block(blockOf(uid));
    const slot = slotOf(uid);
    block.payloads[slot] = payload;
    block.dirty |= 1 << slot;
  }

  /** One entry of a payload that is a map. */
  entry(uid: number, key: string): Uint8Array | undefined {
    return this.#entries(uid).get(key);
  }

  /** Sets or, with undefined, removes one entry of a payload that is a map. */
  edit(uid: number, key: string, value: Uint8Array | undefined): void {
    const entries = this.#entries(uid);
    if (value === undefined && !entries.has(key)) return;
    if (!this.original.has(uid)) this.original.set(uid, this.get(uid));
    if (value) entries.set(key, value);
    else entries.delete(key);
    this.#edited.add(uid);
  }

  #entries(uid: number): EntryMap {
    let entries = this.#maps.get(uid);
    if (!entries) {
      entries = decodeEntries(this.get(uid));
      this.#maps.set(uid, entries);
    }
    return entries;
  }

  /** Puts everything that changed. */
  *flush(put: PutKey): Steps<void> {
    let count = 0;
    for (const uid of [...this.#edited]) {
      if (++count % STEP === 0) yield;
      this.get(uid);
    }
    for (const block of this.table.blocks()) {
      if (block.dirty === 0) continue;
      if (++count % STEP === 0) yield;
      for (let slot = 0; slot < BLOCK_UIDS; slot++) {
        if (block.dirty & (1 << slot)) this.#settle(block, slot, put);
      }
    }
    yield* this.table.write(put);
  }

  /** Moves a payload out of its block when it is large, and takes chunks away that it no longer needs. */
  #settle(block: ReturnType<BlockTable['block']>, slot: number, put: PutKey): void {
    const bit = 1 << slot;
    const uid = block.number * BLOCK_UIDS + slot;
    const before = (block.spilled & bit) !== 0 ? Math.ceil((this.#spilled.get(uid)?.length ?? 0) / SPILL_BYTES) : 0;
    const payload = block.payloads[slot];
    const large = payload !== undefined && payload.length > INLINE_BYTES;
    const after = large ? Math.ceil(payload.length / SPILL_BYTES) : 0;
    if (before + after > 0) {
      const prefix = spillPrefix(this.table.predicate, this.table.family, uid);
      for (let i = 0; i < Math.max(before, after); i++) {
        const chunk = i < after ? payload!.slice(i * SPILL_BYTES, (i + 1) * SPILL_BYTES) : undefined;
        put(chunkKey(prefix, i), chunk);
      }
    }
    block.spilled = (large ? block.spilled | bit : block.spilled & ~bit) >>> 0;
    if (large) {
      const marker = new Uint8Array(varintLength(payload.length));
      writeVarint(marker, 0, payload.length);
      block.payloads[slot] = marker;
    }
  }
}
