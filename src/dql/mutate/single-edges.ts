import { forEachInSteps, type Steps } from '../../base/index.js';
import type { Schema } from '../../graph/index.js';
import type { QueryVariable } from '../contract.js';
import { uidsOf } from '../run/index.js';
import type { MutationBlock, Triple } from '../syntax/index.js';
import { subjectText } from './lists.js';

/**
 * Edges that the schema does not know and that are to lead to one node, as the peer makes them: those that JSON gives as an
 * object and never as a list. Where a node gets several, or N-Quads speak of the edge too, it is left a list: the last
 * would take the place of the others.
 */
export function* newSingleEdges(
  blocks: readonly MutationBlock[],
  schema: Schema,
  variables: ReadonlyMap<string, QueryVariable>,
): Steps<ReadonlySet<string>> {
  const singles = new Map<string, boolean>();
  const seen = new Set<string>();
  for (const { set } of blocks) {
    yield* forEachInSteps(set, (triple) => {
      const { predicate, alone } = triple;
      if (!isEdge(triple) || singles.get(predicate) === false || schema.predicate(predicate)) return;
      const place = `${subjectText(triple.subject)} ${predicate}`;
      singles.set(predicate, alone && !seen.has(place) && !leadsToSeveral(triple, variables));
      seen.add(place);
    });
  }
  return new Set([...singles].flatMap(([predicate, single]) => (single ? [predicate] : [])));
}

const isEdge = ({ object: { kind } }: Triple): boolean => kind !== 'literal' && kind !== 'value' && kind !== 'all';

function leadsToSeveral({ object }: Triple, variables: ReadonlyMap<string, QueryVariable>): boolean {
  return object.kind === 'variable' && uidsOf(variables.get(object.name)).length > 1;
}
