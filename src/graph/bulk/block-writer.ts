import { BLOCK_UIDS, blockOf, encodeBlock, INLINE_BYTES, type Slots, slotOf } from '../block.js';
import { blockKey, chunkKey, type Family, spillPrefix } from '../key.js';
import { SPILL_BYTES } from '../merge/bytes-family.js';
import type { PutKey } from '../source.js';
import { varintLength, writeVarint } from '../varint.js';

/** Writes the blocks of one family of one predicate, uid by uid, ascending. */
export class BlockWriter {
  readonly #predicate: number;
  readonly #family: Family;
  readonly #put: PutKey;
  #slots: { payloads: (Uint8Array | undefined)[]; spilled: number } = emptySlots();
  #block = -1;

  constructor(predicate: number, family: Family, put: PutKey) {
    this.#predicate = predicate;
    this.#family = family;
    this.#put = put;
  }

  /** What stands in front of chunks of the uid that lie outside its block. */
  prefix(uid: number): Uint8Array {
    return spillPrefix(this.#predicate, this.#family, uid);
  }

  /** Bytes of a value, a map of languages, members or facets; large ones go behind keys of their own. */
  bytes(uid: number, payload: Uint8Array): void {
    this.root(uid, payload.length > INLINE_BYTES ? this.#spill(uid, payload) : payload);
    if (payload.length > INLINE_BYTES) this.#slots.spilled = (this.#slots.spilled | (1 << slotOf(uid))) >>> 0;
  }

  /** The root of a posting list. */
  root(uid: number, root: Uint8Array): void {
    const block = blockOf(uid);
    if (block !== this.#block) {
      this.flush();
      this.#block = block;
    }
    this.#slots.payloads[slotOf(uid)] = root;
  }

  #spill(uid: number, payload: Uint8Array): Uint8Array {
    const prefix = this.prefix(uid);
    for (let i = 0; i * SPILL_BYTES < payload.length; i++) {
      this.#put(chunkKey(prefix, i), payload.slice(i * SPILL_BYTES, (i + 1) * SPILL_BYTES));
    }
    const marker = new Uint8Array(varintLength(payload.length));
    writeVarint(marker, 0, payload.length);
    return marker;
  }

  /** Writes the block under way. */
  flush(): void {
    if (this.#block < 0) return;
    encodeBlock(this.#slots as Slots).forEach((part, i) => {
      if (part) this.#put(blockKey(this.#predicate, this.#family, this.#block, i), part);
    });
    this.#slots = emptySlots();
    this.#block = -1;
  }
}

function emptySlots(): { payloads: (Uint8Array | undefined)[]; spilled: number } {
  return { payloads: new Array<Uint8Array | undefined>(BLOCK_UIDS).fill(undefined), spilled: 0 };
}
