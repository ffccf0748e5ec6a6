import type { UidList } from '../../../graph/index.js';
import { queryTokens } from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect, union } from '../uid-set.js';
import { pickIndex, subjectOf, textOf, withoutIndex } from './argument.js';
import type { CallOperator } from './contract.js';

/** `ngram(description, "quick brown")`: any of the longest runs of its words that the index holds, side by side. */
export const ngramCall: CallOperator = {
  root: lookup,
  filter: async (call, candidates, execution) => intersect(candidates, await lookup(call, execution)),
};

async function lookup(call: FunctionCall, execution: Execution): Promise<UidList> {
  const { name, langs } = subjectOf(call);
  const predicate = execution.predicate(name);
  if (!predicate || !pickIndex(predicate, ['ngram'])) {
    throw withoutIndex(name, predicate, 'ngram', call);
  }
  const text = call.args.map((argument) => textOf(argument, call)).join(' ');
  const lang = langs[0] === '.' ? '' : (langs[0] ?? '');
  const tokens = queryTokens('ngram', { type: 'string', value: text }, lang, execution.limits.tokenBytes);
  if (tokens.length === 0) return EMPTY;
  return union(await execution.reader.postings(predicate, 'ngram', tokens));
}
