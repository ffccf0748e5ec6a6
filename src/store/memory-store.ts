import { randomBytes } from 'node:crypto';
import { assert, GraphsteadError } from '../base/index.js';
import { checkBatch } from './check.js';
import type { ApplyOptions, Batch, Key, KeyRun, Page, Range, Snapshot, Store, ValueVisitor } from './contract.js';
import { PageList } from './page-list.js';

/** What a memory store would have on disk: open a second store on it to test a restart or a fenced writer. */
export class MemoryDisk {
  epoch = 0;
  version = 0;
  list = PageList.empty;
  readonly incarnation = randomBytes(8).toString('hex');
}

export interface MemoryStoreOptions {
  readonly disk?: MemoryDisk;
  /** reads what another store on the disk writes */
  readonly readOnly?: boolean;
  /** called before a batch lands; throwing makes the batch fail, as a full disk would */
  readonly beforeApply?: (batch: Batch) => void;
}

/** A store in memory, for tests and for `testing.ts`: the same contract, nothing durable but its MemoryDisk. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options);
}

class MemoryStore implements Store {
  readonly epoch: number;
  readonly readOnly: boolean;
  readonly #disk: MemoryDisk;
  readonly #beforeApply?: (batch: Batch) => void;
  #applying = false;
  #closed = false;
  #batches = 0;

  constructor(options: MemoryStoreOptions) {
    this.#disk = options.disk ?? new MemoryDisk();
    this.#beforeApply = options.beforeApply;
    this.readOnly = options.readOnly ?? false;
    this.epoch = this.readOnly ? this.#disk.epoch : ++this.#disk.epoch;
  }

  get incarnation(): string {
    return this.#disk.incarnation;
  }

  snapshot(): Snapshot {
    assert(!this.#closed, 'the store is closed');
    return new MemorySnapshot(this.#disk.list, this.#disk.version, () => this.#closed);
  }

  async apply(batch: Batch, { expectEpoch }: ApplyOptions): Promise<void> {
    assert(!this.#closed, 'the store is closed');
    assert(!this.#applying, 'one batch at a time');
    if (this.readOnly)
      throw new GraphsteadError('READ_ONLY_STORE', 'this store was opened to read only', {
        fix: 'Send changes to the service that writes.',
      });
    if (expectEpoch !== this.#disk.epoch) throw fenced(expectEpoch, this.#disk.epoch); // whose version is ahead, too
    checkBatch(batch, this.#disk.version);
    this.#applying = true;
    try {
      // Encoded before the first wait, visible only after it: as a store on disk does.
      const list = this.#disk.list.edit((editor) => {
        for (const { start, end } of batch.deleteRanges ?? []) editor.deleteRange(start, end);
        for (const { key, value } of batch.puts) {
          if (value === undefined) editor.delete(key);
          else editor.put(key, value);
        }
      });
      await Promise.resolve();
      this.#beforeApply?.(batch);
      if (expectEpoch !== this.#disk.epoch) throw fenced(expectEpoch, this.#disk.epoch);
      this.#disk.list = list;
      this.#disk.version = batch.version;
      this.#batches++;
    } finally {
      this.#applying = false;
    }
  }

  async backup(_directory: string): Promise<number> {
    throw new GraphsteadError('INVALID_REQUEST', 'a store in memory has no backup', {
      fix: 'Start the service with a data directory.',
    });
  }

  stats(): Readonly<Record<string, number>> {
    return { entries: this.#disk.list.size, batches: this.#batches };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/** STORE_FENCED: another writer opened the same data after us. */
export function fenced(mine: number, current?: number): GraphsteadError {
  const other = current === undefined ? '' : `, the store is at ${current}`;
  return new GraphsteadError('STORE_FENCED', `another process took over this data directory (epoch ${mine}${other})`, {
    fix: 'Run one service on one data directory; this one no longer writes.',
  });
}

class MemorySnapshot implements Snapshot {
  #list: PageList | undefined;

  constructor(
    list: PageList,
    readonly version: number,
    readonly isClosed: () => boolean,
  ) {
    this.#list = list;
  }

  getMany(keys: readonly Key[]): (Uint8Array | undefined)[] {
    const list = this.#open();
    return keys.map((key) => list.get(key)?.slice());
  }

  visit(keys: KeyRun, visit: ValueVisitor): void {
    const list = this.#open();
    for (let i = 0; i < keys.length; i++) {
      const value = list.get(keys.key(i));
      if (value !== undefined) visit(i, value, 0, value.length);
    }
  }

  get(key: Key): Uint8Array | undefined {
    return this.#open().get(key)?.slice();
  }

  range(range: Range): Page {
    return this.#open().range(range);
  }

  again(): Snapshot {
    return new MemorySnapshot(this.#open(), this.version, this.isClosed);
  }

  release(): void {
    this.#list = undefined;
  }

  #open(): PageList {
    assert(this.#list !== undefined, 'the snapshot was released');
    assert(!this.isClosed(), 'the store is closed');
    return this.#list;
  }
}
