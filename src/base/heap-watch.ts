import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Room that is kept for what is allocated between two looks, such as a table that doubles: a share of the heap, and bytes at most. */
const ROOM_SHARE = 0.3;
const ROOM_BYTES = 512 * 1024 * 1024;
/** Share of the heap below the room where collections begin to be looked at. */
const WATCHED_SHARE = 0.1;

/**
 * Tells whether the heap is full of what is in use: what goes on filling it then ends the process. How much of it is taken tells
 * nothing by itself, since V8 lets garbage lie until it needs the room; what a full collection has left does.
 */
export class HeapWatch {
  #observer: PerformanceObserver | undefined;
  #isFull = false;

  /**
   * To be asked now and then by work that holds ever more; some microseconds. Whoever is told so gives up what it holds: the next
   * one is told by the next collection.
   */
  mustGive(): boolean {
    if (!isFull(WATCHED_SHARE)) this.#rest();
    else this.#watch();
    const must = this.#isFull;
    this.#isFull = false;
    return must;
  }

  #watch(): void {
    if (this.#observer) return;
    this.#observer = new PerformanceObserver((list) => {
      if ((list.getEntries() as Collection[]).some(({ detail }) => detail?.kind === MAJOR)) this.#isFull = isFull();
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  #rest(): void {
    this.#isFull = false;
    this.#observer?.disconnect();
    this.#observer = undefined;
  }
}

/** What Node tells of a garbage collection; its types leave `detail` out. */
interface Collection extends PerformanceEntry {
  readonly detail?: { readonly kind?: number };
}

const MAJOR = constants.NODE_PERFORMANCE_GC_MAJOR;

/** @param less share of the heap that may be free beside the room */
function isFull(less = 0): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used >= limit * (1 - less) - Math.min(limit * ROOM_SHARE, ROOM_BYTES);
}
