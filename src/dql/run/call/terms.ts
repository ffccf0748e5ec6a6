import type { MaybePromise } from '../../../base/index.js';
import type { LangValue, Predicate, UidList } from '../../../graph/index.js';
import {
  decodeValue,
  fullTextTerms,
  type IndexKind,
  isHashedToken,
  type StoredValue,
  stemPieces,
  termsOf,
  valueText,
  wordPieces,
} from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect, union } from '../uid-set.js';
import { indexedBy, readyIndex, subjectOf, textsOf } from './argument.js';
import { filterByTagged, filterByValues } from './by-value.js';
import type { CallOperator } from './contract.js';
import { intersectPostings } from './intersection.js';
import { countsUnder, listsUnder, textTokens } from './lookup.js';

const FEW = 256;
/** UTF-16 units of a text from which on it is taken apart with pauses. */
const LONG = 16_384;

/** allofterms, anyofterms, alloftext, anyoftext: by words of the values, so an index is needed even in a filter. */
export const termsCall: CallOperator = {
  async root(call, execution) {
    const kind = kindOf(call);
    return await lookup(call, indexedBy(kind, call, execution), kind, execution);
  },
  async size(call, execution) {
    const kind = kindOf(call);
    const predicate = execution.predicate(subjectOf(call).name);
    if (!predicate || !readyIndex(predicate, [kind])) return undefined;
    const counts = await countsUnder(predicate, kind, await tokensOf(call, kind, execution), execution);
    return call.name.startsWith('all') ? smallest(counts) : counts.reduce((total, count) => total + count, 0);
  },
  async filter(call, candidates, execution) {
    const kind = kindOf(call);
    const predicate = indexedBy(kind, call, execution);
    if (candidates.length <= FEW) return await check(call, predicate, kind, candidates, execution);
    return intersect(candidates, await lookup(call, predicate, kind, execution));
  },
};

function kindOf(call: FunctionCall): IndexKind {
  return call.name.endsWith('terms') ? 'term' : 'fulltext';
}

/** The language that the words are stemmed in. */
function langOf(call: FunctionCall): string {
  const lang = subjectOf(call).langs[0] ?? '';
  return lang === '.' ? '' : lang;
}

function tokensOf(call: FunctionCall, kind: IndexKind, execution: Execution): Promise<readonly Uint8Array[]> {
  return textTokens(kind, textsOf(call, execution), langOf(call), execution);
}

/** Without an argument for each number: there may be more of them than a call takes. */
function smallest(counts: readonly number[]): number {
  return counts.reduce((least, count) => Math.min(least, count), Number.POSITIVE_INFINITY);
}

async function lookup(
  call: FunctionCall,
  predicate: Predicate,
  kind: IndexKind,
  execution: Execution,
): Promise<UidList> {
  const tokens = await tokensOf(call, kind, execution);
  if (tokens.length === 0) return EMPTY;
  const { uids: found, complete } = call.name.startsWith('all')
    ? await intersectPostings(predicate, kind, tokens, execution)
    : { uids: union(await listsUnder(predicate, kind, tokens, execution)), complete: true };
  const listed = !predicate.lang || inAnyLanguage(call, kind);
  const sure = complete && listed && !tokens.some((token) => isHashedToken(token));
  return sure ? found : await check(call, predicate, kind, found, execution);
}

async function check(
  call: FunctionCall,
  predicate: Predicate,
  kind: IndexKind,
  candidates: UidList,
  execution: Execution,
): Promise<UidList> {
  const lang = langOf(call);
  const wanted = [...(await termsIn(textsOf(call, execution), kind, lang, execution))];
  if (wanted.length === 0) return EMPTY;
  const all = call.name.startsWith('all');
  const holds = (terms: ReadonlySet<string>): boolean =>
    all ? wanted.every((word) => terms.has(word)) : wanted.some((word) => terms.has(word));
  if (inAnyLanguage(call, kind)) {
    const any = async (values: readonly LangValue[]): Promise<boolean> => holds(await ownTerms(values, execution));
    return await filterByTagged(execution, predicate, candidates, any);
  }
  const passes = (values: readonly StoredValue[]): MaybePromise<boolean> => {
    const text = values.map((value) => valueText(decodeValue(value))).join('\n');
    const terms = termsIn(text, kind, lang, execution);
    return terms instanceof Promise ? terms.then(holds) : holds(terms);
  };
  return await filterByValues(execution, predicate, candidates, subjectOf(call).langs, passes);
}

/** Stems are asked for in values of all languages, which the index keeps under the stems of their own. */
function inAnyLanguage(call: FunctionCall, kind: IndexKind): boolean {
  return kind === 'fulltext' && subjectOf(call).langs[0] === '.';
}

/** The stems of values, each in its own language. */
async function ownTerms(values: readonly LangValue[], execution: Execution): Promise<ReadonlySet<string>> {
  const terms = new Set<string>();
  for (const { lang, value } of values) {
    for (const term of await termsIn(valueText(decodeValue(value)), 'fulltext', lang, execution)) terms.add(term);
  }
  return terms;
}

/** The terms of a text; those of a long one are gathered a piece at a time. */
function termsIn(text: string, kind: IndexKind, lang: string, execution: Execution): MaybePromise<ReadonlySet<string>> {
  if (text.length > LONG) return gathered(kind === 'term' ? wordPieces(text) : stemPieces(text, lang), execution);
  return new Set(kind === 'term' ? termsOf(text) : fullTextTerms(text, lang));
}

async function gathered(pieces: Iterable<readonly string[]>, execution: Execution): Promise<ReadonlySet<string>> {
  const terms = new Set<string>();
  for (const piece of pieces) {
    await execution.checkpoint();
    for (const term of piece) terms.add(term);
  }
  return terms;
}
