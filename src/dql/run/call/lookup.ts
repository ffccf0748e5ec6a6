import type { MaybePromise } from '../../../base/index.js';
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
  const pieces = kind === 'ngram' ? undefined : tokenPieces(kind, value, lang);
  if (!pieces) return queryTokens(kind, value, lang);
  const tokens = new Map<string, Uint8Array>();
  for (const piece of pieces) {
    await execution.checkpoint();
    for (const token of piece) tokens.set(Buffer.from(token).toString('latin1'), token);
  }
  return [...tokens.values()];
}

/** How many uids stand under each of the tokens. */
export function countsUnder(
  predicate: Predicate,
  kind: IndexKind,
  tokens: readonly Uint8Array[],
  execution: Execution,
): Promise<readonly number[]> {
  return inBatches(tokens, execution, (some) => execution.reader.postingCounts(predicate, kind, some));
}

/** The uids that stand under each of the tokens. */
export function listsUnder(
  predicate: Predicate,
  kind: IndexKind,
  tokens: readonly Uint8Array[],
  execution: Execution,
): Promise<readonly UidList[]> {
  return inBatches(tokens, execution, (some) => execution.reader.postings(predicate, kind, some));
}

async function inBatches<T>(
  tokens: readonly Uint8Array[],
  execution: Execution,
  read: (tokens: readonly Uint8Array[]) => MaybePromise<readonly T[]>,
): Promise<readonly T[]> {
  if (tokens.length <= BATCH) return read(tokens);
  const found: T[] = [];
  for (let at = 0; at < tokens.length; at += BATCH) {
    await execution.checkpoint();
    found.push(...(await read(tokens.slice(at, at + BATCH))));
  }
  return found;
}
