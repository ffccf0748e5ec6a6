import { type Key, type KeyRun, writeUint } from '../../store/index.js';
import { blockKey, blockPrefix, type Family } from '../key.js';

/** Keys of first parts of blocks, which are never made one by one. */
export class BlockKeys implements KeyRun {
  length = 0;
  readonly #predicate: number;
  readonly #family: Family;
  readonly #prefix: Key;
  readonly #blocks: Float64Array;

  constructor(predicate: number, family: Family, most: number) {
    this.#predicate = predicate;
    this.#family = family;
    this.#prefix = blockPrefix(predicate, family);
    this.#blocks = new Float64Array(most);
  }

  push(block: number): void {
    this.#blocks[this.length++] = block;
  }

  write(index: number, target: Uint8Array, at: number): number {
    const prefix = this.#prefix;
    for (let i = 0; i < prefix.length; i++) target[at + i] = prefix[i];
    return writeUint(target, at + prefix.length, this.#blocks[index]);
  }

  key(index: number): Key {
    return blockKey(this.#predicate, this.#family, this.#blocks[index], 0);
  }
}

/** Keys that stand already. */
export class ListedKeys implements KeyRun {
  constructor(readonly keys: readonly Key[]) {}

  get length(): number {
    return this.keys.length;
  }

  write(index: number, target: Uint8Array, at: number): number {
    const key = this.keys[index];
    for (let i = 0; i < key.length; i++) target[at + i] = key[i];
    return at + key.length;
  }

  key(index: number): Key {
    return this.keys[index];
  }
}
