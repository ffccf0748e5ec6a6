import type { Predicate, UidList } from '../../../graph/index.js';
import {
  decodeValue,
  fullTextTerms,
  type IndexKind,
  isHashedToken,
  queryTokens,
  type StoredValue,
  termsOf,
  valueText,
} from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect, union } from '../uid-set.js';
import { pickIndex, readyIndex, subjectOf, textOf, withoutIndex } from './argument.js';
import { filterByValues } from './by-value.js';
import type { CallOperator } from './contract.js';
import { intersectPostings } from './intersection.js';

const FEW = 256;

/** allofterms, anyofterms, alloftext, anyoftext: by words of the values, so an index is needed even in a filter. */
export const termsCall: CallOperator = {
  async root(call, execution) {
    const { predicate, kind } = indexed(call, execution);
    return lookup(call, predicate, kind, execution);
  },
  async size(call, execution) {
    const kind = kindOf(call);
    const predicate = execution.predicate(subjectOf(call).name);
    if (!predicate || !readyIndex(predicate, [kind])) return undefined;
    const counts = await execution.reader.postingCounts(predicate, kind, tokensOf(call, kind, execution));
    return call.name.startsWith('all') ? Math.min(...counts) : counts.reduce((total, count) => total + count, 0);
  },
  async filter(call, candidates, execution) {
    const { predicate, kind } = indexed(call, execution);
    if (candidates.length <= FEW) return check(call, predicate, kind, candidates, execution);
    return intersect(candidates, await lookup(call, predicate, kind, execution));
  },
};

function kindOf(call: FunctionCall): IndexKind {
  return call.name.endsWith('terms') ? 'term' : 'fulltext';
}

function indexed(call: FunctionCall, execution: Execution): { predicate: Predicate; kind: IndexKind } {
  const kind = kindOf(call);
  const { name } = subjectOf(call);
  const predicate = execution.predicate(name);
  if (!predicate || !pickIndex(predicate, [kind])) {
    throw withoutIndex(name, predicate, kind, call);
  }
  return { predicate, kind };
}

/** The language that the words are stemmed in. */
function langOf(call: FunctionCall): string {
  const lang = subjectOf(call).langs[0] ?? '';
  return lang === '.' ? '' : lang;
}

function tokensOf(call: FunctionCall, kind: IndexKind, { limits }: Execution): Uint8Array[] {
  return queryTokens(kind, { type: 'string', value: words(call) }, langOf(call), limits.tokenBytes);
}

/** All texts of the call as one: `anyofterms(name, "a b", "c")`. */
function words(call: FunctionCall): string {
  return call.args.map((argument) => textOf(argument, call)).join(' ');
}

async function lookup(
  call: FunctionCall,
  predicate: Predicate,
  kind: IndexKind,
  execution: Execution,
): Promise<UidList> {
  const limit = execution.limits.tokenBytes;
  const tokens = tokensOf(call, kind, execution);
  if (tokens.length === 0) return EMPTY;
  const { uids: found, complete } = call.name.startsWith('all')
    ? await intersectPostings(predicate, kind, tokens, execution)
    : { uids: union(await execution.reader.postings(predicate, kind, tokens)), complete: true };
  const sure = complete && !predicate.lang && !tokens.some((token) => isHashedToken(token, limit));
  return sure ? found : check(call, predicate, kind, found, execution);
}

function check(
  call: FunctionCall,
  predicate: Predicate,
  kind: IndexKind,
  candidates: UidList,
  execution: Execution,
): Promise<UidList> {
  const lang = langOf(call);
  const split = kind === 'term' ? termsOf : (text: string) => fullTextTerms(text, lang);
  const wanted = split(words(call));
  const all = call.name.startsWith('all');
  const passes = (values: readonly StoredValue[]): boolean => {
    const terms = new Set(values.flatMap((value) => split(valueText(decodeValue(value)))));
    return all ? wanted.every((word) => terms.has(word)) : wanted.some((word) => terms.has(word));
  };
  if (wanted.length === 0) return Promise.resolve(EMPTY);
  return filterByValues(execution, predicate, candidates, subjectOf(call).langs, passes);
}
