import { type Clock, GraphsteadError, type Limits } from '../base/index.js';
import type { Holder } from './holder.js';
import { Holders } from './holders.js';
import { expired, type GraphTransaction } from './transaction.js';

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
  /** those of clients, which may go on with them */
  readonly #held = new Holders();
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
   * Whether there is room for one that the client holds. Those that the service begins and ends itself need none: they are
   * as many as the requests and calls under way, and have to go on whatever clients leave open. Nobody makes room for a client
   * who holds more than he does.
   */
  makeRoom(client: string): boolean {
    if (this.#isRoom()) return true;
    const before = this.#idleSince();
    const own = this.#held.of(client);
    const size = own?.size ?? 0;
    // whoever holds most, and would after it still hold as many as the client: his oldest goes, even one with changes
    for (let most = this.#held.largest; !this.#isRoom() && most && most.size > size + 1; most = this.#held.largest) {
      const transaction = most.spare(before) ?? most.idle(Number.POSITIVE_INFINITY);
      if (transaction === undefined) break;
      this.#expire(transaction);
    }
    if (own) this.#expireSpare(own, before);
    if (!this.#isRoom()) for (const holder of [...this.#held.above(size)]) this.#expireSpare(holder, before);
    return this.#isRoom();
  }

  #expireSpare(holder: Holder, before: number): void {
    while (!this.#isRoom()) {
      const transaction = holder.spare(before);
      if (transaction === undefined) return;
      this.#expire(transaction);
    }
  }

  /**
   * Throws TOO_MANY_TRANSACTIONS when clients hold so many bytes of changes open that the transaction may not add to them. A client
   * who holds less than his share of them takes from the one who holds most.
   */
  assertRoomFor(transaction: GraphTransaction): void {
    const own = transaction.client === undefined ? undefined : this.#held.of(transaction.client);
    if (own === undefined) return;
    for (;;) {
      const { total, most, share } = this.#bytes(own);
      if (total < this.#limits.openChangesBytes) break;
      const isLess = most !== own && own.bytes < share;
      const spare = isLess ? most.idle(Number.POSITIVE_INFINITY, 1) : own.idle(this.#idleSince(), 1);
      if (spare === undefined) throw this.#tooManyBytes();
      this.#expire(spare);
    }
    own.changed(transaction);
  }

  /** Bytes of changes that clients hold, who of them holds most, and what each may who holds any, `own` among them. */
  #bytes(own: Holder): { readonly total: number; readonly most: Holder; readonly share: number } {
    let total = 0;
    let holders = 0;
    let most = own;
    let mostBytes = own.bytes;
    for (const holder of this.#held.all) {
      const { bytes } = holder;
      total += bytes;
      if (bytes > 0 || holder === own) holders++;
      if (bytes > mostBytes) [most, mostBytes] = [holder, bytes];
    }
    return { total, most, share: this.#limits.openChangesBytes / holders };
  }

  #tooManyBytes(): GraphsteadError {
    return new GraphsteadError(
      'TOO_MANY_TRANSACTIONS',
      `the open transactions of clients hold ${this.#limits.openChangesBytes} bytes of changes (limits.openChangesBytes)`,
      { fix: 'Commit or abort transactions, or send changes with commitNow=true.' },
    );
  }

  /** Whoever was not used after it may make room. */
  #idleSince(): number {
    return this.#clock.monotonic() - this.#limits.transactionIdleFullMs;
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

  add(transaction: GraphTransaction): void {
    this.#open.set(transaction.startTs, transaction);
    if (transaction.client !== undefined) this.#held.add(transaction, transaction.client);
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  /** The highest uid of a range that an open transaction has to do with; 0 for none. */
  highestNamed(from: number, to: number): number {
    let highest = 0;
    for (const transaction of this.#open.values()) highest = Math.max(highest, transaction.highestNamed(from, to));
    return highest;
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
    if (transaction.client !== undefined) this.#held.of(transaction.client)?.used(transaction);
    return transaction;
  }

  #unknown(startTs: number): GraphsteadError {
    if (this.#expired.get(startTs)) return expired(startTs);
    return new GraphsteadError('TXN_UNKNOWN', `there is no open transaction ${startTs}`, {
      fix: 'Begin with a request without startTs and go on with the one it answers; a query to a service that only reads begins one with ro=false.',
    });
  }

  /** A transaction is over; its outcome is kept for a while. */
  closed(transaction: GraphTransaction): void {
    if (!this.#open.delete(transaction.startTs)) return;
    if (transaction.client !== undefined) this.#held.delete(transaction, transaction.client);
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
    transaction.expire();
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
