import { setTimeout as pause } from 'node:timers/promises';
import type { TransactionKeys } from './contract.js';

/** milliseconds that one waits for others, and holds what others wait for: one of them may wait for it in a way that nobody sees */
const PATIENCE_MS = 10_000;
/** keys that one holds at most: one that has more meets everybody anyway */
const MOST_KEYS = 1_000;

type Keys = () => Promise<TransactionKeys>;

interface Hold {
  readonly owner: Claim;
  readonly over: Promise<void>;
}

/**
 * What turns, and functions in graph.transaction, are about to write, or must find as they read it, that have lost to others before. Whoever would touch it lets them
 * land first, so that a crowd that writes one node, or looks for nodes in one predicate and makes them, goes one after the other instead of giving up.
 */
export class Contended {
  readonly #holds = new Map<string, Hold>();

  claim(): Claim {
    return new Claim(this.#holds);
  }
}

/** What one turn or function, in all its tries, holds. */
export class Claim {
  /** a commit of it met another one */
  lost = false;
  /** what that commit had for its own, and touched */
  #lostBy: TransactionKeys | undefined;
  #letGo: (() => void) | undefined;

  constructor(readonly holds: Map<string, Hold>) {}

  get holding(): boolean {
    return this.#letGo !== undefined;
  }

  /** Before each commit: one that has lost holds what is its own, another lets the one land whose own it touches. */
  async enter(keys: Keys): Promise<void> {
    if (this.lost) await this.#hold(await keys());
    else if (this.holds.size > 0) await this.#pass(await keys());
  }

  /** A commit of these keys met another one. */
  lose(keys: TransactionKeys): void {
    this.lost = true;
    this.#lostBy = keys;
  }

  /** Before another try: goes behind those that have lost before, so that it begins with what they leave. Whether it holds its own. */
  async again(): Promise<boolean> {
    if (!this.holding && this.#lostBy !== undefined) await this.#hold(this.#lostBy);
    return this.holding;
  }

  async #pass({ touches }: TransactionKeys): Promise<void> {
    const hold = this.#blocking(touches);
    if (hold !== undefined) await within(hold.over, PATIENCE_MS);
  }

  /** Waits until nobody else holds any of the keys, and holds its own until `letGo`; goes on without where that takes too long. */
  async #hold({ own, touches }: TransactionKeys): Promise<void> {
    if (this.holding && own.every((key) => this.holds.get(key)?.owner === this)) return;
    this.letGo();
    if (own.length === 0 || own.length > MOST_KEYS) return;
    const keys = [...own, ...touches];
    const until = performance.now() + PATIENCE_MS;
    for (let hold = this.#blocking(keys); hold !== undefined; hold = this.#blocking(keys)) {
      if (!(await within(hold.over, until - performance.now()))) return;
    }
    let ended = (): void => undefined;
    const over = new Promise<void>((end) => {
      ended = end;
    });
    for (const key of own) this.holds.set(key, { owner: this, over });
    const letGo = () => {
      clearTimeout(tooLong);
      for (const key of own) if (this.holds.get(key)?.over === over) this.holds.delete(key);
      ended();
    };
    const tooLong = setTimeout(letGo, PATIENCE_MS).unref();
    this.#letGo = letGo;
  }

  letGo(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }

  #blocking(keys: readonly string[]): Hold | undefined {
    for (const key of keys) {
      const hold = this.holds.get(key);
      if (hold !== undefined && hold.owner !== this) return hold;
    }
    return undefined;
  }
}

/** Those that lost to the same commit would meet again: each waits for a time of its own. @param mostMs more from try to try */
export function apart(mostMs: number): Promise<void> {
  return pause(Math.random() * mostMs);
}

/** Whether it ended in time. */
async function within(end: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((give) => {
    timer = setTimeout(() => give(false), ms);
  });
  const inTime = await Promise.race([end.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
