import { runQuery } from '../dql/index.js';
import type { Filter, FunctionCall } from '../dql/index.js';
import type { Graph, GraphReader } from '../graph/index.js';
import type { Field, Model, ObjectType, Storage } from '../sdl/index.js';
import type { Unreachable } from './contract.js';
import { INT_MAX, INT_MIN } from './execute/scalar.js';
import { block, call, childrenOf, literal, not, ofType, or, storedName, test, uidVariable } from './execute/syntax.js';

/** What definitions do not read, and a question that finds one node with data of it. */
export interface Gone {
  readonly told: Unreachable;
  readonly holds: FunctionCall;
  readonly filter?: Filter;
  /** the node is one that leads to such nodes */
  readonly to?: { readonly type: FunctionCall; readonly filter?: Filter };
}

/**
 * Stored data that one set of definitions reaches and another does not: of types and fields that are gone, and of edges
 * that lead to another type now; and nodes that cannot be read as the second set says: they lack a field that it requires, hold what
 * an enum has no more, or Int has not, do not say that they are of an interface, or lead to nodes that do not lead back. What holds no
 * data is not told.
 */
export async function unreachable(before: Model, after: Model, graph: Graph): Promise<readonly Unreachable[]> {
  return thoseWithData(
    [goneTypes, goneFields, missingFields, goneValues, shorterNumbers, newInterfaces, newInverses].flatMap((find) =>
      find(before, after),
    ),
    graph,
  );
}

/** Those for which there is a node. */
export async function thoseWithData(gone: readonly Gone[], graph: Graph): Promise<readonly Unreachable[]> {
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

async function isAny({ holds, filter, to }: Gone, reader: GraphReader): Promise<boolean> {
  const { subject } = holds;
  const leads = to && subject?.kind === 'predicate' ? test(call('uid_in', subject, [uidVariable('ends')])) : filter;
  const some = block({
    name: 'some',
    root: holds,
    ...(leads ? { filter: leads } : {}),
    page: { first: 1 },
    children: childrenOf([]),
  });
  const { type: root, filter: among } = to ?? {};
  const ends = root
    ? [block({ variable: 'ends', root, ...(among ? { filter: among } : {}), children: childrenOf([]) })]
    : [];
  const { roots } = await runQuery({ blocks: [some, ...ends] }, reader);
  return (roots[0].rows?.[0]?.length ?? 0) > 0;
}

export const stored = ({ objects }: Model): readonly ObjectType[] => objects.filter((type) => !type.remote);

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
      const to = end?.kind === 'object' ? { to: { type: ofType(end.storedName) } } : {};
      return [{ told, holds: call('has', storedName(field.storage), []), ...to }];
    });
  });
}

type Was = (field: Field) => Field | undefined;

/** The object types that both have, in their new form, with what the old one stored where a field has its values now, and the old one. */
function* keptTypes(before: Model, after: Model): Iterable<[type: ObjectType, was: Was, old: ObjectType]> {
  const old = new Map(stored(before).map((type) => [type.storedName, type]));
  for (const type of stored(after)) {
    const was = old.get(type.storedName);
    if (type.kind !== 'object' || !was) continue;
    const fields = new Map(storedFields(was).map((field) => [keyOf(field), field]));
    yield [type, (field) => fields.get(keyOf(field)), was];
  }
}

export const isRequired = ({ type }: Field): boolean => type.nonNull && !type.list;

function missingFields(before: Model, after: Model): Gone[] {
  return [...keptTypes(before, after)].flatMap(([type, was]) =>
    storedFields(type)
      .filter((field) => isRequired(field) && !(was(field) && isRequired(was(field) as Field)))
      .map((field) => lacking(type, field, 'it is required now')),
  );
}

/** Nodes of the type that do not have a field which it requires. */
export function lacking(type: ObjectType, field: Field, why: string): Gone {
  return {
    told: told(type, field, `${why}, and stored nodes lack it: they answer NON_NULL for it`),
    holds: ofType(type.storedName),
    filter: not(test(call('has', storedName(field.storage as Storage), []))),
  };
}

