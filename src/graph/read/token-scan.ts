import type { IndexKind } from '../../values/index.js';
import { type Key, prefixEnd, type Range } from '../../store/index.js';
import type { ReadMetrics, TokenPostings, TokenRange } from '../contract.js';
import { tokenKey, tokenOfKey, tokenRange } from '../key.js';
import type { Source } from '../source.js';
import { readKeyed } from './list-reader.js';

/** Tokens in the first page; pages grow, so that the first few of millions are cheap. */
const FIRST_PAGE = 4;
const LAST_PAGE = 512;

function bounds(predicate: number, kind: IndexKind, range: TokenRange): { start: Key; end: Key } {
  const all = tokenRange(predicate, kind);
  const from = range.from && tokenKey(predicate, kind, range.from);
  const to = range.to && tokenKey(predicate, kind, range.to);
  return {
    start: from ? (range.fromExclusive ? prefixEnd(from) : from) : all.start,
    end: to ? (range.toExclusive ? to : prefixEnd(to)) : all.end,
  };
}

/** Tokens of one index in order, with their uids. */
export async function* scanTokens(
  source: Source,
  predicate: number,
  kind: IndexKind,
  range: TokenRange,
  metrics: ReadMetrics,
): AsyncIterable<readonly TokenPostings[]> {
  const reverse = range.reverse ?? false;
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let size = FIRST_PAGE;
  let next: Range | undefined = { ...bounds(predicate, kind, range), reverse, keysOnly: true };
  while (next && left > 0) {
    const page: { readonly keys: readonly Key[]; readonly next?: Range } = await source.range({ ...next, limit: size });
    const roots = rootsOf(page.keys, predicate, kind).slice(0, left);
    next = continued(next, page, roots[roots.length - 1]);
    size = Math.min(size * 2, LAST_PAGE);
    if (roots.length === 0) continue;
    left -= roots.length;
    const lists = await readKeyed(source, roots, metrics);
    yield roots.map((key, i) => ({ token: tokenOfKey(key).token, uids: lists[i] }));
  }
}

/** The root keys of the tokens that a page's keys belong to, each once. */
function rootsOf(keys: readonly Key[], predicate: number, kind: IndexKind): Key[] {
  const roots: Key[] = [];
  for (const key of keys) {
    const { token, root } = tokenOfKey(key);
    const own = root ? key : tokenKey(predicate, kind, token);
    const last = roots[roots.length - 1];
    if (!last || Buffer.compare(last, own) !== 0) roots.push(own);
  }
  return roots;
}

/** The range after a page; chunks of its last token are passed over. */
function continued(range: Range, page: { readonly next?: Range }, last: Key | undefined): Range | undefined {
  if (!page.next || !last) return page.next;
  return range.reverse ? { ...page.next, end: last } : { ...page.next, start: prefixEnd(last) };
}
