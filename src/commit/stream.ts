import { GraphsteadError } from '../base/index.js';
import type { Snapshot } from '../store/index.js';
import { readState } from './commit-state.js';
import type { CommitRecord } from './contract.js';
import { readRecords } from './record.js';
import { tell } from './tell.js';

const RECENT = 1_024;
const RECENT_BYTES = 16 * 1024 * 1024;

type Listener = (records: readonly CommitRecord[]) => void;

/** Where what landed is read again. */
interface Landed {
  snapshot(): Snapshot;
}

/** The commit stream: records that landed, to listeners at once and to tails from the store on. */
export class RecordStream {
  readonly #store: Landed;
  readonly #listeners = new Set<Listener>();
  readonly #sleepers = new Set<() => void>();
  /** the last records, so that a tail that keeps up does not read the store; all those above `#recentAfter` */
  #recent: CommitRecord[] = [];
  #recentAfter: number;
  #recentBytes = 0;
  /** that are being read: nothing is kept for nobody, since what stays for long costs every collection of garbage */
  #tails = 0;
  #closed = false;

  constructor(store: Landed, lastCommitTs: number) {
    this.#store = store;
    this.#recentAfter = lastCommitTs;
  }

  /**
   * Tells everyone about the records of a group that is on disk; `bytes` is what they take together. Without it they are not
   * kept: tails read them from the store.
   */
  publish(records: readonly CommitRecord[], bytes?: number): void {
    if (records.length === 0) return;
    this.#remember(records, bytes);
    for (const listener of this.#listeners) tell(() => listener(records));
    this.#wake();
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async *tail(after: number, signal: AbortSignal): AsyncGenerator<CommitRecord> {
    this.#tails++;
    try {
      yield* this.#tail(after, signal);
    } finally {
      this.#tails--;
    }
  }

  async *#tail(after: number, signal: AbortSignal): AsyncGenerator<CommitRecord> {
    let position = after;
    while (!signal.aborted) {
      const recent = this.#recentFrom(position);
      const pages = recent === undefined ? this.#stored(position) : [recent];
      let found = false;
      for await (const page of pages) {
        for (const record of page) {
          if (signal.aborted) return;
          yield record;
          position = record.commitTs;
          found = true;
        }
      }
      if (found) continue;
      if (this.#closed) return;
      await this.#sleep(position, signal);
    }
  }

  /** Ends all tails once they have told everything. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #remember(records: readonly CommitRecord[], bytes: number | undefined): void {
    if (this.#tails === 0 || bytes === undefined) {
      this.#recent = [];
      this.#recentBytes = 0;
      this.#recentAfter = records[records.length - 1].commitTs;
      return;
    }
    this.#recent.push(...records);
    this.#recentBytes += bytes;
    if (this.#recentBytes > RECENT_BYTES) this.#forget(this.#recent.length);
    else if (this.#recent.length > 2 * RECENT) this.#forget(this.#recent.length - RECENT);
  }

  /** Drops so many of the oldest recent records; their bytes are counted as if all were of one size. */
  #forget(count: number): void {
    this.#recentAfter = this.#recent[count - 1].commitTs;
    this.#recentBytes -= (this.#recentBytes * count) / this.#recent.length;
    this.#recent = this.#recent.slice(count);
  }

  #recentFrom(position: number): readonly CommitRecord[] | undefined {
    if (position < this.#recentAfter) return undefined;
    let low = 0;
    let high = this.#recent.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#recent[middle].commitTs <= position) low = middle + 1;
      else high = middle;
    }
    return this.#recent.slice(low);
  }

  /** Pages from the store; each through a snapshot of its own, since a reader may take its time between them. */
  async *#stored(after: number): AsyncGenerator<CommitRecord[]> {
    let position = after;
    for (;;) {
      const page = await this.#page(position);
      if (page.length === 0) return;
      yield page;
      position = page[page.length - 1].commitTs;
      if (position >= this.#recentAfter) return;
    }
  }

  async #page(after: number): Promise<CommitRecord[]> {
    const snapshot = this.#store.snapshot();
    try {
      // what is gone is asked of the very snapshot that is read: the writer's own figure may still be the one before
      const { trimmed } = await readState(snapshot);
      if (after < trimmed) throw gap(after, trimmed);
      for await (const page of readRecords(snapshot, after)) return page;
      return [];
    } finally {
      snapshot.release();
    }
  }

  #sleep(position: number, signal: AbortSignal): Promise<void> {
    if (this.#recentFrom(position)?.length || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#sleepers.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#sleepers]) wake();
  }
}

function gap(after: number, trimmed: number): GraphsteadError {
  return new GraphsteadError(
    'EVENT_GAP',
    `changes after ${after} are no longer kept, the oldest is behind ${trimmed}`,
    {
      fix: 'Read the present state again and go on from there; raise limits.recordAgeMs or limits.recordBytes.',
      details: { after, trimmed },
    },
  );
}
