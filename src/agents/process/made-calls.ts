import { callHash } from '../call-hash.js';
import type { JournalEntry, Rpc, WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';

/** What a call of a task came to. */
export interface CallOutcome {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: WireFailure;
}

interface Made {
  readonly call: Rpc;
  readonly answer: Promise<CallOutcome>;
  outcome: CallOutcome | undefined;
}

/** Makes one call. */
export async function outcomeOf(call: Rpc, make: (call: Rpc) => Promise<unknown>): Promise<CallOutcome> {
  try {
    return { ok: true, value: await make(call) };
  } catch (error) {
    return { ok: false, error: toFailure(error, 'INTERNAL') };
  }
}

/**
 * The calls of a task that all its runs share: one that changes something is made once, also when the run that asked for
 * it died meanwhile. Most tasks run once: calls are told apart only when a place comes up again.
 */
export class MadeCalls {
  /** by their place in the task */
  #made: Map<number, Made[]> | undefined;
  /** outside calls that the host made itself */
  #noted: Map<number, JournalEntry> | undefined;

  /** `differs` is told where an earlier run asked something else at this place. */
  once(call: Rpc, make: (call: Rpc) => Promise<unknown>, differs: () => void): Promise<CallOutcome> {
    this.#made ??= new Map();
    const here = this.#made.get(call.n) ?? [];
    const same = here.length === 0 ? undefined : here.find((one) => hashOf(one.call) === hashOf(call));
    if (same !== undefined) return same.answer;
    if (here.length > 0) differs();
    const answer = outcomeOf(call, make);
    const made: Made = { call, answer, outcome: undefined };
    void answer.then((outcome) => {
      made.outcome = outcome;
    });
    this.#made.set(call.n, [...here, made]);
    return answer;
  }

  note(entry: JournalEntry): void {
    this.#noted ??= new Map();
    this.#noted.set(entry.n, entry);
  }

  /** What the next run gets instead of calling again; undefined when there is nothing. */
  journal(): readonly JournalEntry[] | undefined {
    if (this.#made === undefined && this.#noted === undefined) return undefined;
    const entries = new Map(this.#noted);
    for (const [n, here] of this.#made ?? []) {
      for (const { call, outcome } of here) {
        if (outcome !== undefined) entries.set(n, { n, hash: hashOf(call), ...outcome });
      }
    }
    return entries.size === 0 ? undefined : [...entries.values()];
  }
}

function hashOf({ method, args }: Rpc): string {
  return callHash(method, args);
}
