import { type Clock, GraphsteadError, type Limits } from '../base/index.js';
import type { GraphTransaction } from './transaction.js';

/** Transactions that are over and remembered: of those that ended, so that a repeated commit gives the first answer, and of those that expired. */
const KEPT = 4_096;
/** Milliseconds between two looks at what may be released or has expired. */
const SWEEP_MS = 1_000;

/** Values of the last start timestamps that were given some: as many as `KEPT`. */
class Lately<T> {
  readonly #values = new Map<number, T>();
  /** in a ring: a Map whose oldest entries go one by one is searched for its first one ever longer */
  readonly #order = new Float64Array(KEPT);
  #next = 0;

  get(startTs: number): T | undefined {
    return this.#values.get(startTs);
  }

  set(startTs: number, value: T): void {
    this.#values.delete(this.#order[this.#next]);
    this.#values.set(startTs, value);
    this.#order[this.#next] = startTs;
    this.#next = (this.#next + 1) % KEPT;
  }

  delete(startTs: number): void {
    this.#values.delete(startTs);
  }
}

/** The open transactions of one graph, by start timestamp. */
export class TransactionTable {
  readonly #open = new Map<number, GraphTransaction>();
  /** those of clients, which may go on with them, in the order of last use */
  readonly #held = new Map<number, GraphTransaction>();
  /** start timestamps of those that were given changes */
  readonly #changed = new Set<number>();
  /** a look for one that may go, which goes on where the last one ended: from the front, it would pass all that are gone */
  #look = this.#held.values();
  readonly #finished = new Lately<GraphTransaction>();
  readonly #expired = new Lately<true>();
  readonly #clock: Clock;
  readonly #limits: Limits;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Whether there is room for one that a client holds. Those that the service begins and ends itself need none: they are
   * as many as the requests and calls under way, and have to go on whatever clients leave open.
   */
  makeRoom(): boolean {
    if (this.#isRoom()) return true;
    // where most were left open with changes, the few others are those that clients go on with
    if (this.#changed.size * 2 > this.#limits.transactions) this.#expireIdle(() => this.#isRoom());
    // one that has changed nothing can be forgotten: its client begins again and loses no work
    for (let left = this.#held.size; left > 0 && !this.#isRoom(); left--) {
      const transaction = this.#lookOn();
      if (!transaction.dirty) this.#expire(transaction);
    }
    this.#expireIdle(() => this.#isRoom());
    return this.#isRoom();
  }

  /** Throws TOO_MANY_TRANSACTIONS when clients hold so many bytes of changes open that the transaction may not add to them. */
  assertRoomFor(transaction: GraphTransaction): void {
    if (!transaction.held) return;
    if (!this.#hasBytes()) this.#expireIdle(() => this.#hasBytes());
    if (this.#hasBytes()) {
      this.#changed.add(transaction.startTs);
      return;
    }
    throw new GraphsteadError(
      'TOO_MANY_TRANSACTIONS',
      `the open transactions of clients hold ${this.#limits.openChangesBytes} bytes of changes (limits.openChangesBytes)`,
      { fix: 'Commit or abort transactions, or send changes with commitNow=true.' },
    );
  }

  #hasBytes(): boolean {
    let bytes = 0;
    for (const { stagedBytes } of this.#held.values()) bytes += stagedBytes;
    return bytes < this.#limits.openChangesBytes;
  }

  /** Those that idle longest go first, until it is enough. */
  #expireIdle(isEnough: () => boolean): void {
    const now = this.#clock.monotonic();
    for (const transaction of this.#held.values()) {
      if (isEnough() || now - transaction.touched < this.#limits.transactionIdleFullMs) return;
      if (!transaction.busy) this.#expire(transaction);
    }
  }

  #isRoom(): boolean {
    return this.#held.size < this.#limits.transactions;
  }

  tooMany(): GraphsteadError {
    return new GraphsteadError(
      'TOO_MANY_TRANSACTIONS',
      `clients hold ${this.#limits.transactions} transactions open (limits.transactions)`,
      { fix: 'Commit or abort transactions, or send changes with commitNow=true.' },
    );
  }

  /** Where none is open it does not end. */
  #lookOn(): GraphTransaction {
    for (;;) {
      const next = this.#look.next();
      if (!next.done) return next.value;
      this.#look = this.#held.values();
    }
  }

  add(transaction: GraphTransaction): void {
    this.#open.set(transaction.startTs, transaction);
    if (transaction.held) this.#held.set(transaction.startTs, transaction);
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /** Throws TXN_UNKNOWN, TXN_EXPIRED, FORBIDDEN (wrong hash). */
  get(startTs: number, hash?: string): GraphTransaction {
    const open = this.#open.get(startTs);
    if (open) this.#lookAt(open, this.#clock.monotonic());
    const transaction = this.#open.get(startTs) ?? this.#finished.get(startTs);
    if (!transaction) throw this.#unknown(startTs);
    if (hash !== undefined && hash !== '' && hash !== transaction.hash) {
      throw new GraphsteadError('FORBIDDEN', `the hash does not belong to transaction ${startTs}`, {
        fix: 'Send the hash that came with the start timestamp.',
      });
    }
    if (this.#held.delete(startTs)) this.#held.set(startTs, transaction);
    return transaction;
  }

  #unknown(startTs: number): GraphsteadError {
    if (this.#expired.get(startTs)) {
      return new GraphsteadError(
        'TXN_EXPIRED',
        `transaction ${startTs} is gone: it was idle too long, or clients held too many`,
        {
          fix: 'Run the whole operation again in a new transaction.',
        },
      );
    }
    return new GraphsteadError('TXN_UNKNOWN', `there is no open transaction ${startTs}`, {
      fix: 'Begin with a request without startTs and go on with the one it answers.',
    });
  }

  /** A transaction is over; its outcome is kept for a while. */
  closed(transaction: GraphTransaction): void {
    if (!this.#open.delete(transaction.startTs)) return;
    this.#held.delete(transaction.startTs);
    this.#changed.delete(transaction.startTs);
    // one that no client holds has nothing to be repeated unless it was committed
    if (transaction.held || transaction.committing) this.#finished.set(transaction.startTs, transaction);
    else this.#expired.set(transaction.startTs, true);
    if (this.#open.size === 0) this.#stop();
  }

  /** Releases snapshots held too long and lets idle transactions expire. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const transaction of this.#open.values()) this.#lookAt(transaction, now);
  }

  #lookAt(transaction: GraphTransaction, now: number): void {
    if (now - transaction.touched >= this.#limits.transactionIdleMs) this.#expire(transaction);
    else transaction.releaseSnapshot(now);
  }

  #expire(transaction: GraphTransaction): void {
    transaction.abort();
    this.#finished.delete(transaction.startTs);
    this.#expired.set(transaction.startTs, true);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  close(): void {
    for (const transaction of [...this.#open.values()]) transaction.abort();
    this.#stop();
  }
}
