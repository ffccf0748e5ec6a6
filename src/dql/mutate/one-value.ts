import { forEachInSteps, GraphsteadError, type Steps } from '../../base/index.js';
import { growsIntoList, type Predicate, type Schema } from '../../graph/index.js';
import type { MutationBlock, SubjectReference, Triple } from '../syntax/index.js';

type Single = Pick<Predicate, 'name' | 'type' | 'lang'>;

/**
 * Refuses a JSON list of several values under a predicate that holds one: all but the last would be lost without a word,
 * as they are with the peer. `lists` are those that nobody declared and that are to hold several. Throws INVALID_MUTATION.
 */
export function* demandSingle(
  blocks: readonly MutationBlock[],
  schema: Schema,
  lists: ReadonlySet<string>,
): Steps<void> {
  for (const { set } of blocks) {
    // an object of the text is one subject, also where what it nests stands between the items of its list
    const listed = new Map<SubjectReference, Set<string>>();
    yield* forEachInSteps(set, (triple) => {
      const single = triple.listed ? singleOf(triple, schema, lists) : undefined;
      if (!single) return;
      const places = listed.get(triple.subject) ?? new Set<string>();
      const place = `${triple.predicate}@${languageOf(triple)}`;
      if (places.has(place)) throw severalValues(triple, single);
      listed.set(triple.subject, places.add(place));
    });
  }
}

/** The predicate of a statement, where it holds one value or will. */
function singleOf(triple: Triple, schema: Schema, lists: ReadonlySet<string>): Single | undefined {
  const { predicate: name, object } = triple;
  const known = schema.predicate(name);
  if (known) return known.list ? undefined : known;
  if (object.kind !== 'literal' || lists.has(name)) return undefined;
  return { name, type: object.value.type, lang: object.lang !== '' };
}

const languageOf = ({ object, lang }: Triple): string => (object.kind === 'literal' ? object.lang : lang);

function severalValues({ position }: Triple, { name, type, lang }: Single): GraphsteadError {
  const mayList = !lang && (type === 'uid' || growsIntoList(type));
  const declare = mayList ? `, or declare ${name}: [${type}], which keeps all` : '';
  return new GraphsteadError(
    'INVALID_MUTATION',
    `a list of several values under ${name}, which holds one: all but the last would be lost`,
    { position, fix: `Give it one value${declare}.` },
  );
}