function goneValues(before: Model, after: Model): Gone[] {
  const valuesOf = (model: Model, name: string) => model.enums.find((one) => one.name === name)?.values ?? [];
  return [...keptTypes(before, after)].flatMap(([type, was]) =>
    storedFields(type).flatMap((field): Gone[] => {
      const { name } = field.type;
      const kept = new Set(valuesOf(after, name).map((value) => value.name));
      const lost = valuesOf(before, was(field)?.type.name ?? '').filter((value) => !kept.has(value.name));
      if (kept.size === 0 || lost.length === 0) return [];
      const names = lost.map((value) => value.name);
      const holding = call('eq', storedName(field.storage as Storage), names.map(literal));
      const why = `stored nodes hold what ${name} has no more (${names.join(', ')}): they answer INVALID_VALUE for it`;
      return [{ told: told(type, field, why), holds: ofType(type.storedName), filter: test(holding) }];
    }),
  );
}

function shorterNumbers(before: Model, after: Model): Gone[] {
  return [...keptTypes(before, after)].flatMap(([type, was]) =>
    storedFields(type)
      .filter((field) => field.type.name === 'Int' && was(field)?.type.name === 'Int64')
      .map((field) => beyondInt(type, field)),
  );
}

/** Nodes of the type with a number that Int does not hold. */
export function beyondInt(type: ObjectType, field: Field): Gone {
  const name = storedName(field.storage as Storage);
  const filter = or(test(call('lt', name, [literal(INT_MIN)])), test(call('gt', name, [literal(INT_MAX)])));
  return {
    told: told(
      type,
      field,
      'stored nodes hold numbers of more than 32 bits: they answer INVALID_VALUE for it, unless it is Int64',
    ),
    holds: ofType(type.storedName),
    ...(filter ? { filter } : {}),
  };
}

/** A node says what it is of when it is added. */
function newInterfaces(before: Model, after: Model): Gone[] {
  const storedNames = (model: Model, { interfaces }: ObjectType) =>
    interfaces.flatMap((name) => model.object(name)?.storedName ?? []);
  return [...keptTypes(before, after)].flatMap(([type, , old]) => {
    const had = new Set(storedNames(before, old));
    return storedNames(after, type).flatMap((name) => (had.has(name) ? [] : notOf(type, name)));
  });
}

/** Nodes of the type that do not say that they are of its interface. */
export function notOf(type: ObjectType, name: string): Gone {
  const message = `stored nodes of ${type.name} are not said to be of ${name}, and what asks for ${name} passes over them: set their type ${name} too`;
  return {
    told: { type: type.name, message },
    holds: ofType(type.storedName),
    filter: not(test(ofType(name))),
  };
}

/** Edges that were stored before they had another end. */
function newInverses(before: Model, after: Model): Gone[] {
  const seen = new Set<string>();
  return [...keptTypes(before, after)].flatMap(([type, was]) =>
    storedFields(type).flatMap((field): Gone[] => {
      const { inverse, storage } = field;
      const end = inverse && after.object(inverse.type);
      const back = end?.field(inverse?.field ?? '')?.storage;
      const old = was(field);
      if (!storage || !end || !back || back.reverse || old?.role !== 'edge' || old.inverse) return [];
      if (seen.has(keyOf(field))) return [];
      seen.add(keyOf(field));
      const why = `stored edges do not lead back: ${end.name}.${inverse?.field} does not show them until an update sets them again`;
      const filter = not(test(call('has', storedName(back), [])));
      const to = { type: ofType(end.storedName), ...(filter ? { filter } : {}) };
      return [{ told: told(type, field, why), holds: call('has', storedName(storage), []), to }];
    }),
  );
}

export function told(type: ObjectType, field: Field, why: string): Unreachable {
  return { type: type.name, field: field.name, message: `${type.name}.${field.name}: ${why}` };
}

/** An inverse that is read backwards holds nothing of its own. */
export const storedFields = (type: ObjectType): readonly Field[] =>
  type.fields.filter(({ storage }) => storage && !storage.reverse);

const keyOf = ({ storage }: Field): string => `${storage?.predicate}@${(storage?.languages ?? []).join(':')}`;

function reason(field: Field, now: Field | undefined): string | undefined {
  if (!now) return `its values stay stored (predicate ${field.storage?.predicate}), and nothing reaches them`;
  if (field.role !== 'edge' || now.role !== 'edge' || now.type.name === field.type.name) return undefined;
  return `it leads to ${now.type.name} now; edges to nodes of ${field.type.name} stay stored`;
}
