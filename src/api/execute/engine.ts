import { createHash } from 'node:crypto';
import { getDirectiveValues, GraphQLError, type OperationDefinitionNode } from 'graphql';
import { asError, GraphsteadError, type MaybePromise, toWire, type WireError } from '../../base/index.js';
import type { Transaction } from '../../graph/index.js';
import type { GraphqlAnswer, GraphqlRequest } from '../contract.js';
import type { RequestContext } from '../operation.js';
import { Errors, graphqlWire } from './answer.js';
import { callerHeaders } from './caller-headers.js';
import { unknownName } from '../schema/cascade-names.js';
import {
  DocumentCache,
  InvalidDocument,
  operationNamed,
  type PersistedQueries,
  type PreparedDocument,
} from './document.js';
import { Introspected } from './introspect.js';
import { executeOperation } from './operation.js';
import type { Engine, Request } from './request.js';
import { coerceInSteps, coerceVariables } from './variables.js';
import { Ahead } from './ahead.js';

/** A request whose document, operation and variables are good. */
export interface Prepared {
  readonly request: Request;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request as it came. */
interface Asked extends Pick<Request, 'context' | 'run'> {
  readonly given: GraphqlRequest;
  readonly text: string;
}

/** A request whose variables are still as they came. */
interface Begun extends Asked {
  readonly operation: Request['operation'];
  readonly document: PreparedDocument;
}

/** Executes requests against one served schema. */
export class Executor {
  readonly #documents: DocumentCache;
  readonly #introspected = new Introspected();
  #callerHeaders: readonly string[] | undefined;

  constructor(
    readonly engine: Engine,
    readonly persisted: PersistedQueries,
  ) {
    this.#documents = new DocumentCache(engine.schema, engine.limits);
  }

