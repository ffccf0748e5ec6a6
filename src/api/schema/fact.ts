import { within } from '../../base/index.js';
import type { Field, Model, ObjectType, UnionType } from '../../sdl/index.js';

/** Questions about the model that decide what is generated; all from the model alone, so that their order is free. */

const ORDERABLE = new Set(['ID', 'Int', 'Int64', 'Float', 'String', 'DateTime']);
const NUMERIC = new Set(['Int', 'Int64', 'Float']);

/** Reads several languages: its value is the first of them that is there. */
const isMixed = (field: Field): boolean => (field.storage?.languages?.length ?? 0) > 1;

/** Reads any language, so that there is none to write. */
const isAnyLanguage = (field: Field): boolean => field.storage?.languages?.[0] === '.';

export const isStored = (field: Field): boolean => field.storage !== undefined;

/** The value of another service's ID: it names the node, but is no uid. */
export const isForeignKey = (field: Field): boolean => field.role === 'scalar' && field.type.name === 'ID';

export const isOrderable = (field: Field): boolean =>
  field.role === 'scalar' &&
  field.type.kind === 'scalar' &&
  !field.type.list &&
  ORDERABLE.has(field.type.name) &&
  !isMixed(field);

export const isNumeric = (field: Field): boolean => isOrderable(field) && NUMERIC.has(field.type.name);

/** May stand in a type's `has` filter. */
export const isPresence = (field: Field): boolean => isStored(field) && !isForeignKey(field) && !isMixed(field);

export const isSearched = (field: Field): boolean => field.search.length > 0 && !field.embedding && !isMixed(field);

/** May be written by a mutation, as far as the field itself says. */
const isWritable = (field: Field): boolean =>
  isStored(field) && !field.storage?.reverse && !isMixed(field) && !isAnyLanguage(field);

/** The object type or interface at an edge's other end; undefined for unions. */
export const targetOf = (model: Model, field: Field): ObjectType | undefined =>
  field.role === 'edge' ? model.object(field.type.name) : undefined;

export const unionOf = (model: Model, field: Field): UnionType | undefined => {
  const type = model.types.get(field.type.name);
  return type?.kind === 'union' ? type : undefined;
};

/** A node of the type can be named or made inside a mutation's input. An interface's can only be named. */
export const hasRef = (model: Model, type: ObjectType): boolean => refs(model).has(type.name);

const refsOf = new WeakMap<Model, ReadonlySet<string>>();

/** Types with a Ref: the largest set in which each has something to write, its edges within the set counted. */
function refs(model: Model): ReadonlySet<string> {
  const known = refsOf.get(model);
  if (known) return known;
  const found = new Set<string>();
  for (const type of model.objects) {
    if (type.remote || (type.kind === 'interface' && !type.id && type.xids.length === 0)) continue;
    found.add(type.name);
  }
  for (let shrunk = true; shrunk; ) {
    const empty = model.objects.filter(
      (type) =>
        found.has(type.name) &&
        type.kind === 'object' &&
        !type.id &&
        !type.password &&
        !writable(model, type, found).length,
    );
    for (const type of empty) found.delete(type.name);
    shrunk = empty.length > 0;
  }
  refsOf.set(model, found);
  return found;
}

function writable(model: Model, type: ObjectType, refs: ReadonlySet<string>): Field[] {
  return type.fields.filter((field) => {
    if (!isWritable(field)) return false;
    if (field.role !== 'edge') return true;
    const union = unionOf(model, field);
    return union ? !union.remote && union.members.some((name) => refs.has(name)) : refs.has(field.type.name);
  });
}

const inputs = new WeakMap<ObjectType, readonly Field[]>();

/** Fields of a type that its mutations take, in order. An edge counts where its other end has a Ref. */
export function inputFields(model: Model, type: ObjectType): readonly Field[] {
  return within(inputs, type, () => writable(model, type, refs(model)));
}

/** Fields of the type's Patch: another service's key cannot be changed here. */
export const patchFields = (model: Model, type: ObjectType): Field[] =>
  inputFields(model, type).filter((field) => !isForeignKey(field));

export const hasAdd = (model: Model, type: ObjectType): boolean =>
  type.generate.add && (inputFields(model, type).length > 0 || type.password !== undefined);

const hasPatch = (model: Model, type: ObjectType): boolean =>
  patchFields(model, type).length > 0 || type.password !== undefined;

export const hasUpdate = (model: Model, type: ObjectType): boolean =>
  type.generate.update && hasPatch(model, type) && hasFilter(type);

export const hasDelete = (type: ObjectType): boolean => type.generate.delete && hasFilter(type);

/** There is something to filter by. */
export const hasFilter = (type: ObjectType): boolean =>
  !type.remote && (type.id !== undefined || type.fields.some((f) => isForeignKey(f) || isPresence(f) || isSearched(f)));

/** ID and @id fields: what names one node. */
export const namingFields = (type: ObjectType): Field[] =>
  type.fields.filter((field) => field === type.id || isForeignKey(field) || field.xid !== undefined);

export const embeddings = (type: ObjectType): Field[] =>
  type.fields.filter((field) => field.embedding && isStored(field) && field.search.length > 0);

/** Edges whose other end is one known type, by which ours go on: stored, not to a union. */
export const nestedEdges = (model: Model, type: ObjectType): { field: Field; target: ObjectType }[] =>
  type.fields.flatMap((field) => {
    const target = targetOf(model, field);
    return target && !target.remote ? [{ field, target }] : [];
  });

/** Types with an order: by a field of their own or, ours, by one of a node they lead to. */
export function orderedTypes(model: Model, ours: boolean): ReadonlySet<string> {
  const stored = model.objects.filter((type) => !type.remote);
  const ordered = new Set(stored.filter((type) => type.fields.some(isOrderable)).map((type) => type.name));
  for (let grown = ours; grown; ) {
    const more = stored.filter(
      (type) => !ordered.has(type.name) && orderEdges(model, type).some(({ target }) => ordered.has(target.name)),
    );
    for (const type of more) ordered.add(type.name);
    grown = more.length > 0;
  }
  return ordered;
}

const ORDER_WORDS = new Set(['asc', 'desc', 'then']);

/** Edges to one node each, whose fields can order the nodes they start from. */
export const orderEdges = (model: Model, type: ObjectType): { field: Field; target: ObjectType }[] =>
  nestedEdges(model, type).filter(({ field }) => !field.type.list && !ORDER_WORDS.has(field.name));
