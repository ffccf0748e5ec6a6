import { latin1, type MaybePromise } from '../../../base/index.js';
import type { Predicate, UidList } from '../../../graph/index.js';
import { decodeValue, type StoredValue, tokenPieces, tokensOf } from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect, union } from '../uid-set.js';
import { indexedBy, subjectOf, textOf } from './argument.js';
import { filterByValues } from './by-value.js';
import type { CallOperator } from './contract.js';
import { listsUnder, textTokens } from './lookup.js';

/** `ngram(description, "quick brown")`: any of the longest runs of its words that the index holds, side by side. */
export const ngramCall: CallOperator = {
  root: lookup,
  filter: async (call, candidates, execution) => intersect(candidates, await lookup(call, execution)),
};

async function lookup(call: FunctionCall, execution: Execution): Promise<UidList> {
  const { langs } = subjectOf(call);
  const predicate = indexedBy('ngram', call, execution);
  const text = call.args.map((argument) => textOf(argument, call)).join(' ');
  const lang = langs[0] === '.' ? '' : (langs[0] ?? '');
  const tokens = await textTokens('ngram', text, lang, execution);
  if (tokens.length === 0) return EMPTY;
  const found = union(await listsUnder(predicate, 'ngram', tokens, execution));
  // the index holds all languages, each value under the stems of its own
  return predicate.lang && langs[0] !== '.'
    ? await inLanguage(found, tokens, lang, predicate, langs, execution)
    : found;
}

/** Those of the nodes whose value in the language that was asked for has one of the tokens. */
function inLanguage(
  found: UidList,
  tokens: readonly Uint8Array[],
  lang: string,
  predicate: Predicate,
  langs: readonly string[],
  execution: Execution,
): Promise<UidList> {
  const wanted = new Set(tokens.map(latin1));
  const holds = (some: readonly Uint8Array[]): boolean => some.some((token) => wanted.has(latin1(token)));
  const passes = ([stored]: readonly StoredValue[]): MaybePromise<boolean> => {
    if (!stored) return false;
    const value = decodeValue(stored);
    const pieces = tokenPieces('ngram', value, lang);
    return pieces ? anyPiece(pieces, holds, execution) : holds(tokensOf('ngram', value, lang));
  };
  return filterByValues(execution, predicate, found, langs, passes);
}

async function anyPiece(
  pieces: Iterable<readonly Uint8Array[]>,
  holds: (some: readonly Uint8Array[]) => boolean,
  execution: Execution,
): Promise<boolean> {
  for (const piece of pieces) {
    await execution.checkpoint();
    if (holds(piece)) return true;
  }
  return false;
}
