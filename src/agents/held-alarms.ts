import { setTimeout as rest } from 'node:timers/promises';
import type { Committer } from '../commit/index.js';
import { agentOf, allHeldRange } from './keys.js';
import type { HoldOp } from './part.js';
import { readAlarm, readHead } from './reader.js';

/** alarms that one commit releases */
const AT_ONCE = 64;
/** pause where the store could not take it */
const AGAIN_MS = 5_000;

/** Alarms that rang for agents without a class wait in the store; a load that brings the class makes them due again. */
export class HeldAlarms {
  #over = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(
    readonly committer: Pick<Committer, 'snapshot' | 'commit'>,
    readonly failed: (error: unknown) => void,
  ) {}

  /** An app was loaded: what waits for one of its types is released behind it. One that is loaded meanwhile takes over. */
  look(types: readonly string[]): void {
    this.#over.abort();
    const { signal } = (this.#over = new AbortController());
    this.#work = this.#work.then(() => this.#look(new Set(types), signal));
  }

  /** Resolves once all that a load has brought back is due. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** Resolves once nothing is read or written any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#work;
  }

  async #look(types: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#release(types, signal);
        return;
      } catch (thrown) {
        this.failed(thrown);
        await rest(AGAIN_MS, undefined, { ref: false, signal }).catch(() => undefined);
      }
    }
  }

  async #release(types: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    let range = { ...allHeldRange(), limit: AT_ONCE, keysOnly: true };
    while (!signal.aborted) {
      const snapshot = this.committer.snapshot();
      const ops: HoldOp[] = [];
      let more = false;
      try {
        const { keys, next } = await snapshot.range(range);
        for (const key of keys) {
          const { id, rest } = agentOf(key);
          const alarm = rest.text();
          const head = await readHead(snapshot, id);
          const stored = types.has(head?.type ?? '') ? await readAlarm(snapshot, id, alarm) : undefined;
          if (stored !== undefined) ops.push({ op: 'release', id, alarm: { id: alarm, at: stored.at } });
        }
        more = next !== undefined;
        if (next !== undefined) range = { ...next, limit: AT_ONCE, keysOnly: true };
      } finally {
        snapshot.release();
      }
      if (ops.length > 0) await this.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
      if (!more) return;
    }
  }
}
