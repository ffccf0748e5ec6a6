import { chain, type MaybePromise, STEP, type Steps, type Yielder } from '../../base/index.js';
import type { Key } from '../../store/index.js';
import { BLOCK_UIDS, decodePart, encodeBlock, partCount, partOf, type Slots } from '../block.js';
import { blockKey, type Family } from '../key.js';
import type { PutKey, Source } from '../source.js';

/** Blocks that are fetched at once: a few milliseconds. */
const BATCH = 1_024;

/** One block in memory while a group is merged onto it. */
interface LoadedBlock extends Slots {
  readonly number: number;
  /** parts under which it lies in the store; 0 when it is new */
  parts: number;
  /** slots that changed, a bit each */
  dirty: number;
}

/** The blocks of one family of one predicate that a group touches: loaded in batches, written back as few parts. */
export class BlockTable {
  readonly #blocks = new Map<number, LoadedBlock>();
  #missing: number[] = [];
  #last: LoadedBlock | undefined;

  constructor(
    readonly predicate: number,
    readonly family: Family,
  ) {}

  /** Notes that a block will be used; `load` fetches all that were noted. */
  need(number: number): void {
    if (this.#last?.number === number) return;
    let block = this.#blocks.get(number);
    if (!block) {
      block = { number, payloads: new Array(BLOCK_UIDS), spilled: 0, parts: 0, dirty: 0 };
      this.#blocks.set(number, block);
      this.#missing.push(number);
    }
    this.#last = block;
  }

  /** A block that was needed and loaded. */
  block(number: number): LoadedBlock {
    if (this.#last?.number === number) return this.#last;
    const block = this.#blocks.get(number);
    if (!block) throw new RangeError(`block ${number} of predicate ${this.predicate} was not loaded`);
    this.#last = block;
    return block;
  }

  loaded(number: number): LoadedBlock | undefined {
    return this.#blocks.get(number);
  }

  blocks(): IterableIterator<LoadedBlock> {
    return this.#blocks.values();
  }

  /** With a yielder there are pauses when there is much to fetch. */
  load(source: Source, yielder?: Yielder): MaybePromise<void> {
    if (this.#missing.length === 0) return;
    const numbers = this.#missing;
    this.#missing = [];
    return yielder && numbers.length > BATCH
      ? this.#fetchInBatches(source, numbers, yielder)
      : this.#fetch(source, numbers);
  }

  async #fetchInBatches(source: Source, numbers: readonly number[], yielder: Yielder): Promise<void> {
    for (let from = 0; from < numbers.length; from += BATCH) {
      await yielder.due();
      await this.#fetch(source, numbers.slice(from, from + BATCH));
    }
  }

  #fetch(source: Source, numbers: readonly number[]): MaybePromise<void> {
    const keys = numbers.map((number) => blockKey(this.predicate, this.family, number, 0));
    return chain(source.getMany(keys), (values) => {
      const moreKeys: Key[] = [];
      const moreBlocks: LoadedBlock[] = [];
      for (let i = 0; i < numbers.length; i++) {
        const bytes = values[i];
        if (!bytes) continue;
        const block = this.#blocks.get(numbers[i])!;
        decodePart(bytes, block);
        block.parts = partCount(bytes);
        for (let part = 1; part < block.parts; part++) {
          moreKeys.push(blockKey(this.predicate, this.family, block.number, part));
          moreBlocks.push(block);
        }
      }
      if (moreKeys.length === 0) return;
      return chain(source.getMany(moreKeys), (parts) => {
        for (let i = 0; i < parts.length; i++) if (parts[i]) decodePart(parts[i]!, moreBlocks[i]);
      });
    });
  }

  /** Puts the parts that changed. */
  *write(put: PutKey): Steps<void> {
    let count = 0;
    for (const block of this.#blocks.values()) {
      if (block.dirty === 0) continue;
      if (++count % STEP === 0) yield;
      const parts = encodeBlock(block);
      for (let part = 0; part < Math.max(parts.length, block.parts); part++) {
        if (parts.length === block.parts && !this.#touches(block, part)) continue;
        put(blockKey(this.predicate, this.family, block.number, part), parts[part]);
      }
      block.parts = parts.length;
      block.dirty = 0;
    }
  }

  #touches(block: LoadedBlock, part: number): boolean {
    for (let slot = 0; slot < BLOCK_UIDS; slot++) {
      if (block.dirty & (1 << slot) && partOf(slot, block.parts) === part) return true;
    }
    return false;
  }
}
