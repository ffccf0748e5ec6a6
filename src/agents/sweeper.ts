import type { Clock, ClockSteps, Limits } from '../base/index.js';
import type { CommitRecord, Committer } from '../commit/index.js';
import { SHARDS, shardOf } from './keys.js';
import { agentPart, type SweepOp } from './part.js';
import { readEnded, readHead, readNow } from './reader.js';

/** stopped agents that one commit sweeps at most; the applier bounds what it takes of them */
const AT_ONCE = 16;

/** Takes away what stopped agents leave, when its time has come; its owner calls `look` now and then. */
export class Sweeper {
  /** wall milliseconds at which a shard has something to sweep; 0 where it was not looked up yet */
  readonly #next = new Float64Array(SHARDS);
  #looking: Promise<void> | undefined;
  #stopped = false;

  constructor(
    readonly committer: Pick<Committer, 'snapshot' | 'commit'>,
    readonly clock: Clock,
    /** of the same clock */
    readonly steps: ClockSteps,
    readonly limits: Pick<Limits, 'eventAgeMs'>,
    readonly failed: (error: unknown) => void,
  ) {}

  landed(records: readonly CommitRecord[]): void {
    for (const record of records) {
      for (const op of agentPart(record)?.ops ?? []) {
        if (op.op === 'turn' && op.terminate === true) this.#next[shardOf(op.id)] = 0;
      }
    }
  }

  /** Sweeps everything that may go now. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch(this.failed)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  /**
   * What a stopped agent leaves goes now, but for its events and dead letters, which are kept for their time. Resolves with the
   * turns that it had, once an agent may begin where it ended; with undefined where it was not stopped.
   */
  async clear(id: string): Promise<number | undefined> {
    for (;;) {
      const head = await readNow(this.committer, (snapshot) => readHead(snapshot, id));
      if (head?.status !== 'terminated') return undefined;
      if (head.swept === true) return head.turns;
      const ops: readonly SweepOp[] = [{ op: 'sweep', id }];
      await this.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [], reclaim: true });
    }
  }

  /** Resolves once the commit under way has landed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#looking;
  }

  /** What came about before the clock was set ahead has not grown old by that. */
  get #now(): number {
    return this.clock.wall() - this.steps.held(this.limits.eventAgeMs);
  }

  async #look(): Promise<void> {
    for (let shard = 0; shard < SHARDS; shard++) {
      while (!this.#stopped && this.#next[shard] <= this.#now) await this.#sweepOrKeep(shard);
    }
  }

  /** What failed is swept at the next look. */
  async #sweepOrKeep(shard: number): Promise<void> {
    try {
      await this.#sweepShard(shard);
    } catch (thrown) {
      this.#next[shard] = 0;
      throw thrown;
    }
  }

  async #sweepShard(shard: number): Promise<void> {
    // Set before the read: an agent that is stopped meanwhile lowers it again.
    this.#next[shard] = Number.POSITIVE_INFINITY;
    const { ended, next } = await readNow(this.committer, (snapshot) => readEnded(snapshot, shard, this.#now, AT_ONCE));
    if (ended.length > 0) {
      const ops = ended.map(({ agentId, at }): SweepOp => ({ op: 'sweep', id: agentId, at }));
      await this.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [], reclaim: true });
      this.#next[shard] = 0;
    } else if (next !== undefined) this.#next[shard] = Math.min(this.#next[shard], next);
  }
}
