import { GraphsteadError } from '../../base/index.js';
import type { GraphTransaction } from '../contract.js';
import { OUTSIDE } from '../graph-rpc.js';

/** Where one `graph.transaction` of a turn began to write. */
interface Mark {
  /** takes back what was written from there on */
  readonly back: Promise<() => Promise<void>>;
  /** writes of the turn before it */
  readonly before: number;
  /** its own */
  writes: number;
}

/**
 * The places in a turn's one transaction that its `graph.transaction` calls go back to when they fail, by their numbers. What
 * cannot be taken back alone takes the turn along: nothing lands in part.
 */
export class Marks {
  readonly #open = new Map<number, Mark>();
  /** numbers of those that a checkpoint has made count */
  readonly #landed = new Set<number>();
  #writes = 0;
  #torn: GraphsteadError | undefined;

  /** Before a write of the one with this number. */
  async write(id: number, transaction: GraphTransaction): Promise<void> {
    const before = this.#writes++;
    if (id === OUTSIDE) return;
    const known = this.#open.get(id);
    const mark = known ?? { back: transaction.mark(), before, writes: 0 };
    this.#open.set(id, mark);
    mark.writes++;
    await mark.back;
  }

  /** One has failed: what it wrote is taken back, or the turn cannot land. */
  async undo(id: number): Promise<void> {
    const mark = this.#open.get(id);
    if (mark === undefined) {
      if (this.#landed.has(id)) this.#torn = torn('a checkpoint has made some of it count');
      return;
    }
    this.#open.delete(id);
    if (this.#writes !== mark.before + mark.writes) {
      this.#torn = torn('its turn wrote something else meanwhile');
      return;
    }
    try {
      await (await mark.back)();
    } catch (error) {
      this.#torn = torn((error as Error).message);
      throw error;
    }
    this.#writes = mark.before;
  }

  /** Throws INVALID_REQUEST where one failed that could not be taken back. */
  assertWhole(): void {
    if (this.#torn !== undefined) throw this.#torn;
  }

  /** What was written counts. */
  land(): void {
    for (const id of this.#open.keys()) this.#landed.add(id);
    this.#open.clear();
    this.#writes = 0;
  }

  clear(): void {
    this.#open.clear();
    this.#landed.clear();
    this.#writes = 0;
    this.#torn = undefined;
  }
}

function torn(why: string): GraphsteadError {
  const message = `graph.transaction failed, its error was caught, and what it wrote cannot be taken back: ${why}`;
  return new GraphsteadError('INVALID_REQUEST', message, {
    fix: 'await it before the next write or checkpoint of the turn, or let its error end the turn',
  });
}
