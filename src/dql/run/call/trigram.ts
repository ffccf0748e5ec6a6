import type { Predicate, UidList } from '../../../graph/index.js';
import { type TrigramQuery, trigramToken } from '../../../values/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect, union } from '../uid-set.js';
import { intersectPostings } from './intersection.js';

/** Uids whose texts may match; undefined: nothing is known, any may. */
export async function trigramCandidates(
  execution: Execution,
  predicate: Predicate,
  query: TrigramQuery,
): Promise<UidList | undefined> {
  await execution.checkpoint();
  if (query.op === 'all') return undefined;
  if (query.op === 'none') return EMPTY;
  const parts: (UidList | undefined)[] = [];
  const { trigrams } = query;
  if (trigrams.length > 0) {
    const tokens = trigrams.map(trigramToken);
    if (query.op === 'or') parts.push(...(await execution.reader.postings(predicate, 'trigram', tokens)));
    else parts.push((await intersectPostings(predicate, 'trigram', tokens, execution)).uids);
  }
  for (const part of query.parts) parts.push(await trigramCandidates(execution, predicate, part));
  const known = parts.filter((part) => part !== undefined);
  if (query.op === 'or') return known.length === parts.length ? union(known) : undefined;
  return known.length === 0 ? undefined : known.reduce((a, b) => intersect(a, b));
}
