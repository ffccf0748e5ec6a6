import { runQuery } from '../dql/index.js';
import type { FunctionCall } from '../dql/index.js';
import type { Graph, GraphReader } from '../graph/index.js';
import type { Field, Model, ObjectType } from '../sdl/index.js';
import type { Unreachable } from './contract.js';
import { block, call, childrenOf, ofType, storedName, test, uidVariable } from './execute/syntax.js';

/** A part of the definitions that others lack, and a question that finds one node that holds data of it. */
interface Gone {
  readonly told: Unreachable;
  readonly holds: FunctionCall;
  /** the node is one that leads to nodes of this type */
  readonly to?: FunctionCall;
}

/**
 * Stored data that one set of definitions reaches and another does not: of types and fields that are gone, and of edges
 * that lead to another type now. What holds no data is not told.
 */
export async function unreachable(before: Model, after: Model, graph: Graph): Promise<readonly Unreachable[]> {
  const gone = [...goneTypes(before, after), ...goneFields(before, after)];
  if (gone.length === 0) return [];
  const transaction = await graph.begin({ readOnly: true, bestEffort: true });
  const reader = await transaction.reader();
  try {
    const told: Unreachable[] = [];
    for (const part of gone) if (await isAny(part, reader)) told.push(part.told);
    return told;
  } finally {
    reader.release();
    transaction.abort();
  }
}

async function isAny({ holds, to }: Gone, reader: GraphReader): Promise<boolean> {
  const { subject } = holds;
  const leads = to && subject?.kind === 'predicate' && test(call('uid_in', subject, [uidVariable('ends')]));
  const some = block({
    name: 'some',
    root: holds,
    ...(leads ? { filter: leads } : {}),
    page: { first: 1 },
    children: childrenOf([]),
  });
  const ends = to ? [block({ variable: 'ends', root: to, children: childrenOf([]) })] : [];
  const { roots } = await runQuery({ blocks: [some, ...ends] }, reader);
  return (roots[0].rows?.[0]?.length ?? 0) > 0;
}

const stored = ({ objects }: Model): readonly ObjectType[] => objects.filter((type) => !type.remote);

function goneTypes(before: Model, after: Model): Gone[] {
  const kept = new Set(stored(after).map((type) => type.storedName));
  return stored(before)
    .filter((type) => type.kind === 'object' && !kept.has(type.storedName))
    .map(({ name, storedName: type }) => ({
      told: { type: name, message: `nodes of ${name} stay stored (type ${type}), and nothing reaches them` },
      holds: ofType(type),
    }));
}

function goneFields(before: Model, after: Model): Gone[] {
  const kept = new Map(stored(after).flatMap((type) => storedFields(type).map((field) => [keyOf(field), field])));
  const types = new Set(stored(after).map((type) => type.storedName));
  const seen = new Set<string>();
  return stored(before).flatMap((type) => {
    if (type.kind === 'object' && !types.has(type.storedName)) return [];
    return storedFields(type).flatMap((field): Gone[] => {
      const key = keyOf(field);
      if (!field.storage || seen.has(key)) return [];
      seen.add(key);
      const why = reason(field, kept.get(key));
      if (why === undefined) return [];
      const told = { type: field.owner, field: field.name, message: `${field.owner}.${field.name}: ${why}` };
      const end = kept.has(key) ? before.object(field.type.name) : undefined;
      const to = end?.kind === 'object' ? { to: ofType(end.storedName) } : {};
      return [{ told, holds: call('has', storedName(field.storage), []), ...to }];
    });
  });
}

/** An inverse that is read backwards holds nothing of its own. */
const storedFields = (type: ObjectType): readonly Field[] =>
  type.fields.filter(({ storage }) => storage && !storage.reverse);

const keyOf = ({ storage }: Field): string => `${storage?.predicate}@${(storage?.languages ?? []).join(':')}`;

function reason(field: Field, now: Field | undefined): string | undefined {
  if (!now) return `its values stay stored (predicate ${field.storage?.predicate}), and nothing reaches them`;
  if (field.role !== 'edge' || now.role !== 'edge' || now.type.name === field.type.name) return undefined;
  return `it leads to ${now.type.name} now; edges to nodes of ${field.type.name} stay stored`;
}
