import { atOnce, Yielder, DEFAULT_LIMITS, inSteps, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import type { Facets, UidList } from '../contract.js';
import { type EntryMap, entriesInSteps } from '../entry-map.js';
import { decodeFacets, edgeKey } from '../facet.js';
import type { Payloads } from './slot-reader.js';

/** Edges whose facets are decoded at once: a few milliseconds. */
const FACETS_AT_ONCE = 1_024;

/** Others have their turn where there are many edges: to decode facets takes several times what reading the edges does. */
export function inTurns<T>(rows: readonly UidList[], steps: Steps<T>): MaybePromise<T> {
  let edges = 0;
  for (const row of rows) edges += row.length;
  if (edges <= FACETS_AT_ONCE) return atOnce(steps);
  const yielder = new Yielder(DEFAULT_LIMITS.yieldMs);
  return inSteps(steps, () => yielder.due());
}

type FacetRows = (Facets | undefined)[][];

/** Facets of edges, aligned with the rows. @param payloads those of each row's subject */
export function* facetsOfRows(rows: readonly UidList[], payloads: Payloads): Steps<FacetRows> {
  const found: FacetRows = [];
  let count = 0;
  for (const [i, row] of rows.entries()) {
    const facets: (Facets | undefined)[] = [];
    found.push(facets);
    if (!payloads[i]) continue;
    const entries = yield* entriesInSteps(payloads[i]);
    for (const object of row) {
      if (++count % STEP === 0) yield;
      const bytes = entries.get(edgeKey(object));
      facets.push(bytes && decodeFacets(bytes));
    }
  }
  return found;
}

/** Facets of reverse edges: they lie with the subject. @param payloads those of each of `subjects`, all that stand in the rows */
export function* facetsOfReverse(
  uids: UidList,
  rows: readonly UidList[],
  subjects: UidList,
  payloads: Payloads,
): Steps<FacetRows> {
  const bySubject = new Map<number, EntryMap>();
  for (const [i, payload] of payloads.entries()) {
    if (i % STEP === STEP - 1) yield;
    if (payload) bySubject.set(subjects[i], yield* entriesInSteps(payload));
  }
  const found: FacetRows = [];
  let count = 0;
  for (const [i, row] of rows.entries()) {
    const key = edgeKey(uids[i]);
    const facets: (Facets | undefined)[] = [];
    found.push(facets);
    for (const subject of row) {
      if (++count % STEP === 0) yield;
      const bytes = bySubject.get(subject)?.get(key);
      facets.push(bytes && decodeFacets(bytes));
    }
  }
  return found;
}
