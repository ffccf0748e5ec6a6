import { setImmediate as later } from 'node:timers/promises';
import { GraphsteadError } from '../src/base/index.js';
import type { Snapshot, Store } from '../src/store/index.js';
import { bound } from './stored.js';

/**
 * A store that answers later, as one over a network does, and refuses where `refuses` says so. What it refuses to write has
 * not landed.
 */
export function lateStore(kept: Store, refuses: (what: 'read' | 'write') => boolean): Store {
  const answer = async <T>(what: 'read' | 'write', work: () => T): Promise<Awaited<T>> => {
    await later();
    if (refuses(what)) throw new GraphsteadError('OVERLOADED', 'the store is away', { fix: 'ask again' });
    return await work();
  };
  const lateSnapshot = (snapshot: Snapshot): Snapshot => ({
    version: snapshot.version,
    getMany: (keys) => answer('read', () => snapshot.getMany(keys)),
    visit: (keys, visit) => answer('read', () => snapshot.visit(keys, visit)),
    get: (key) => answer('read', () => snapshot.get(key)),
    range: (range) => answer('read', () => snapshot.range(range)),
    again: () => lateSnapshot(snapshot.again()),
    release: () => snapshot.release(),
  });
  return {
    ...bound(kept),
    snapshot: () => lateSnapshot(kept.snapshot()),
    apply: (batch, options) => answer('write', () => kept.apply(batch, options)),
  };
}

/** Refuses every so many reads and writes, once `on`. */
export class Refusals {
  on = false;
  #asked = 0;

  /** @param every co-prime to what the callers ask in a row, or the same of them is refused for ever */
  constructor(readonly every: Readonly<Record<'read' | 'write', number>>) {}

  readonly refuses = (what: 'read' | 'write'): boolean => this.on && ++this.#asked % this.every[what] === 0;
}

/** Asks until it is not refused. */
export async function surely<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if ((error as GraphsteadError).code !== 'OVERLOADED') throw error;
    }
  }
}
