import { compilePattern, decodeValue, type Pattern, requiredTrigrams, valueText } from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import { EMPTY, intersect } from '../uid-set.js';
import { indexedBy, invalid, readyIndex, subjectOf, textOf, textPredicate } from './argument.js';
import { filterByValue } from './by-value.js';
import type { CallOperator } from './contract.js';
import { trigramCandidates } from './trigram.js';

const FEW = 10_000;

/** `regexp(name, /pattern/flags)`: candidates by trigrams, then the pattern on their texts. */
export const regexpCall: CallOperator = {
  async root(call, execution) {
    const { langs } = subjectOf(call);
    const pattern = patternOf(call);
    const predicate = indexedBy('trigram', call, execution);
    const query = requiredTrigrams(pattern.source, pattern.flags);
    const candidates = await trigramCandidates(execution, predicate, query);
    if (!candidates) {
      throw invalid(
        'no three letters are known that every match of this pattern holds, so every text would have to be read',
        call.position,
        'Give it three consecutive letters that every match has, or use it as a filter.',
      );
    }
    return await filterByValue(execution, predicate, candidates, langs, tester(pattern));
  },

  async filter(call, candidates, execution) {
    const pattern = patternOf(call);
    const predicate = textPredicate(call, execution);
    if (!predicate) return EMPTY;
    let narrowed = candidates;
    if (candidates.length > FEW && readyIndex(predicate, ['trigram'])) {
      const query = requiredTrigrams(pattern.source, pattern.flags);
      const found = await trigramCandidates(execution, predicate, query);
      if (found) narrowed = intersect(candidates, found);
    }
    return await filterByValue(execution, predicate, narrowed, subjectOf(call).langs, tester(pattern));
  },
};

interface Written {
  readonly source: string;
  readonly flags: string;
  readonly compiled: Pattern;
}

function patternOf(call: FunctionCall): Written {
  const argument = call.args[0];
  if (argument?.kind === 'regexp') return written(argument.pattern, argument.flags);
  const text = textOf(argument, call);
  const end = text.lastIndexOf('/');
  if (text === '')
    throw invalid('the regular expression is empty', call.position, 'Write it as /pattern/ or /pattern/i.');
  if (!text.startsWith('/') || end === 0) {
    throw invalid(`invalid regular expression ${text}`, call.position, 'Write it as /pattern/ or /pattern/i.');
  }
  return written(text.slice(1, end), text.slice(end + 1));
}

function written(source: string, flags: string): Written {
  return { source, flags, compiled: compilePattern(source, flags) };
}

function tester(pattern: Written) {
  return (value: Uint8Array) => pattern.compiled.test(valueText(decodeValue(value)));
}
