import { GraphsteadError } from '../../base/index.js';
import type { GraphTransaction } from '../contract.js';
import { OUTSIDE } from '../graph-rpc.js';

/** Where one `graph.transaction` of a turn began to write. */
interface Mark {
  /** takes back what was written from there on */
  readonly back: Promise<() => Promise<void>>;
  /** writes of the turn before it */
  readonly before: number;
  /** its own, and those of transactions inside it */
  writes: number;
  /** settles with the last of them */
  writing: Promise<unknown>;
}

/**
 * The places in a turn's one transaction that its `graph.transaction` calls go back to when they fail, by their numbers. What
 * cannot be taken back alone takes the turn along: nothing lands in part.
 */
export class Marks {
  readonly #open = new Map<number, Mark>();
  /** which one each stands in */
  readonly #parents = new Map<number, number>();
  /** numbers of those that have failed: what they write later is no part of the turn */
  readonly #failed = new Set<number>();
  /** numbers of those that a checkpoint has made count */
  readonly #landed = new Set<number>();
  #writes = 0;
  #torn: GraphsteadError | undefined;

  /** One stands inside another: what it writes is taken back with that one, too. Throws INVALID_REQUEST where that has failed. */
  nest(id: number, parent: number): void {
    this.#parents.set(id, parent);
    this.#assertNotFailed(this.#around(id));
  }

  /** Stages a write of the one with this number. Throws INVALID_REQUEST where it has failed by now. */
  async write<T>(id: number, transaction: GraphTransaction, stage: () => Promise<T>): Promise<T> {
    const around = this.#around(id);
    this.#assertNotFailed(around);
    const before = this.#writes++;
    const marks = around.map((place) => this.#mark(place, before, transaction));
    const staged = Promise.all(marks.map(({ back }) => back)).then(stage);
    for (const mark of marks) {
      mark.writes++;
      mark.writing = Promise.allSettled([mark.writing, staged]);
    }
    return staged;
  }

  /** One has failed: what it wrote is taken back, or the turn cannot land. */
  async undo(id: number): Promise<void> {
    this.#failed.add(id);
    const mark = this.#open.get(id);
    // what was under way when it failed would be staged behind the way back
    await mark?.writing;
    const back = await mark?.back;
    if (mark === undefined || back === undefined || this.#open.get(id) !== mark) {
      if (this.#landed.has(id)) this.#torn = torn('a checkpoint has made some of it count');
      return;
    }
    if (this.#writes !== mark.before + mark.writes) {
      this.#torn = torn('its turn wrote something else meanwhile');
      return;
    }
    this.#forget(id, mark);
    try {
      await back();
    } catch (error) {
      this.#torn = torn((error as Error).message);
      throw error;
    }
  }

  /** Throws INVALID_REQUEST where one failed that could not be taken back. */
  assertWhole(): void {
    if (this.#torn !== undefined) throw this.#torn;
  }

  /** What was written counts. */
  land(): void {
    for (const id of this.#open.keys()) this.#landed.add(id);
    this.#open.clear();
  }

  /** It and those around it, from the inside out; none outside of all. */
  #around(id: number): readonly number[] {
    const around: number[] = [];
    for (let one: number | undefined = id; one !== undefined && one !== OUTSIDE; one = this.#parents.get(one))
      around.push(one);
    return around;
  }

  #mark(id: number, before: number, transaction: GraphTransaction): Mark {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const mark = { back: transaction.mark(), before, writes: 0, writing: Promise.resolve() };
    this.#open.set(id, mark);
    return mark;
  }

  /** It has written nothing, for those around it and those inside it too. */
  #forget(id: number, mark: Mark): void {
    this.#writes = mark.before;
    for (const outer of this.#around(id).slice(1)) {
      const around = this.#open.get(outer);
      if (around !== undefined) around.writes -= mark.writes;
    }
    for (const one of [...this.#open.keys()]) if (this.#around(one).includes(id)) this.#open.delete(one);
  }

  #assertNotFailed(around: readonly number[]): void {
    if (!around.some((id) => this.#failed.has(id))) return;
    throw new GraphsteadError(
      'INVALID_REQUEST',
      'a write in a graph.transaction that has failed: nothing of it lands',
      {
        fix: 'await every promise of its work before it throws: Promise.allSettled in place of Promise.all',
      },
    );
  }
}

function torn(why: string): GraphsteadError {
  const message = `graph.transaction failed, its error was caught, and what it wrote cannot be taken back: ${why}`;
  return new GraphsteadError('INVALID_REQUEST', message, {
    fix: 'await it before the next write or checkpoint of the turn, or let its error end the turn',
  });
}
