import type { Limits, Names } from '../base/index.js';
import { parseQuery } from '../dql/index.js';
import type { Field, Model, ObjectType, RootField } from '../sdl/index.js';
import type { Unguarded } from './contract.js';

/**
 * Queries in the graph language that answer, or read, nodes of types whose @auth says who may query them: such a text is
 * held to no rule.
 */
export function unguarded(
  model: Model,
  options: { readonly names: Names; readonly limits: Limits },
): readonly Unguarded[] {
  const ruled = model.objects.filter((type) => isRuled(model, type));
  if (ruled.length === 0) return [];
  return model.queries.flatMap((field) => {
    if (field.custom.kind !== 'dql') return [];
    const named = namesIn(field, field.custom.dql, options);
    const answered = answeredBy(model, field);
    const types = ruled.filter((type) => answered.has(type.name) || reads(model, named, type)).map(({ name }) => name);
    if (types.length === 0) return [];
    const message = `Query.${field.name} reads ${types.join(', ')} past the rules of @auth: a dql text answers whoever may call its field`;
    return [{ field: field.name, types, message }];
  });
}

const isRuled = (model: Model, type: ObjectType): boolean =>
  [type.name, ...type.interfaces].some((name) => model.object(name)?.auth?.query !== undefined);

/** The type that a field gives, and those that its nodes may have. */
function answeredBy(model: Model, { type }: RootField): ReadonlySet<string> {
  const named = model.types.get(type.name);
  const members = named && 'members' in named ? named.members : [];
  return new Set([type.name, ...members]);
}

/** The text names the type, a predicate that it or a ruled interface of it brought, or an edge to its nodes. */
function reads(model: Model, named: ReadonlySet<string>, type: ObjectType): boolean {
  if (named.has(type.storedName)) return true;
  const isNamed = ({ storage }: Field): boolean => storage !== undefined && named.has(storage.predicate);
  const own = type.fields.filter(({ owner }) => {
    const from = model.object(owner);
    return owner === type.name || (from !== undefined && isRuled(model, from));
  });
  const unions = model.unions.filter(({ members }) => members.includes(type.name));
  const ends = new Set([type.name, ...type.interfaces, ...unions.map(({ name }) => name)]);
  const edges = model.objects.flatMap(({ fields }) => fields.filter((field) => ends.has(field.type.name)));
  return own.some(isNamed) || edges.some(isNamed);
}

/** Every predicate and type that a text names; nothing of one that cannot be read. */
function namesIn(
  field: RootField,
  dql: string,
  { names, limits }: { readonly names: Names; readonly limits: Limits },
): ReadonlySet<string> {
  const found = new Set<string>();
  try {
    collect(parseQuery(dql, { later: field.arguments.map(({ name }) => name.value), names, limits }), found);
  } catch {
    // refused where it counts, or told by whoever calls the field
  }
  return found;
}

const NAMING = new Set(['predicate', 'count', 'countPredicate', 'checkPassword']);

function collect(node: unknown, found: Set<string>): void {
  if (Array.isArray(node)) for (const item of node) collect(item, found);
  else if (typeof node === 'object' && node !== null) {
    const { kind, name, names, args } = node as Readonly<Record<string, unknown>>;
    if (typeof name === 'string' && NAMING.has(String(kind))) found.add(name);
    if (kind === 'types' && Array.isArray(names)) for (const type of names) found.add(String(type));
    // type(Draft)
    if (name === 'type' && Array.isArray(args)) for (const { text } of args) found.add(String(text));
    for (const part of Object.values(node)) collect(part, found);
  }
}
