import type { IncomingHttpHeaders } from 'node:http';
import type { GraphqlRequest, SubscriptionEvent } from '../../api/index.js';
import {
  asError,
  each,
  ERROR_STATUS,
  type ErrorCode,
  GraphsteadError,
  type Step,
  toWire,
  type WireError,
} from '../../base/index.js';
import type { LargeAnswers } from '../answers.js';
import type { Core } from '../core.js';
import { payloadOf } from '../event-payload.js';
import { logFailure } from '../http.js';
import { maySubscribe, requestOfObject } from '../route/graphql-request.js';
import { contextOf } from '../route/request-context.js';
import type { Operation } from './operation.js';
import type { Outlet } from './outlet.js';
import { errorMessage, type Protocol } from './protocol.js';

/** What an operation needs of the service. */
export interface Runner {
  readonly core: Core;
  readonly answers: LargeAnswers;
  nextId(): string;
  /** counts one that has ended, with the status that HTTP would have told */
  answered(status: number, seconds: number): void;
}

/** An operation as its client asked for it. */
export interface Asked {
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** of its connection, once the client has said who it is; undefined: it was not taken */
  readonly headers: IncomingHttpHeaders | Promise<IncomingHttpHeaders | undefined>;
  readonly protocol: Protocol;
}

/** Runs one to its end, and tells its client what comes of it. Never rejects. */
export async function run(runner: Runner, asked: Asked, operation: Operation, outlet: Outlet): Promise<void> {
  const headers = await asked.headers;
  if (headers === undefined || operation.destroyed) return;
  const from = performance.now();
  const id = runner.nextId();
  const facts = { 'http.route': '/graphql', 'graphstead.request.id': id };
  const options = { kind: 'server', facts, key: `request:${id}`, headers } as const;
  await runner.core.trace.step('WS /graphql', options, async (step) => {
    const status = await answer(runner, { ...asked, headers, requestId: id }, { operation, outlet, step });
    if (status >= 400) step.fail(String(status));
    runner.answered(status, (performance.now() - from) / 1_000);
  });
}

interface Begun extends Asked {
  readonly headers: IncomingHttpHeaders;
  readonly requestId: string;
}

interface Under {
  readonly operation: Operation;
  readonly outlet: Outlet;
  readonly step: Step;
}

async function answer(
  { core, answers }: Runner,
  { id, payload, headers, protocol, requestId }: Begun,
  { operation, outlet, step }: Under,
): Promise<number> {
  const name = JSON.stringify(id);
  try {
    operation.once('close', core.streams.enter());
    answers.refuse();
    const graphql = requestOfObject(payload);
    // what would never end by itself does when the service stops, and so does what only its hash tells
    operation.headersSent = graphql.query === undefined || maySubscribe(graphql);
    if (graphql.operationName) step.tell({ 'graphql.operation.name': graphql.operationName.slice(0, 100) });
    core.draining.refuse();
    await core.caughtUp?.();
    const request = { id: requestId, method: 'POST', headers: { ...headers, ...keyIn(graphql) } };
    const context = await contextOf(core, request, operation);
    let status = 200;
    const take = (events: readonly SubscriptionEvent[]) => {
      if (operation.destroyed) return undefined;
      const [first] = events;
      const errors = first && refusalIn(first);
      if (errors === undefined) {
        const bytes = events.reduce((sum, { body }) => sum + body.length, 0);
        return outlet.answer(
          events.map((event) => nextOf(protocol, name, event)),
          bytes,
        );
      }
      status = statusOf(errors);
      return outlet.tell([errorMessage(protocol, id, errors)]);
    };
    await each(core.api.subscribe(graphql, context, { allowMutation: true }), take, context.signal);
    if (status === 200 && !context.signal.aborted) outlet.tell([`{"id":${name},"type":"${protocol.complete}"}`]);
    return status;
  } catch (thrown) {
    logFailure(core.log, requestId, thrown);
    const error = asError(thrown);
    if (!operation.destroyed) outlet.tell([errorMessage(protocol, id, [toWire(error)])]);
    return error.status;
  }
}

/** A connection has no headers for one operation alone. Throws INVALID_REQUEST. */
function keyIn({ extensions }: GraphqlRequest): { readonly 'idempotency-key'?: string } {
  const key = extensions?.['idempotencyKey'];
  if (key === undefined) return {};
  if (typeof key === 'string') return { 'idempotency-key': key };
  throw new GraphsteadError('INVALID_REQUEST', '"idempotencyKey" of the extensions must be a string', {
    fix: 'use a UUID',
  });
}

/** Where the event has an id, its `extensions` say it: a subscription goes on `after` it. */
function nextOf({ next }: Protocol, name: string, event: SubscriptionEvent): string {
  const text = payloadOf(event);
  // an answer ends with its extensions, which are never empty
  const payload = event.id === undefined ? text : `${text.slice(0, -2)},"eventId":${JSON.stringify(event.id)}}}`;
  return `{"id":${name},"type":"${next}","payload":${payload}}`;
}

function statusOf([first]: readonly WireError[]): number {
  return ERROR_STATUS[first.extensions['code'] as ErrorCode];
}

/** The errors of a request that could not begin: its answer has nothing beside them. */
function refusalIn({ body }: SubscriptionEvent): readonly WireError[] | undefined {
  if (!body.subarray(0, REFUSAL.length).equals(REFUSAL)) return undefined;
  const told = JSON.parse(body.toString('utf8')) as {
    readonly errors: readonly WireError[];
    readonly data?: unknown;
  };
  return 'data' in told ? undefined : told.errors;
}

const REFUSAL = Buffer.from('{"errors":');
