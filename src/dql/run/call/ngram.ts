import type { UidList } from '../../../graph/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, intersect, union } from '../uid-set.js';
import { pickIndex, subjectOf, textOf, withoutIndex } from './argument.js';
import type { CallOperator } from './contract.js';
import { listsUnder, textTokens } from './lookup.js';

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
  const tokens = await textTokens('ngram', text, lang, execution);
  if (tokens.length === 0) return EMPTY;
  return union(await listsUnder(predicate, 'ngram', tokens, execution));
}
