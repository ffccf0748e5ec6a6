import type { GraphQLField, GraphQLInputField, GraphQLNamedType } from 'graphql';
import type { EnumType, Field, ObjectType, RootField, ScalarName, Search, UnionType } from '../../sdl/index.js';
import type { Operation } from '../operation.js';

/**
 * What a generated thing means, attached as `extensions.graphstead` when the schema is generated, so that the executor
 * compiles a selection without looking at names. Read it with `rootMeaning`, `fieldMeaning`, `typeMeaning` and
 * `inputMeaning`.
 */

/** A field of Query, Mutation or Subscription. Arguments have the names that docs/reference/graphql-api.md tells. */
export type RootMeaning =
  /** arguments: the ID field and the @id fields by their own names */
  | { readonly op: 'get'; readonly type: ObjectType }
  /** filter, order, first, offset */
  | { readonly op: 'query'; readonly type: ObjectType }
  /** filter */
  | { readonly op: 'aggregate'; readonly type: ObjectType }
  /** like get, and the password's field */
  | { readonly op: 'checkPassword'; readonly type: ObjectType }
  /** by, topK, filter and the ID or @id arguments of get */
  | { readonly op: 'similarById'; readonly type: ObjectType }
  /** by, topK, vector, filter */
  | { readonly op: 'similarByEmbedding'; readonly type: ObjectType }
  /** input: [AddTInput!]!, upsert */
  | { readonly op: 'add'; readonly type: ObjectType }
  /** input: UpdateTInput! */
  | { readonly op: 'update'; readonly type: ObjectType }
  /** filter: TFilter!, ours: cascade */
  | { readonly op: 'delete'; readonly type: ObjectType }
  | { readonly op: 'custom'; readonly field: RootField }
  | { readonly op: 'operation'; readonly operation: Operation }
  /** representations: [_Any!]! */
  | { readonly op: 'entities' }
  | { readonly op: 'service' };

export type AggregateFunction = 'min' | 'max' | 'sum' | 'avg';

/** A field of any other object type or interface. */
export type FieldMeaning =
  /** a field of the model: id, scalar, edge, custom or remote, as `field.role` says */
  | { readonly op: 'field'; readonly type: ObjectType; readonly field: Field }
  /** `<field>Aggregate` beside an edge list; filter */
  | { readonly op: 'edgeAggregate'; readonly type: ObjectType; readonly field: Field; readonly target: ObjectType }
  /** of an aggregate result */
  | { readonly op: 'count' }
  | { readonly op: 'aggregateValue'; readonly function: AggregateFunction; readonly field: Field }
  /** of a mutation's payload: the nodes; filter, order, first, offset */
  | { readonly op: 'payloadNodes'; readonly type: ObjectType }
  | { readonly op: 'numUids' }
  | { readonly op: 'msg' }
  /** of Point, PointList, Polygon, MultiPolygon */
  | { readonly op: 'geo'; readonly field: 'longitude' | 'latitude' | 'points' | 'coordinates' | 'polygons' }
  /** `_Service.sdl`: what is handed to a federation's gateway */
  | { readonly op: 'sdl'; readonly sdl: string }
  /** a field of the ours-only score of a similarity query */
  | { readonly op: 'vectorDistance' };

