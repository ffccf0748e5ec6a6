import { atOnce, Yielder, DEFAULT_LIMITS, inSteps, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import type { Facets, UidList } from '../contract.js';
import { eachEntry } from '../entry-map.js';
import { edgeObject, FacetDecoder } from '../facet.js';
import type { StoredColumn } from '../stored-column.js';
import { lowerBoundUid } from '../uid-list.js';

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

/** Facets of edges, aligned with the rows; a row without any has none. @param payloads those of each row's subject */
export function facetsOfRows(rows: readonly UidList[], payloads: StoredColumn): Steps<FacetRows> {
  const placing = new Placing(rows);
  return placing.all(payloads, (object, i) => placing.seek(i, object));
}

/** Facets of reverse edges: they lie with the subject. @param payloads those of each of `subjects`, all that stand in the rows */
export function facetsOfReverse(
  uids: UidList,
  rows: readonly UidList[],
  subjects: UidList,
  payloads: StoredColumn,
): Steps<FacetRows> {
  const placing = new Placing(rows);
  return placing.all(payloads, (object, i) => {
    const row = lowerBoundUid(uids, object);
    return uids[row] === object && placing.seek(row, subjects[i]);
  });
}

/** Puts the facets that lie with subjects where their edges stand: each is looked at once, and none is looked up. */
class Placing {
  readonly #found: FacetRows;
  readonly #decoder = new FacetDecoder();
  #row = 0;
  #place = 0;

  constructor(readonly rows: readonly UidList[]) {
    this.#found = rows.map(() => []);
  }

  /** Finds an edge: facets are put there next. False where it is not in the row. */
  seek(row: number, uid: number): boolean {
    const uids = this.rows[row];
    // facets mostly lie in the order of the edges
    const next = row === this.#row ? this.#place + 1 : 0;
    this.#row = row;
    this.#place = uids[next] === uid ? next : lowerBoundUid(uids, uid);
    return uids[this.#place] === uid;
  }

  /** @param seek finds the edge of one of the facets that lie with the subject at a place */
  *all(payloads: StoredColumn, seek: (object: number, subject: number) => boolean): Steps<FacetRows> {
    let left = STEP;
    for (let subject = 0; subject < payloads.length; subject++) {
      if (!payloads.seek(subject)) continue;
      const { bytes, end } = payloads;
      let at = payloads.start;
      while (at < end) {
        at = eachEntry(
          bytes,
          (keyAt, keyEnd, valueAt, valueEnd) => {
            if (seek(edgeObject(bytes, keyAt, keyEnd), subject)) this.#put(bytes, valueAt, valueEnd);
            return --left <= 0;
          },
          at,
          end,
        );
        if (left > 0) continue;
        left = STEP;
        yield;
      }
    }
    return this.#found;
  }

  #put(bytes: Uint8Array, start: number, end: number): void {
    const { length } = this.rows[this.#row];
    const row = this.#found[this.#row];
    if (row.length === 0) for (let i = 0; i < length; i++) row.push(undefined);
    row[this.#place] = this.#decoder.decode(bytes, start, end);
  }
}
