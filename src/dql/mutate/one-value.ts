import { forEachInSteps, GraphsteadError, type Steps } from '../../base/index.js';
import type { Predicate, Schema } from '../../graph/index.js';
import type { MutationBlock, SubjectReference, Triple } from '../syntax/index.js';

/**
 * Refuses a JSON list of several values under a predicate that holds one: all but the last would be lost without a word,
 * as they are with the peer. Throws INVALID_MUTATION.
 */
export function* demandSingle(blocks: readonly MutationBlock[], schema: Schema): Steps<void> {
  for (const { set } of blocks) {
    // an object of the text is one subject, also where what it nests stands between the items of its list
    const listed = new Map<SubjectReference, Set<string>>();
    yield* forEachInSteps(set, (triple) => {
      const predicate = triple.listed ? schema.predicate(triple.predicate) : undefined;
      if (!predicate || predicate.list) return;
      const places = listed.get(triple.subject) ?? new Set<string>();
      const place = `${triple.predicate}@${languageOf(triple)}`;
      if (places.has(place)) throw severalValues(triple, predicate);
      listed.set(triple.subject, places.add(place));
    });
  }
}

const languageOf = ({ object, lang }: Triple): string => (object.kind === 'literal' ? object.lang : lang);

function severalValues({ position }: Triple, { name, type, lang }: Predicate): GraphsteadError {
  const declare = lang ? '' : `, or declare ${name}: [${type}], which keeps all`;
  return new GraphsteadError(
    'INVALID_MUTATION',
    `a list of several values under ${name}, which holds one: all but the last would be lost`,
    { position, fix: `Give it one value${declare}.` },
  );
}
