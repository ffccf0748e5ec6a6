import { assert, GraphsteadError, type Limits } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import type { DeltaLog } from './delta.js';
import { GRAPH, type LeasePart, type LeaseResult } from './part.js';

/** Uids from here on are never leased: clients may still name them. */
const LEASE_END = 2 ** 52;
/** Uids that clients name raise the mark of leased ones up to here: nobody can use up all of them with one number. */
export const RAISE_END = 2 ** 48;

/** Issues uids from durable blocks; a block that a restart leaves behind is not issued again. */
export class UidLease {
  readonly #committer: Committer;
  readonly #limits: Limits;
  readonly #highestOpen: (from: number, to: number) => number;
  #next = 0;
  #end = 0;
  #queue: Promise<unknown> = Promise.resolve();

  /** @param highestOpen the highest uid of a range that an open transaction names, 0 for none: its commit may come later */
  constructor(committer: Committer, limits: Limits, highestOpen: (from: number, to: number) => number) {
    this.#committer = committer;
    this.#limits = limits;
    this.#highestOpen = highestOpen;
  }

  /** First of `count` consecutive fresh uids. */
  lease(count: number): Promise<number> {
    assert(Number.isSafeInteger(count) && count > 0, 'a lease is for one uid or more');
    const result = this.#queue.then(() => this.#take(count));
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Uids that clients named themselves, and what lies before them in the block, are not issued any more. */
  avoid(log: DeltaLog): void {
    if (this.#next === this.#end) return;
    const highest = log.highestWithin(this.#next, this.#end);
    if (highest >= this.#next) this.#next = highest + 1;
  }

  async #take(count: number): Promise<number> {
    // twice as many each time, which gets past any number of named ones soon
    for (let asked = Math.max(count, this.#limits.uidLease); this.#end - this.#next < count; asked *= 2) {
      const part: LeasePart = { kind: 'lease', count: asked };
      const committed = await this.#committer.commit({ startTs: 0, parts: { [GRAPH]: part }, conflicts: [] });
      const { first } = committed.results[GRAPH] as LeaseResult;
      if (first + part.count > LEASE_END) throw noneLeft();
      this.#end = first + part.count;
      this.#next = Math.max(first, this.#highestOpen(first, this.#end) + 1);
    }
    const first = this.#next;
    this.#next += count;
    return first;
  }
}

function noneLeft(): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', 'there are no uids left', {
    fix: 'Export the data and import it with --new-uids into a new data directory.',
  });
}
