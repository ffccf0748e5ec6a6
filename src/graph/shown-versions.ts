import { type Clock, GraphsteadError, type Limits } from '../base/index.js';
import type { Snapshot } from '../store/index.js';
import type { GraphTransaction } from './transaction.js';

/** A version that queries were answered from. */
interface Shown {
  readonly snapshot: Snapshot;
  /** monotonic time */
  readonly since: number;
  /** what was begun at it again and is not over, and has to let go of it at last */
  readonly begun: Set<GraphTransaction>;
}

/**
 * Versions that a service which only reads has answered from lately, each for `limits.snapshotMs`: a client that reads again at the
 * timestamp that he was given sees the same. All who read at one of them are alike, so nothing is kept for each.
 */
export class ShownVersions {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #shown = new Map<number, Shown>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  keep(snapshot: Snapshot): void {
    if (this.#shown.has(snapshot.version)) return;
    this.#shown.set(snapshot.version, { snapshot: snapshot.again(), since: this.#clock.monotonic(), begun: new Set() });
    this.#timer ??= setTimeout(() => this.#sweep(), this.#limits.snapshotMs).unref();
  }

  /** Begins at a version again. Throws TXN_EXPIRED. */
  begin(version: number, make: (snapshot: Snapshot) => GraphTransaction): GraphTransaction {
    const shown = this.#shown.get(version);
    if (shown === undefined) throw gone(version);
    if (shown.begun.size >= this.#limits.transactions) letGoOfIdle(shown.begun);
    const transaction = make(shown.snapshot.again());
    shown.begun.add(transaction);
    return transaction;
  }

  closed(transaction: GraphTransaction): void {
    this.#shown.get(transaction.startTs)?.begun.delete(transaction);
  }

  #sweep(): void {
    const until = this.#clock.monotonic() - this.#limits.snapshotMs;
    for (const [version, shown] of this.#shown) {
      if (shown.since > until) break; // they came in order
      this.#letGo(version, shown);
    }
    const [oldest] = this.#shown.values();
    this.#timer = oldest && setTimeout(() => this.#sweep(), oldest.since - until).unref();
  }

  #letGo(version: number, { snapshot, begun }: Shown): void {
    this.#shown.delete(version);
    snapshot.release();
    for (const transaction of begun) transaction.abort();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const [version, shown] of this.#shown) this.#letGo(version, shown);
  }
}

/** Whoever goes on with one begins at its version again. */
function letGoOfIdle(begun: ReadonlySet<GraphTransaction>): void {
  for (const transaction of begun) if (!transaction.busy) transaction.abort();
}

function gone(version: number): GraphsteadError {
  return new GraphsteadError('TXN_EXPIRED', `version ${version} is not shown here any more: this service only reads`, {
    fix: 'Leave startTs out to read the newest state. Transactions are kept by the service that writes.',
  });
}
