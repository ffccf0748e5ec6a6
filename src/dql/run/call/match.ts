import { levenshteinWithin } from '../../../base/index.js';
import type { Predicate, UidList } from '../../../graph/index.js';
import { decodeValue, type StoredValue, valueText } from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, union } from '../uid-set.js';
import { indexedBy, invalid, readyIndex, subjectOf, textOf, textPredicate } from './argument.js';
import { filterByValue, joined } from './by-value.js';
import type { CallOperator } from './contract.js';
import { listsUnder, textTokens } from './lookup.js';

/** `match(name, "text", 3)`: at most so many edits away. */
export const matchCall: CallOperator = {
  async root(call, execution) {
    const { langs } = subjectOf(call);
    const { text, distance } = wanted(call);
    const predicate = indexedBy('trigram', call, execution);
    const trigrams = await textTokens('trigram', text, '', execution);
    const candidates = await matchCandidates(execution, predicate, trigrams);
    const passes = tester(text, distance, trigrams);
    return await filterByValue(execution, predicate, candidates, langs, (value) => passes(textValue(value)));
  },

  async filter(call, candidates, execution) {
    const { text, distance } = wanted(call);
    const predicate = textPredicate(call, execution);
    if (!predicate) return EMPTY;
    // With the index at hand a filter finds what the same call would find at root.
    const trigrams = readyIndex(predicate, ['trigram']) ? await textTokens('trigram', text, '', execution) : [];
    const passes = tester(text, distance, trigrams);
    return await filterByValue(execution, predicate, candidates, subjectOf(call).langs, (value) =>
      passes(textValue(value)),
    );
  },
};

function wanted(call: FunctionCall): { text: string; distance: number } {
  if (call.args.length !== 2) {
    throw invalid(
      `match takes a text and a distance, found ${call.args.length} arguments`,
      call.position,
      'Write match(predicate, "text", 3).',
    );
  }
  const distance = Number(textOf(call.args[1], call));
  if (!Number.isSafeInteger(distance)) {
    throw invalid(
      `the distance of match must be a whole number, not ${textOf(call.args[1], call)}`,
      call.position,
      'Give the number of letters that may differ.',
    );
  }
  if (distance < 0) {
    throw invalid(`the distance of match cannot be negative: ${distance}`, call.position, 'Give 0 or more.');
  }
  return { text: textOf(call.args[0], call), distance };
}

/** Nodes that share three letters in a row with the text asked for; a shorter one is compared with all. */
async function matchCandidates(
  execution: Execution,
  predicate: Predicate,
  trigrams: readonly Uint8Array[],
): Promise<UidList> {
  if (trigrams.length > 0) return union(await listsUnder(predicate, 'trigram', trigrams, execution));
  const pages: UidList[] = [];
  for await (const page of execution.reader.having(predicate)) {
    await execution.checkpoint();
    pages.push(page);
  }
  return joined(pages);
}

/** Whether a text is near, and shares one of the trigrams if there are any: of a list another member may hold them. */
function tester(text: string, distance: number, trigrams: readonly Uint8Array[]): (value: string) => boolean {
  const shared = trigrams.map((token) => Buffer.from(token).toString());
  return (value) =>
    value !== '' &&
    levenshteinWithin(text, value, distance) &&
    (shared.length === 0 || shared.some((trigram) => value.includes(trigram)));
}

function textValue(bytes: StoredValue): string {
  return valueText(decodeValue(bytes));
}
