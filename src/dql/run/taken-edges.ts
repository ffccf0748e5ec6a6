import { type MaybePromise, STEP, type Steps } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { PredicateSelection } from '../syntax/index.js';
import { filterBatches } from './batch.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { UidNumbers } from './uid-numbers.js';
import { contains, EMPTY, filterUids, fromUids, union, unionOfRows } from './uid-set.js';

/** The edges of one predicate that were taken. */
class Taken {
  readonly #numbers = new UidNumbers();
  /** by number of the source; what was taken as it stood is not copied */
  readonly #rows: UidList[] = [];

  /** Those of a row that were not taken before; they are now. */
  take(source: number, row: UidList): UidList {
    if (row.length === 0) return row;
    const number = this.#numbers.of(source);
    const before = this.#rows[number] ?? EMPTY;
    const fresh = before.length > 0 ? filterUids(row, (uid) => !contains(before, uid)) : row;
    if (fresh.length > 0) this.#rows[number] = union([before, isAscending(fresh) ? fresh : fromUids(fresh)]);
    return fresh;
  }

  /** Whether nothing was asked of a node before; it is now. */
  ask(source: number): boolean {
    const { size } = this.#numbers;
    return this.#numbers.of(source) === size;
  }
}

function isAscending(uids: UidList): boolean {
  for (let i = 1; i < uids.length; i++) if (uids[i - 1] > uids[i]) return false;
  return true;
}

/** The edges that @recurse has taken: it follows each once, unless it loops. */
export class TakenEdges {
  readonly #byName = new Map<string, Taken>();

  #of({ reverse, name }: PredicateSelection): Taken {
    const key = reverse ? `~${name}` : name;
    const taken = this.#byName.get(key) ?? new Taken();
    this.#byName.set(key, taken);
    return taken;
  }

  /** Those of some nodes whose edges were not read before, where a selection finds the same of a node each time. */
  unread(selection: PredicateSelection, uids: UidList, execution: Execution): MaybePromise<UidList> {
    const taken = this.#of(selection);
    return filterBatches(uids, execution, (batch) => filterUids(batch, (uid) => taken.ask(uid)));
  }

  /** Takes out of a branch what was taken before. */
  *drop(child: ResultBranch, selection: PredicateSelection): Steps<void> {
    if (!child.rows) return;
    const taken = this.#of(selection);
    const rows: UidList[] = [];
    const facets: (readonly (Facets | undefined)[])[] = [];
    for (const [i, row] of child.rows.entries()) {
      if (i % STEP === STEP - 1) yield;
      const fresh = taken.take(child.source[i], row);
      rows.push(fresh);
      const own = child.rowFacets?.[i];
      if (own) facets.push(fresh === row ? own : facetsOf(own, row, fresh));
    }
    child.rows = rows;
    if (child.rowFacets) child.rowFacets = facets;
    child.dest = yield* unionOfRows(rows);
  }
}

/** The facets of those edges of a row that are left, which stand in its order. */
function facetsOf(facets: readonly (Facets | undefined)[], row: UidList, left: UidList): (Facets | undefined)[] {
  let next = 0;
  return facets.filter((_, at) => row[at] === left[next] && ++next > 0);
}

/** The rows of a branch that was read for some of its nodes only; the others have none. */
export function* alignRows(child: ResultBranch, source: UidList): Steps<ResultBranch> {
  if (!child.rows || child.source.length === source.length) return { ...child, source };
  const rows = new Array<UidList>(source.length).fill(EMPTY);
  const facets = child.rowFacets && new Array<readonly (Facets | undefined)[]>(source.length).fill([]);
  for (let i = 0, at = 0; i < child.rows.length; i++, at++) {
    if (i % STEP === STEP - 1) yield;
    while (source[at] !== child.source[i]) at++;
    rows[at] = child.rows[i];
    if (facets && child.rowFacets) facets[at] = child.rowFacets[i];
  }
  return { ...child, source, rows, rowFacets: facets };
}