  /** Throws InvalidDocument, GraphsteadError. */
  prepare(given: GraphqlRequest, context: RequestContext): Prepared {
    const asked = this.#asked(given, context);
    const begun = begin(asked, this.#documents.prepare(asked.text));
    return this.#prepared(begun, coerceVariables(this.engine.schema, begun.operation, given.variables ?? {}));
  }

  /** The same with pauses where text or variables are large, in the caller's transaction if there is one. */
  prepareInSteps(given: GraphqlRequest, context: RequestContext, transaction?: Transaction): MaybePromise<Prepared> {
    const asked = this.#asked(given, context);
    const document = this.#documents.prepareInSteps(asked.text, asked.run);
    if (document instanceof Promise) return document.then((read) => this.#coerced(begin(asked, read), transaction));
    return this.#coerced(begin(asked, document), transaction);
  }

  #asked(given: GraphqlRequest, context: RequestContext): Asked {
    const { clock, limits, names } = this.engine;
    const text = this.persisted.resolve(given.query, given.extensions);
    const signal = context.gone ?? context.signal;
    const run = { deadline: clock.monotonic() + limits.queryMs, signal, clock, limits, names };
    return { given, context, text, run };
  }

  #coerced(begun: Begun, transaction?: Transaction): MaybePromise<Prepared> {
    const { given, operation, run } = begun;
    const coerced = coerceInSteps(this.engine.schema, operation, given.variables ?? {}, run);
    if (coerced instanceof Promise) return coerced.then((variables) => this.#prepared(begun, variables, transaction));
    return this.#prepared(begun, coerced as Request['variables'], transaction);
  }

  #prepared(begun: Begun, variables: Request['variables'], transaction?: Transaction): Prepared {
    const { given, context, text, document, operation, run } = begun;
    const unknown = unknownName(document.named, operation, { fragments: document.fragments, variables });
    if (unknown) throw new InvalidDocument([unknown]);
    const own: Request = {
      engine: this.engine,
      operation,
      fragments: document.fragments,
      variables,
      context,
      errors: new Errors(),
      run,
      cascades: document.cascades,
      bodyHash: context.idempotencyKey ? hashOf(text, given) : '',
      ahead: new Ahead(run, this.engine.limits),
      touched: 0,
    };
    const request = transaction ? { ...own, transaction } : own;
    return { request, headers: this.#cacheHeaders(operation, variables, context) };
  }

  #cacheHeaders(
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Readonly<Record<string, string>> {
    if (operation.operation !== 'query' || !operation.directives?.length) return {};
    const directive = this.engine.schema.getDirective('cacheControl');
    if (!directive) return {};
    const values = getDirectiveValues(directive, operation, variables as Record<string, unknown>);
    if (values?.maxAge === undefined || values.maxAge === null) return {};
    if (Number(values.maxAge) < 0) {
      throw new GraphsteadError('INVALID_GRAPHQL', `maxAge of @cacheControl is ${String(values.maxAge)}`, {
        fix: 'Give seconds, 0 or more.',
      });
    }
    this.#callerHeaders ??= callerHeaders(this.engine.model);
    return {
      'cache-control': `${isForAll(context, this.#callerHeaders) ? 'public' : 'private'},max-age=${String(values.maxAge)}`,
      vary: ['Accept-Encoding', ...this.#callerHeaders].join(', '),
    };
  }

  /** The `data` of a query or mutation as one answer. */
  run({ request, headers }: Prepared): Promise<GraphqlAnswer> {
    return executeOperation(request, this.#introspected).then((body) => {
      if (request.transaction) throwWhenLost(request.errors.list);
      const touched = String(request.touched);
      return {
        body,
        status: 200,
        headers: { ...(request.errors.list.length === 0 ? headers : {}), 'graphql-toucheduids': touched },
        kind: request.operation.operation,
      };
    });
  }
}

/**
 * What a key let in, what rules made the caller's own, and what a remote was sent headers for: a cache that many share must
 * not hand it on.
 */
function isForAll({ claims, caller = ANYONE, headers }: RequestContext, callerHeaders: readonly string[]): boolean {
  return !claims && caller === ANYONE && callerHeaders.every((name) => headers[name.toLowerCase()] === undefined);
}

const ANYONE = 'anyone';

/** Field by field: spreading costs each request some microseconds. */
function begin({ given, context, text, run }: Asked, document: PreparedDocument): Begun {
  return { given, context, text, run, document, operation: operationNamed(document, given.operationName) };
}

const LOST = ['TXN_ABORTED', 'TXN_FINISHED', 'TXN_EXPIRED'] as const;

/** The caller's transaction cannot be committed any more. */
export function isLost(thrown: unknown): boolean {
  return thrown instanceof GraphsteadError && LOST.some((code) => code === thrown.code);
}

function throwWhenLost(errors: readonly WireError[]): void {
  for (const { message, extensions } of errors) {
    const code = LOST.find((one) => one === extensions?.code);
    if (code) throw new GraphsteadError(code, message, { fix: String(extensions['fix']) });
  }
}

function hashOf(text: string, given: GraphqlRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([text, given.operationName ?? null, given.variables ?? null]))
    .digest('hex');
}

/** The errors of a request that was not executed. */
function refusal(thrown: unknown): readonly WireError[] {
  if (thrown instanceof InvalidDocument) return thrown.errors.map(graphqlWire);
  if (thrown instanceof GraphQLError) return [graphqlWire(thrown)];
  return [toWire(ownError(thrown))];
}

/** A JsonWriter past its bound throws RangeError. */
function ownError(thrown: unknown): GraphsteadError {
  if (!(thrown instanceof RangeError) || !thrown.message.startsWith('answer exceeds')) return asError(thrown);
  return new GraphsteadError('LIMIT_EXCEEDED', `${thrown.message} (answerBytes)`, {
    fix: 'Ask for less, or by pages.',
  });
}

/** An answer that holds errors only. */
export function refused(thrown: unknown): GraphqlAnswer {
  const error: GraphsteadError | undefined =
    thrown instanceof InvalidDocument || thrown instanceof GraphQLError ? undefined : ownError(thrown);
  const body = Buffer.from(JSON.stringify({ errors: refusal(thrown) }));
  return { body, status: error && error.status !== 200 ? error.status : 400, headers: {}, kind: undefined };
}
