import { assert, GraphsteadError } from '../../base/index.js';
import { type Key, KeyWriter } from '../../store/index.js';
import type { Applier, GroupState, GroupWork } from '../contract.js';

/** What a commit does to counters: adds to each, up to a bound that refuses it. */
export interface CounterPart {
  readonly add: readonly (readonly [name: string, amount: number])[];
  /** makes the record larger */
  readonly note?: string;
  /** refuses when a counter would rise above it */
  readonly atMost?: number;
  /** a mistake in the applier itself; `read`: the store fails it where it has begun to merge */
  readonly breaks?: 'prepare' | 'apply' | 'flush' | 'landed' | 'read';
}

const keys = new KeyWriter('operation');

/** The key under which a counter stands. */
export function counterKey(applier: string, name: string): Key {
  return keys.text(applier).text(name).key();
}

export function counterValue(bytes: Uint8Array | undefined): number {
  return bytes === undefined ? 0 : Number(Buffer.from(bytes).toString());
}

/** The smallest applier that reads, merges and refuses: counters under names. For tests and measures. */
export class CounterApplier implements Applier<CounterPart, readonly number[]> {
  /** how often a group landed and failed */
  landed = 0;
  failed = 0;

  constructor(readonly name = 'counters') {}

  begin(state: GroupState): GroupWork<CounterPart, readonly number[]> {
    return new CounterWork(this, state);
  }
}

class CounterWork implements GroupWork<CounterPart, readonly number[]> {
  readonly #applier: CounterApplier;
  readonly #state: GroupState;
  readonly #values = new Map<string, number>();
  readonly #changed = new Set<string>();
  #breaks: CounterPart['breaks'];

  constructor(applier: CounterApplier, state: GroupState) {
    this.#applier = applier;
    this.#state = state;
  }

  async prepare(parts: readonly CounterPart[]): Promise<void> {
    assert(!parts.some(({ breaks }) => breaks === 'prepare'), 'broken in prepare');
    const names = [...new Set(parts.flatMap(({ add }) => add.map(([name]) => name)))];
    const values = await this.#state.getMany(names.map((name) => counterKey(this.#applier.name, name)));
    names.forEach((name, i) => {
      this.#values.set(name, counterValue(values[i]));
    });
  }

  apply(part: CounterPart): readonly number[] {
    const after = new Map<string, number>();
    for (const [name, amount] of part.add) {
      const value = (after.get(name) ?? this.#values.get(name) ?? 0) + amount;
      if (value > (part.atMost ?? Number.POSITIVE_INFINITY)) {
        throw new GraphsteadError('INVALID_MUTATION', `${name} would be ${value}`, { fix: 'take away less' });
      }
      after.set(name, value);
    }
    this.#breaks ??= part.breaks;
    assert(part.breaks !== 'apply', 'broken in apply');
    for (const [name, value] of after) {
      this.#values.set(name, value);
      this.#changed.add(name);
    }
    if (part.breaks === 'read') throw new GraphsteadError('OVERLOADED', 'no reader is free', { fix: 'ask again' });
    return [...after.values()];
  }

  flush(): void {
    assert(this.#breaks !== 'flush', 'broken in flush');
    for (const name of this.#changed) {
      this.#state.put(counterKey(this.#applier.name, name), Buffer.from(String(this.#values.get(name))));
    }
  }

  landed(): void {
    assert(this.#breaks !== 'landed', 'broken in landed');
    this.#applier.landed++;
  }

  failed(): void {
    this.#applier.failed++;
  }
}
