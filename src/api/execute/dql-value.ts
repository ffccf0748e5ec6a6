import {
  type GraphQLField,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { type Names, TYPE_PREDICATE } from '../../base/index.js';
import type { Model } from '../../sdl/index.js';
import type { Geometry } from '../../values/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import { geometryObject, isGeoName } from './geo.js';
import { replyKey } from './reply-key.js';

interface Shape {
  readonly schema: GraphQLSchema;
  readonly model: Model;
  readonly names: Names;
}

type Tree = Record<string, unknown>;

/**
 * What a query in the graph language answered, as the GraphQL type reads it: places as the objects of Point, Polygon
 * and MultiPolygon, a field that got no alias by its predicate (an ID by `uid`), and below an interface or a union each
 * node's own type, where its stored types were asked for. A node stands for a scalar by its one value, and @groupby for
 * its groups, unless the type asks for the object around them.
 */
export function asGraphqlValue(shape: Shape, type: GraphQLOutputType, value: unknown): unknown {
  const nullable = getNullableType(type) as GraphQLOutputType;
  if (Array.isArray(value)) {
    const item = isListType(nullable) ? (nullable.ofType as GraphQLOutputType) : nullable;
    const members = namesGroups(item) ? value : value.flatMap(groupsOf);
    const items = members.map((one) => asGraphqlValue(shape, item, one));
    // a node's own list, of a predicate that holds several values
    return isListType(nullable) && isLeafType(getNullableType(item)) ? items.flat() : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isLeafType(nullable)) return onlyValue(value);
  if (isObjectType(nullable) && isGeoName(nullable.name)) return place(value);
  const tree = value as Tree;
  const concrete = isAbstractType(nullable) ? storedType(shape, nullable.name, tree) : undefined;
  const known = concrete ?? (isInterfaceType(nullable) || isObjectType(nullable) ? nullable : undefined);
  if (!known) return value;
  const changed: Tree = concrete ? { ...tree, __typename: concrete.name } : { ...tree };
  for (const definition of Object.values(known.getFields())) {
    const key = replyKey(definition);
    const from = Object.hasOwn(tree, key) ? key : predicateKey(shape, definition);
    if (from !== undefined && Object.hasOwn(tree, from))
      changed[key] = asGraphqlValue(shape, definition.type, tree[from]);
  }
  return changed;
}

const GROUPS = '@groupby';

/** A type with `@remoteResponse(name: "@groupby")` takes the object that the groups stand in, as Dgraph has it. */
function namesGroups(type: GraphQLOutputType): boolean {
  const nullable = getNullableType(type);
  if (!isObjectType(nullable) && !isInterfaceType(nullable)) return false;
  return Object.values(nullable.getFields()).some((definition) => replyKey(definition) === GROUPS);
}

/** The graph language puts the groups of a level into one object. */
function groupsOf(item: unknown): readonly unknown[] {
  const groups = (item as Tree | null)?.[GROUPS];
  return Array.isArray(groups) ? groups : [item];
}

/** The key of an answer that holds a field's value where the query gave it no alias. */
function predicateKey({ names }: Shape, definition: GraphQLField<unknown, unknown>): string | undefined {
  const meaning = fieldMeaning(definition);
  if (meaning?.op !== 'field') return undefined;
  const { role, storage } = meaning.field;
  if (role === 'id') return 'uid';
  if (!storage) return undefined;
  const tag = storage.languages ? `@${storage.languages.join(':')}` : '';
  return `${storage.reverse ? '~' : ''}${names.shown(storage.predicate)}${tag}`;
}

/** The member of an interface or a union that a node's stored types name. */
function storedType({ schema, model, names }: Shape, name: string, tree: Tree): GraphQLObjectType | undefined {
  const stored = tree[names.shown(TYPE_PREDICATE)];
  const abstract = schema.getType(name);
  if (!Array.isArray(stored) || !isAbstractType(abstract)) return undefined;
  return schema
    .getPossibleTypes(abstract)
    .find((member) => stored.includes(model.object(member.name)?.storedName ?? member.name));
}

/** A scalar is the one value that was asked of a node; what holds several stays. */
function onlyValue(node: object): unknown {
  const values = Object.values(node);
  return values.length === 1 ? values[0] : node;
}

/** GeoJSON as the generated types describe it; what is no GeoJSON stays. */
function place(value: object): unknown {
  const { type, coordinates } = value as { readonly type?: unknown; readonly coordinates?: unknown };
  const isPlace = typeof type === 'string' && isGeoName(type) && Array.isArray(coordinates);
  return isPlace ? geometryObject(value as Geometry) : value;
}
