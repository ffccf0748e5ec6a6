import type { Predicate, UidList } from '../../../graph/index.js';
import { type IndexKind, queryTokens, tokenPieces } from '../../../values/index.js';
import type { Execution } from '../execution.js';

/** Tokens that are looked up at once: a few milliseconds. */
const BATCH = 1_024;

/** The tokens that a text is looked up by; those of a long text are made a piece at a time. */
export async function textTokens(
  kind: IndexKind,
  text: string,
  lang: string,
  execution: Execution,
): Promise<readonly Uint8Array[]> {
  const value = { type: 'string', value: text } as const;
  const limit = execution.limits.tokenBytes;
  const pieces = kind === 'ngram' ? undefined : tokenPieces(kind, value, lang, limit);
  if (!pieces) return queryTokens(kind, value, lang, limit);
  const tokens = new Map<string, Uint8Array>();
  for (const piece of pieces) {
    await execution.checkpoint();
    for (const token of piece) tokens.set(Buffer.from(token).toString('latin1'), token);
  }
  return [...tokens.values()];
}

/** How many uids stand under each of the tokens. */
export async function countsUnder(
  predicate: Predicate,
  kind: IndexKind,
  tokens: readonly Uint8Array[],
  execution: Execution,
): Promise<readonly number[]> {
  const { reader } = execution;
  if (tokens.length <= BATCH) return reader.postingCounts(predicate, kind, tokens);
  const counts: number[] = [];
  for (let at = 0; at < tokens.length; at += BATCH) {
    await execution.checkpoint();
    counts.push(...(await reader.postingCounts(predicate, kind, tokens.slice(at, at + BATCH))));
  }
  return counts;
}

/** The uids that stand under each of the tokens. */
export async function listsUnder(
  predicate: Predicate,
  kind: IndexKind,
  tokens: readonly Uint8Array[],
  execution: Execution,
): Promise<readonly UidList[]> {
  const { reader } = execution;
  if (tokens.length <= BATCH) return reader.postings(predicate, kind, tokens);
  const lists: UidList[] = [];
  for (let at = 0; at < tokens.length; at += BATCH) {
    await execution.checkpoint();
    lists.push(...(await reader.postings(predicate, kind, tokens.slice(at, at + BATCH))));
  }
  return lists;
}
