import { callHash } from '../call-hash.js';
import type { JournalEntry, Rpc, WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';

/** What a call of a task came to. */
interface CallOutcome {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: WireFailure;
}

/** Makes one call. */
export async function outcomeOf(call: Rpc, make: (call: Rpc) => Promise<unknown>): Promise<CallOutcome> {
  try {
    return { ok: true, value: await make(call) };
  } catch (error) {
    return { ok: false, error: toFailure(error, 'INTERNAL') };
  }
}

class Made {
  readonly answer: Promise<CallOutcome>;
  outcome: CallOutcome | undefined;

  constructor(
    readonly call: Rpc,
    make: (call: Rpc) => Promise<unknown>,
  ) {
    this.answer = this.#make(make);
  }

  async #make(make: (call: Rpc) => Promise<unknown>): Promise<CallOutcome> {
    const outcome = await outcomeOf(this.call, make);
    this.outcome = outcome;
    return outcome;
  }
}

const NONE: readonly Made[] = [];

/**
 * The calls of a task that all its runs share: one that changes something is made once, also when the run that asked for
 * it died meanwhile. Most tasks run once: calls are told apart only when a place comes up again.
 */
export class MadeCalls {
  /** in the order in which they were asked for: a task has few */
  readonly #made: Made[] = [];
  /** outside calls that the host made itself */
  #noted: Map<number, JournalEntry> | undefined;

  /** `differs` is told where an earlier run asked something else at this place. */
  once(call: Rpc, make: (call: Rpc) => Promise<unknown>, differs: () => void): Promise<CallOutcome> {
    const here = this.#made.length === 0 ? NONE : this.#made.filter((one) => one.call.n === call.n);
    const same = here.length === 0 ? undefined : here.find((one) => hashOf(one.call) === hashOf(call));
    if (same !== undefined) return same.answer;
    if (here.length > 0) differs();
    const made = new Made(call, make);
    this.#made.push(made);
    return made.answer;
  }

  note(entry: JournalEntry): void {
    this.#noted ??= new Map();
    this.#noted.set(entry.n, entry);
  }

  /** What the next run gets instead of calling again; undefined when there is nothing. */
  journal(): readonly JournalEntry[] | undefined {
    if (this.#made.length === 0 && this.#noted === undefined) return undefined;
    const entries = new Map(this.#noted);
    for (const { call, outcome } of this.#made) {
      if (outcome !== undefined) entries.set(call.n, { n: call.n, hash: hashOf(call), ...outcome });
    }
    return entries.size === 0 ? undefined : [...entries.values()];
  }
}

function hashOf({ method, args }: Rpc): string {
  return callHash(method, args);
}
