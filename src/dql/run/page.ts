import type { UidList } from '../../graph/index.js';
import type { Page } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { lowerBound } from './uid-set.js';
import { uidsOf } from './variable.js';

/** What `first` asks for; 0 sets no limit, as in Dgraph. */
function limitOf(page: Page): number | undefined {
  return page.first === 0 ? undefined : page.first;
}

/** Start and end of a page of `total` items. A negative `first` takes the last ones and knows no offset. */
export function pageRange(page: Page, total: number): readonly [start: number, end: number] {
  const first = limitOf(page);
  if (first !== undefined && first < 0) return [Math.max(0, total + first), total];
  const start = Math.min(Math.max(page.offset ?? 0, 0), total);
  return [start, first === undefined ? total : Math.min(start + first, total)];
}

export function hasRange(page: Page): boolean {
  return limitOf(page) !== undefined || (page.offset ?? 0) > 0;
}

/** How many of an ordered list a page needs from its start; infinite when the end of the list decides. */
export function pageDepth(page: Page): number {
  const first = limitOf(page);
  if (first === undefined || first < 0) return Number.POSITIVE_INFINITY;
  return first + Math.max(page.offset ?? 0, 0);
}

/** The uid that `after` names: that of a variable is its last. 0 without one. */
export function afterUid(page: Page, execution: Execution): number {
  const after = page.after;
  if (!after) return 0;
  if (after.kind === 'uid') return after.uid;
  const uids = uidsOf(execution.variables.get(after.name));
  return uids.length === 0 ? 0 : uids[uids.length - 1];
}

/** An ascending list without what lies up to `after`. */
export function dropUpTo(uids: UidList, after: number): UidList {
  return after === 0 ? uids : uids.subarray(lowerBound(uids, after + 1));
}

/** `count` of the list, chosen at random, in the list's order. */
export function sample(uids: UidList, count: number): UidList {
  if (count >= uids.length) return uids;
  const out = new Float64Array(count);
  let n = 0;
  for (let i = 0; n < count; i++) {
    if (Math.random() * (uids.length - i) < count - n) out[n++] = uids[i];
  }
  return out;
}
