import { chain, type MaybePromise } from '../../../base/index.js';
import type { Predicate, UidList } from '../../../graph/index.js';
import type { IndexKind } from '../../../values/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect } from '../uid-set.js';
import { countsUnder } from './lookup.js';

/** Uids that stand under tokens of one index. */
interface Intersection {
  readonly uids: UidList;
  /** every uid stands under all of the tokens; otherwise some lists were left unread, since so few were left to be checked */
  readonly complete: boolean;
}

/** So many uids of a list are read in the time that it takes to check the value of one. */
const LISTED_A_CHECK = 256;

/** What stands under all of the tokens, the shortest list first, as long as reading another list costs less than checks do. */
export function intersectPostings(
  predicate: Predicate,
  kind: IndexKind,
  tokens: readonly Uint8Array[],
  execution: Execution,
): MaybePromise<Intersection> {
  if (tokens.length > 1) return intersectMany(predicate, kind, tokens, execution);
  return chain(execution.reader.postings(predicate, kind, tokens), ([uids]) => ({
    uids: uids ?? EMPTY,
    complete: true,
  }));
}

async function intersectMany(
  predicate: Predicate,
  kind: IndexKind,
  tokens: readonly Uint8Array[],
  execution: Execution,
): Promise<Intersection> {
  const { reader } = execution;
  const counts = await countsUnder(predicate, kind, tokens, execution);
  const byCount = Array.from(tokens.keys()).sort((a, b) => counts[a] - counts[b]);
  let uids: UidList | undefined;
  for (const at of byCount) {
    await execution.checkpoint();
    if (uids && uids.length * LISTED_A_CHECK < counts[at]) return { uids, complete: uids.length === 0 };
    const [list] = await reader.postings(predicate, kind, [tokens[at]]);
    uids = uids ? intersect(uids, list) : list;
  }
  return { uids: uids ?? EMPTY, complete: true };
}
