import type { FieldNode, FragmentDefinitionNode, GraphQLField, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Clock, JsonWriter, Limits, Names } from '../../base/index.js';
import type { RunOptions, RunQuery } from '../../dql/index.js';
import type { Graph, GraphReader, Transaction } from '../../graph/index.js';
import type { Reads } from './reads.js';
import type { Model } from '../../sdl/index.js';
import type { RequestContext } from '../operation.js';
import type { Ahead } from './ahead.js';
import type { Errors } from './answer.js';
import type { CustomLogic, CustomScope } from './custom-logic.js';
import type { Turns } from './mutate/turn.js';
import { PlanParts, type Scope } from './scope.js';

/** What does not change from one request to the next while a schema is served. */
export interface Engine {
  readonly schema: GraphQLSchema;
  readonly model: Model;
  readonly graph: Graph;
  readonly runQuery: RunQuery;
  readonly names: Names;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly custom?: CustomLogic;
  /** in which mutations that lost to another writer try again */
  readonly turns: Turns;
  /** the stored reply of an idempotency key */
  readonly idempotentReply?: (scope: string, key: string, bodyHash: string) => Promise<Uint8Array | undefined>;
}

/** One operation that is being executed. */
export interface Request {
  readonly engine: Engine;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  readonly errors: Errors;
  /** the caller's own: everything is read and staged there, nothing committed */
  readonly transaction?: Transaction;
  readonly run: RunOptions;
  /** of this request's text and variables */
  readonly bodyHash: string;
  /** @cascade stands somewhere in the document */
  readonly cascades: boolean;
  /** what is written before the answer is put together */
  readonly ahead: Ahead;
  /** uids that its answer is made of, and that it has written */
  touched: number;
  /** hears what is read, where a subscription wants to know it */
  readonly reads?: Reads;
}

/** A root field's part of the answer, ready to be written; `write` is false when a non-null value is missing. */
export interface Written {
  /**
   * A call elsewhere failed and gave nothing: mutations after it are not executed. Tells its errors, which `write` does where
   * nobody asked before.
   */
  readonly failed?: () => void;
  write(out: JsonWriter): boolean;
}

/** One root field of an operation. */
export interface RootField {
  readonly key: string;
  readonly nodes: readonly FieldNode[];
}

/** A field with what the schema says of it. */
export interface DefinedField extends RootField {
  readonly definition: GraphQLField<unknown, unknown>;
}

/** A fresh scope for compiling one plan. */
export function scopeOf(request: Request, reader: Pick<GraphReader, 'schema'>): Scope {
  const { engine } = request;
  return {
    schema: engine.schema,
    model: engine.model,
    graph: reader.schema,
    names: engine.names,
    fragments: request.fragments,
    variables: request.variables,
    claims: request.context.claims,
    authorized: request.context.trusted !== true,
    cascades: request.cascades,
    plan: new PlanParts(engine.limits),
    rules: new Map(),
  };
}

/** What custom calls share what they read by: a request that only reads; of a mutation, one root field, since each may change what is read. */
export const sharedBy = (request: Request): object => (request.operation.operation === 'mutation' ? {} : request);

/** What a custom call of the request is told. */
export function customScopeOf(
  { engine, fragments, variables, context }: Request,
  fieldNodes: readonly FieldNode[],
  shared: object,
  reader: () => Promise<GraphReader>,
): CustomScope {
  return { model: engine.model, schema: engine.schema, fieldNodes, fragments, variables, context, shared, reader };
}
