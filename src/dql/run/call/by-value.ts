import type { MaybePromise } from '../../../base/index.js';
import type { LangValue, Predicate, UidList } from '../../../graph/index.js';
import type { StoredValue } from '../../../values/index.js';
import type { Execution } from '../execution.js';
import { candidateValues } from '../language.js';
import { filterUids } from '../uid-set.js';

/** How many uids have their values read at once: bounds memory and lets the event loop turn. */
const BATCH = 10_000;

/** Values that are tried without a look at the clock: one may be a millisecond's work, of a polygon or of a pattern. */
const TRIED = 8;

/** Those of the candidates with a value (of the language, of the list) that passes. */
export function filterByValue(
  execution: Execution,
  predicate: Predicate,
  candidates: UidList,
  langs: readonly string[],
  passes: (value: StoredValue) => boolean,
): Promise<UidList> {
  return filterByValues(execution, predicate, candidates, langs, (values) => values.some(passes));
}

/** Those of the candidates whose values (all members of a list) together pass. */
export function filterByValues(
  execution: Execution,
  predicate: Predicate,
  candidates: UidList,
  langs: readonly string[],
  passes: (values: readonly StoredValue[]) => MaybePromise<boolean>,
): Promise<UidList> {
  const read = (batch: UidList) => candidateValues(execution, predicate, batch, langs);
  return filterByRead(execution, candidates, read, passes);
}

/** Those of the candidates whose values in all languages, each with its own, together pass. */
export function filterByTagged(
  execution: Execution,
  predicate: Predicate,
  candidates: UidList,
  passes: (values: readonly LangValue[]) => MaybePromise<boolean>,
): Promise<UidList> {
  return filterByRead(execution, candidates, (batch) => execution.reader.allValues(predicate, batch), passes);
}

async function filterByRead<T>(
  execution: Execution,
  candidates: UidList,
  read: (batch: UidList) => MaybePromise<readonly T[]>,
  passes: (values: T) => MaybePromise<boolean>,
): Promise<UidList> {
  const kept: UidList[] = [];
  for (let at = 0; at < candidates.length; at += BATCH) {
    const paused = execution.checkpoint();
    if (paused) await paused;
    const batch = candidates.subarray(at, at + BATCH);
    const reading = read(batch);
    const values = reading instanceof Promise ? await reading : reading;
    const passed = new Uint8Array(batch.length);
    for (let i = 0; i < batch.length; i++) {
      if (i % TRIED === TRIED - 1) await execution.checkpoint();
      const passing = passes(values[i]);
      if (passing instanceof Promise ? await passing : passing) passed[i] = 1;
    }
    kept.push(filterUids(batch, (_, i) => passed[i] === 1));
  }
  return joined(kept);
}

/** Consecutive ascending lists as one. */
export function joined(lists: readonly UidList[]): UidList {
  if (lists.length === 1) return lists[0];
  const out = new Float64Array(lists.reduce((total, list) => total + list.length, 0));
  let at = 0;
  for (const list of lists) {
    out.set(list, at);
    at += list.length;
  }
  return out;
}
