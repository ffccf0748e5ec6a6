import { constants, performance, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Room that is kept for what is allocated between two looks, such as a table that doubles: a share of the heap, and bytes at most. */
const ROOM_SHARE = 0.3;
const ROOM_BYTES = 512 * 1024 * 1024;
/** Collections are heard from so much before the room begins, as a share of it. */
const WATCHED = 0.3;
/** So much of the room is taken before V8 has collected only where it comes late: on a busy machine it may not come in time. */
const LATE = 0.5;

/**
 * Tells whether the heap is full of what is in use: what goes on filling it then ends the process. How much of it is taken tells
 * nothing by itself, since V8 lets garbage lie until it needs the room; what a full collection has left does.
 */
export class HeapWatch {
  readonly #heap: Heap;
  /** ends the hearing of collections; undefined while nobody hears them */
  #rest: (() => void) | undefined;
  #isFull = false;
  /** when somebody was told last, by `performance.now` */
  #given = 0;

  constructor(heap: Heap = thisHeap) {
    this.#heap = heap;
  }

  /**
   * To be asked now and then by work that holds ever more; some microseconds. Whoever is told so gives up what it holds: the next
   * one is told by the next collection.
   */
  mustGive(): boolean {
    const free = this.#free();
    if (free > 1 + WATCHED) {
      this.#rest?.();
      this.#rest = undefined;
      this.#isFull = false;
    } else this.#rest ??= this.#heap.onCollected((startedAt) => this.#collected(startedAt));
    if (!this.#isFull && free > LATE) return false;
    this.#isFull = false;
    this.#given = performance.now();
    return true;
  }

  /** One that is heard of late has not seen what was given up since. */
  #collected(startedAt: number): void {
    if (startedAt > this.#given) this.#isFull = this.#free() <= 1;
  }

  /** What is free, as a multiple of the room that is kept. */
  #free(): number {
    const { used, limit } = this.#heap.size();
    return (limit - used) / Math.min(limit * ROOM_SHARE, ROOM_BYTES);
  }
}

/** Where the watch looks. */
export interface Heap {
  /** bytes, garbage counting as used */
  size(): { readonly used: number; readonly limit: number };
  /** Tells each full collection by when it began, by `performance.now`. Answers what ends that. */
  onCollected(heard: (startedAt: number) => void): () => void;
}

const thisHeap: Heap = {
  size: () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    return { used, limit };
  },
  onCollected: (heard) => {
    const observer = new PerformanceObserver((list) => {
      for (const { detail, startTime } of list.getEntries() as Collection[])
        if (detail?.kind === MAJOR) heard(startTime);
    });
    observer.observe({ entryTypes: ['gc'] });
    return () => observer.disconnect();
  },
};

/** What Node tells of a garbage collection; its types leave `detail` out. */
interface Collection extends PerformanceEntry {
  readonly detail?: { readonly kind?: number };
}

const MAJOR = constants.NODE_PERFORMANCE_GC_MAJOR;
