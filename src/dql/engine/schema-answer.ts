import type { Names } from '../../base/index.js';
import type { NodeType, Predicate, Schema } from '../../graph/index.js';
import type { SchemaQuery } from '../syntax/index.js';

/** What one predicate can show, in the order it is shown; undefined leaves it out. */
const PROPERTIES: Readonly<Record<string, (predicate: Predicate) => unknown>> = {
  type: (predicate) => predicate.type,
  index: (predicate) => predicate.indexes.length > 0 || undefined,
  tokenizer: (predicate) => (predicate.indexes.length > 0 ? predicate.indexes.map(({ kind }) => kind) : undefined),
  reverse: (predicate) => predicate.reverse || undefined,
  count: (predicate) => predicate.count || undefined,
  list: (predicate) => predicate.list || undefined,
  upsert: (predicate) => predicate.upsert || undefined,
  lang: (predicate) => predicate.lang || undefined,
  no_conflict: (predicate) => predicate.noconflict || undefined,
  unique: (predicate) => predicate.unique || undefined,
  index_specs: (predicate) => indexSpecs(predicate),
};

/**
 * The answer of a schema query: `{"schema": [...], "types": [...]}`, each key only when there is something under it.
 * Names that the schema does not know are left out.
 */
export function schemaAnswer(query: SchemaQuery, schema: Schema, names: Names): Buffer {
  const everything = query.predicates === undefined && query.types === undefined;
  const predicates = everything ? sorted(schema.predicates) : known(query.predicates, (name) => schema.predicate(name));
  const types = everything ? sorted(schema.types) : known(query.types, (name) => schema.type(name));
  const asked = new Set(query.fields);
  const answer = {
    ...(predicates.length > 0
      ? { schema: predicates.map((predicate) => shownPredicate(predicate, asked, names)) }
      : {}),
    ...(types.length > 0 ? { types: types.map((type) => shownType(type, names)) } : {}),
  };
  return Buffer.from(JSON.stringify(answer));
}

function known<T>(asked: readonly string[] | undefined, find: (name: string) => T | undefined): T[] {
  return [...new Set(asked)].map(find).filter((found) => found !== undefined);
}

function sorted<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function shownPredicate(predicate: Predicate, asked: ReadonlySet<string>, names: Names): Record<string, unknown> {
  const shown: Record<string, unknown> = { predicate: names.shown(predicate.name) };
  for (const [property, read] of Object.entries(PROPERTIES)) {
    if (asked.size > 0 && !asked.has(property)) continue;
    const value = read(predicate);
    if (value !== undefined) shown[property] = value;
  }
  return shown;
}

function indexSpecs({ indexes }: Predicate): unknown {
  const specs = indexes.filter(({ options }) => Object.keys(options).length > 0);
  if (specs.length === 0) return undefined;
  return specs.map(({ kind, options }) => ({
    name: kind,
    options: Object.entries(options).map(([key, value]) => ({ key, value })),
  }));
}

function shownType(type: NodeType, names: Names): unknown {
  const fields = type.fields.map((field) => {
    const reverse = field.startsWith('~');
    return { name: reverse ? `~${names.shown(field.slice(1))}` : names.shown(field) };
  });
  return { fields, name: names.shown(type.name) };
}
