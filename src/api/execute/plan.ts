import type { FieldNode, GraphQLOutputType } from 'graphql';
import type { Selection } from '../../dql/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import type { AggregateFunction } from '../schema/meaning.js';
import type { ScalarWriter } from './scalar.js';

/** How nulls behave around a field's value. */
export interface Shape {
  readonly nonNull: boolean;
  readonly list: boolean;
  readonly itemNonNull: boolean;
}

/**
 * What stands behind one response key of one concrete type. `slot` counts into the selections of the object plan that
 * it belongs to: the result column with the same place.
 */
export type FieldSource =
  | { readonly kind: 'typename' }
  | { readonly kind: 'id' }
  | { readonly kind: 'value'; readonly slot: number; readonly write: ScalarWriter }
  | { readonly kind: 'values'; readonly slot: number; readonly write: ScalarWriter }
  | { readonly kind: 'geo'; readonly slot: number }
  | { readonly kind: 'vector'; readonly slot: number }
  | { readonly kind: 'edge'; readonly slot: number; readonly object: ObjectPlan }
  | { readonly kind: 'aggregate'; readonly slot: number; readonly aggregate: AggregatePlan }
  /** a rule hides what would be aggregated: every value is null */
  | { readonly kind: 'hiddenAggregate'; readonly aggregate: AggregatePlan }
  | { readonly kind: 'distance' }
  /** a rule hides it, or there is nothing to ask for */
  | { readonly kind: 'absent' }
  | { readonly kind: 'custom'; readonly custom: CustomPlan };

export interface FieldPlan {
  /** `"key":` */
  readonly prefix: Buffer;
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly type: GraphQLOutputType;
  readonly shape: Shape;
  readonly source: FieldSource;
}

/** A @custom field of a stored type: what it needs of its siblings is read along. */
export interface CustomPlan {
  readonly type: ObjectType;
  readonly field: Field;
  /** name of the sibling, and where its value is; `id` is the uid */
  readonly needs: readonly { readonly field: Field; readonly slot: number | 'id' }[];
}

/** The fields of one selection set over nodes: of one concrete type, or of each that an abstract type may turn out to be. */
export interface ObjectPlan {
  /** read for every node; children of the block or edge */
  readonly selections: readonly Selection[];
  /** those that the client asked for, where others are read along */
  readonly asked?: readonly Selection[];
  /** column of `service.type` for abstract types; -1 where the type is known */
  readonly typeSlot: number;
  /** by stored type name; one entry "" where the type is known */
  readonly types: ReadonlyMap<string, ConcretePlan>;
  /** for nodes of an interface that are of none of its types */
  readonly fallback?: ConcretePlan;
}

export interface ConcretePlan {
  readonly name: string;
  readonly fields: readonly FieldPlan[];
}

/** Aggregates over a row of nodes (or all nodes of a block). */
export interface AggregatePlan {
  readonly typeName: string;
  readonly selections: readonly Selection[];
  readonly fields: readonly AggregateField[];
}

export interface AggregateField {
  readonly prefix: Buffer;
  readonly of:
    | { readonly kind: 'typename' }
    | { readonly kind: 'count' }
    | { readonly kind: 'value'; readonly fn: AggregateFunction; readonly slot: number; readonly scalar: string };
}