/** A named type. */
export type TypeMeaning =
  | { readonly of: 'object'; readonly type: ObjectType }
  | { readonly of: 'union'; readonly type: UnionType }
  | { readonly of: 'enum'; readonly type: EnumType }
  | { readonly of: 'aggregate'; readonly type: ObjectType }
  | { readonly of: 'payload'; readonly action: 'add' | 'update' | 'delete'; readonly type: ObjectType }
  | { readonly of: 'filter'; readonly type: ObjectType }
  | { readonly of: 'unionFilter'; readonly type: UnionType }
  | { readonly of: 'order'; readonly type: ObjectType }
  /** enum values are field names */
  | { readonly of: 'orderable' | 'has' | 'embedding'; readonly type: ObjectType }
  | { readonly of: 'unionMember'; readonly type: UnionType }
  /** AddTInput, TPatch, TRef: fields are `inputField`s and maybe a `password` */
  | { readonly of: 'add' | 'patch' | 'ref'; readonly type: ObjectType }
  | { readonly of: 'unionRef'; readonly type: UnionType }
  /** UpdateTInput: filter, set, remove, ours: nested */
  | { readonly of: 'update'; readonly type: ObjectType }
  /** ours. TNested and TCascade: an edge's name -> a step to what lies there */
  | { readonly of: 'nested' | 'cascade'; readonly type: ObjectType }
  /** ours. UNestedUpdate{filter set remove nested}, UCascadeStep{filter cascade}; of a union: a `member` each */
  | { readonly of: 'nestedUpdate' | 'cascadeStep'; readonly type: ObjectType | UnionType }
  /** StringHashFilter, IntFilter, PointGeoFilter, E_hash ...: which operators each field name is says `inputMeaning` */
  | { readonly of: 'valueFilter' }
  | { readonly of: 'geo'; readonly name: ScalarName }
  | { readonly of: 'entity' };

export type ValueOperator =
  | 'eq'
  | 'in'
  | 'le'
  | 'lt'
  | 'ge'
  | 'gt'
  | 'between'
  | 'allofterms'
  | 'anyofterms'
  | 'alloftext'
  | 'anyoftext'
  | 'regexp'
  | 'ngram'
  | 'near'
  | 'within'
  | 'contains'
  | 'intersects';

/** A field of an input type. */
export type InputMeaning =
  /** of TFilter: nodes by ID */
  | { readonly op: 'ids'; readonly field: Field }
  /** of TFilter: one value of the field meets the conditions; `search` says which indexes stand behind it */
  | { readonly op: 'search'; readonly field: Field; readonly search: readonly Search[] }
  /** ours, of TFilter: some node at the edge's other end meets the filter */
  | { readonly op: 'edgeFilter'; readonly field: Field; readonly target: string }
  | { readonly op: 'has' | 'and' | 'or' | 'not' }
  /** of UFilter of a union */
  | { readonly op: 'memberTypes' }
  /** of UFilter, URef and steps of a union */
  | { readonly op: 'member'; readonly type: ObjectType }
  /** of TOrder */
  | { readonly op: 'asc' | 'desc' | 'then' }
  /** ours, of TOrder: by a field of the node at the edge's other end */
  | { readonly op: 'edgeOrder'; readonly field: Field; readonly target: string }
  /** of AddTInput, TPatch, TRef: the ID in a TRef included */
  | { readonly op: 'inputField'; readonly field: Field }
  | { readonly op: 'password' }
  /** ours, of TNested and TCascade */
  | { readonly op: 'edge'; readonly field: Field }
  /** of UpdateTInput, UNestedUpdate and UCascadeStep */
  | { readonly op: 'filter' | 'set' | 'remove' | 'nested' | 'cascade' }
  /** of a value filter */
  | { readonly op: 'compare'; readonly operator: ValueOperator };

/** The meaning of a field of Query, Mutation or Subscription; undefined for introspection. */
export function rootMeaning(field: GraphQLField<unknown, unknown>): RootMeaning | undefined {
  return field.extensions.graphstead as RootMeaning | undefined;
}

/** The meaning of a field of any other object type or interface; undefined in types that an Operation brought along. */
export function fieldMeaning(field: GraphQLField<unknown, unknown>): FieldMeaning | undefined {
  return field.extensions.graphstead as FieldMeaning | undefined;
}

/** The meaning of a named type; undefined for scalars, the user's own inputs and types that an Operation brought along. */
export function typeMeaning(type: GraphQLNamedType): TypeMeaning | undefined {
  return type.extensions.graphstead as TypeMeaning | undefined;
}

/** The meaning of an input's field; undefined in the user's own inputs. */
export function inputMeaning(field: GraphQLInputField): InputMeaning | undefined {
  return field.extensions.graphstead as InputMeaning | undefined;
}

/** How a meaning is attached. */
export const means = (
  meaning: RootMeaning | FieldMeaning | TypeMeaning | InputMeaning,
): { readonly graphstead: typeof meaning } => ({ graphstead: meaning });
