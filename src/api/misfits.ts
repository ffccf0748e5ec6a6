import { type Graph, type GraphReader, hasUid, hexUid, sampleOf } from '../graph/index.js';
import type { Field, Model, ObjectType, Storage } from '../sdl/index.js';
import type { Unreachable } from './contract.js';
import { and, call, literal, not, ofType, storedName, test } from './execute/syntax.js';
import {
  beyondInt,
  type Gone,
  isRequired,
  lacking,
  notOf,
  stored,
  storedFields,
  thoseWithData,
  told,
} from './unreachable.js';

/** nodes of each edge that are looked at, and edges of each */
const SAMPLE = 500;

/**
 * What stored nodes do not have as the definitions say it: they lack a field that is required, hold what an enum or Int does not
 * have, are not said to be of an interface, or lead to nodes that do not lead back (on samples). Requests to GraphQL leave nothing such;
 * imports and the graph language may.
 */
export async function misfits(model: Model, graph: Graph): Promise<readonly Unreachable[]> {
  const types = stored(model).filter(({ kind }) => kind === 'object');
  const gone = types.flatMap((type) => [
    ...storedFields(type).flatMap((field) => ofField(model, type, field)),
    ...type.interfaces.flatMap((name) => notOf(type, model.object(name)?.storedName ?? name)),
  ]);
  return [...(await thoseWithData(gone, graph)), ...(await halfEdges(model, graph))];
}

function ofField(model: Model, type: ObjectType, field: Field): readonly Gone[] {
  const strange = field.type.name === 'Int' ? beyondInt(type, field) : strangeValue(model, type, field);
  return [...(isRequired(field) ? [lacking(type, field, 'it is required')] : []), ...(strange ? [strange] : [])];
}

function strangeValue(model: Model, type: ObjectType, field: Field): Gone | undefined {
  if (field.type.list) return undefined;
  const values = model.enums.find(({ name }) => name === field.type.name)?.values.map(({ name }) => name);
  if (!values) return undefined;
  const name = storedName(field.storage as Storage);
  const why = `stored nodes hold what ${field.type.name} does not have: they answer INVALID_VALUE for it`;
  const filter = and(test(call('has', name, [])), not(test(call('eq', name, values.map(literal)))));
  return { told: told(type, field, why), holds: ofType(type.storedName), ...(filter ? { filter } : {}) };
}

async function halfEdges(model: Model, graph: Graph): Promise<readonly Unreachable[]> {
  const transaction = await graph.begin({ readOnly: true, bestEffort: true });
  const reader = await transaction.reader();
  try {
    const found: Unreachable[] = [];
    for (const type of stored(model)) {
      for (const field of storedFields(type)) {
        // what an interface has is looked at there
        const half = field.owner === type.name ? await halfEdge(model, field, reader) : undefined;
        if (half !== undefined) found.push(told(type, field, half));
      }
    }
    return found;
  } finally {
    reader.release();
    transaction.abort();
  }
}

/** An edge of the field whose other end does not lead back, as people are told of it. */
async function halfEdge(model: Model, { storage, inverse }: Field, reader: GraphReader): Promise<string | undefined> {
  const other = inverse && model.object(inverse.type)?.field(inverse.field)?.storage;
  const there = storage && reader.schema.predicate(storage.predicate);
  const back = other && !other.reverse ? reader.schema.predicate(other.predicate) : undefined;
  if (!there || !back) return undefined;
  const uids = await sampleOf(reader, there, SAMPLE);
  const { rows } = await reader.edges(there, uids);
  for (const [i, row] of rows.entries()) {
    const ends = row.subarray(0, SAMPLE);
    const { rows: returning } = await reader.edges(back, ends);
    const lost = returning.findIndex((subjects) => !hasUid(subjects, uids[i]));
    if (lost >= 0) return `${hexUid(uids[i])} leads to ${hexUid(ends[lost])}, which does not lead back by ${back.name}`;
  }
  return undefined;
}
