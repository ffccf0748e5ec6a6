import type { FieldNode, FragmentDefinitionNode, GraphQLSchema } from 'graphql';
import type { GraphReader } from '../../graph/index.js';
import type { Field, Model, ObjectType, RootField } from '../../sdl/index.js';
import type { RequestContext } from '../operation.js';

/** An error of one custom call. `path` is relative to the value; it is prefixed with the field's own path. */
export interface CustomError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  /** the path is the remote's own and stays as it is */
  readonly absolute?: boolean;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** What every custom call is told. */
export interface CustomScope {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  /** the client's field, merged nodes of one response key */
  readonly fieldNodes: readonly FieldNode[];
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** coerced by the operation's variable definitions */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  /** calls that are told the same one see remotes in one state: what they read may be read once for all of them */
  readonly shared: object;
  /** the graph as the request sees it, for @custom(dql) */
  reader(): Promise<GraphReader>;
}

export interface CustomRootCall extends CustomScope {
  readonly field: RootField;
  /** arguments that the client gave (an absent one is no key; null is null) */
  readonly args: Readonly<Record<string, unknown>>;
}

export interface CustomFieldCall extends CustomScope {
  readonly type: ObjectType;
  readonly field: Field;
  /** one object a distinct parent, holding the sibling fields that `needs` names; an absent value is no key */
  readonly parents: readonly Readonly<Record<string, unknown>>[];
}

/**
 * A value in the remote's own keys (field names, or @remoteResponse names; no aliases); it is completed by the
 * executor. `undefined` and `null` complete to null.
 */
export interface CustomResult {
  readonly value: unknown;
  readonly errors: readonly CustomError[];
  /** one of many that a single call would have answered; another tells why it failed */
  readonly alsoFailed?: boolean;
}

/** No value came because the call failed. */
export function isFailure({ value, errors, alsoFailed }: CustomResult): boolean {
  return (value === null || value === undefined) && (alsoFailed === true || errors.length > 0);
}

/** Runs @custom fields. Implementations never throw for what a remote did: they answer errors. */
export interface CustomLogic {
  root(call: CustomRootCall): Promise<CustomResult>;
  /** aligned with `parents` */
  fields(call: CustomFieldCall): Promise<readonly CustomResult[]>;
}
