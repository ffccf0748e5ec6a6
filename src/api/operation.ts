import type { GraphQLFieldConfigArgumentMap, GraphQLOutputType } from 'graphql';

/** Who asks, and what came with the request. */
export interface RequestContext {
  readonly requestId: string;
  /** incoming headers, lower-case names */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** verified JWT claims, when there are any */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** the app of this service asks for itself: rules do not hold */
  readonly trusted?: true;
  /** id of the agent whose turn asks, and waits for the answer: nothing that it reaches may wait for that agent */
  readonly asking?: string;
  /** a function's `graph.transaction` waits for the answer: what it reaches may send no message whose reply it would wait for */
  readonly inTransaction?: boolean;
  /** the request came by a method that must change nothing (GET): what it calls may read only */
  readonly readOnly?: boolean;
  /** aborted when nobody waits for the answer any more; it may be made when it is first asked for */
  readonly signal: AbortSignal;
  /** the same for work that looks now and then, where a signal would cost more than the work */
  readonly gone?: Pick<AbortSignal, 'aborted'>;
  /** Idempotency-Key of the request */
  readonly idempotencyKey?: string;
  /** tells those apart whose idempotency keys must not meet: never the credentials themselves; absent for anyone */
  readonly caller?: string;
  /** what goes into `extensions` of the answer; operations may add to it */
  readonly extensions: Record<string, unknown>;
}

/**
 * An operation that stands beside the generated ones: an app's function, or a subscription of the service.
 * Results are JavaScript values shaped like `type`; they are completed by the type's rules.
 */
export interface Operation {
  /** field name on Query, Mutation or Subscription */
  readonly name: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly description?: string;
  readonly args: GraphQLFieldConfigArgumentMap;
  readonly type: GraphQLOutputType;
  /** for query and mutation; `key`, the field's in the answer, tells the calls of one request apart. Default: the name */
  run?(args: Readonly<Record<string, unknown>>, context: RequestContext, key?: string): Promise<unknown>;
  /** for subscription: values of `type`, in batches of what came together; `id` becomes the SSE id line */
  subscribe?(
    args: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): AsyncIterable<readonly OperationEvent[]>;
}

export interface OperationEvent {
  readonly value: unknown;
  readonly id?: string;
}
