import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphqlRequest, RequestContext, SubscriptionEvent } from '../../api/index.js';
import { asError, GraphsteadError, mapped, onceFor, toWire } from '../../base/index.js';
import { LARGE_ANSWERS } from '../answers.js';
import { bodyText, mediaType, parseJsonObject } from '../body.js';
import type { Core } from '../core.js';
import { TEXT_BYTES } from '../envelope.js';
import { encodeFrame, type EventStream, SharedFrames } from '../sse.js';
import { contextOf } from './request-context.js';
import { beginShared, sharedStreamRoutes, tokenOf } from './shared-stream.js';

const JSON_TYPE = 'application/json';
const RESPONSE_JSON = 'application/graphql-response+json';
const EVENT_STREAM = 'text/event-stream';
const GIVEN = [JSON_TYPE, RESPONSE_JSON, EVENT_STREAM];

/** POST and GET /graphql, as GraphQL over HTTP has it; `Accept: text/event-stream` answers by GraphQL-SSE. */
export function graphqlRoutes(app: FastifyInstance, core: Core): void {
  const options = { bodyLimit: core.limits.graphqlBodyBytes, config: LARGE_ANSWERS };
  app.post('/graphql', options, (request, reply) => post(core, request, reply));
  app.get('/graphql', options, (request, reply) => get(core, request, reply));
  sharedStreamRoutes(app, core);
}

function post(core: Core, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return answer(core, request, reply, () => requestOf(core, request), true);
}

function get(core: Core, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const token = tokenOf(request);
  if (token !== undefined && request.method === 'GET' && acceptedTypes(request)[0] === EVENT_STREAM) {
    return core.shared.of(token).answer(reply);
  }
  if (isWebSocket(request)) throw noWebSockets();
  return answer(core, request, reply, () => requestOfQueryString(request), false);
}

function isWebSocket({ headers: { upgrade } }: FastifyRequest): boolean {
  return upgrade?.toLowerCase() === 'websocket';
}

function noWebSockets(): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', 'there are no WebSockets here: subscriptions are event streams', {
    fix: 'ask with Accept: text/event-stream, in a browser by EventSource or the package graphql-sse',
  });
}

async function answer(
  core: Core,
  request: FastifyRequest,
  reply: FastifyReply,
  parse: () => GraphqlRequest,
  allowMutation: boolean,
): Promise<FastifyReply> {
  const types = acceptedTypes(request);
  const [accepted = JSON_TYPE] = types;
  let graphql: GraphqlRequest;
  let context: RequestContext;
  try {
    graphql = parse();
    const made = contextOf(core, request, reply);
    context = made instanceof Promise ? await made : made;
    const token = allowMutation ? tokenOf(request) : undefined;
    if (token !== undefined) return beginShared(core, token, graphql, context, reply);
  } catch (thrown) {
    return refuse(reply, accepted, thrown, core);
  }
  const streamed = accepted === EVENT_STREAM || (types.includes(EVENT_STREAM) && maySubscribe(graphql));
  if (streamed) return stream(core, reply, graphql, context, allowMutation);
  const result = await core.api.execute(graphql, context, { allowMutation });
  const { body } = result;
  const refusedMethod = !allowMutation && result.status === 405;
  // a hash alone is a whole request, to which "send the text too" is an answer
  const isWhole = graphql.query !== undefined || graphql.extensions?.['persistedQuery'] !== undefined;
  const status = accepted === RESPONSE_JSON || refusedMethod || !isWhole ? result.status : 200;
  const varies = reply.getHeader('vary');
  reply.headers(result.headers);
  if (varies !== undefined && 'vary' in result.headers) {
    reply.header('vary', `${String(varies)}, ${result.headers['vary']}`);
  }
  return reply
    .code(core.names.dgraph ? 200 : status)
    .header('content-type', accepted)
    .serializer(asItIs)
    .send(body.length <= TEXT_BYTES ? body.toString('utf8') : body);
}

/** Set so that a text keeps the media type that it is given: the framework would write a charset behind it. */
const asItIs = (text: string): string => text;

/** A request that cannot be read at all: told as a GraphQL error, with its own status. */
function refuse(reply: FastifyReply, accepted: string, thrown: unknown, core: Core): FastifyReply {
  const error = asError(thrown);
  const body = JSON.stringify({ errors: [toWire(error)], ...(core.names.dgraph ? { data: null } : {}) });
  const type = accepted === EVENT_STREAM ? JSON_TYPE : accepted;
  return reply
    .code(core.names.dgraph ? 200 : error.status)
    .header('content-type', type)
    .send(body);
}

async function stream(
  core: Core,
  reply: FastifyReply,
  graphql: GraphqlRequest,
  context: RequestContext,
  allowMutation: boolean,
): Promise<FastifyReply> {
  const run = async (events: EventStream) => {
    await events.send(mapped(core.api.subscribe(graphql, context, { allowMutation }), framesOf));
    if (!events.signal.aborted) events.add({ event: 'complete', data: '' });
  };
  return core.streams.answer(reply, run, context.signal);
}

/** what came together is one list for all its subscribers */
const framesOf = onceFor((events: readonly SubscriptionEvent[]) => new SharedFrames(events.map(frameOf).join('')));
const frameOf = onceFor(({ body, id }: SubscriptionEvent) =>
  encodeFrame({ event: 'next', data: body.toString('utf8'), ...(id ? { id } : {}) }),
);

/** The media types that the client takes and that there are, the one it likes best first; none is application/json. */
function acceptedTypes({ headers: { accept } }: FastifyRequest): readonly string[] {
  if (accept === undefined || accept === '*/*') return [];
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .map(([type, ...parameters]) => ({ type, weight: weightOf(parameters) }))
    .filter(({ type, weight }) => GIVEN.includes(type) && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ type }) => type);
}

function weightOf(parameters: readonly string[]): number {
  const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
  return Number.isNaN(weight) ? 1 : weight;
}

/** A stream can bring any answer, so that a word too many does no harm. */
function maySubscribe({ query }: GraphqlRequest): boolean {
  return /\bsubscription\b/.test(query ?? '');
}

function requestOf(core: Core, request: FastifyRequest): GraphqlRequest {
  const type = mediaType(request);
  const body = bodyText(request, core.limits.graphqlBodyBytes);
  if (type === 'application/graphql') return { query: body };
  if (type !== JSON_TYPE) {
    throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `a GraphQL request cannot be sent as "${type}"`, {
      fix: 'use Content-Type: application/json with {"query": "..."}',
    });
  }
  return checked(parseJsonObject(body, 'the GraphQL request'));
}

/** A request in the query string of a GET. Throws INVALID_REQUEST. */
export function requestOfQueryString(request: FastifyRequest): GraphqlRequest {
  const raw = request.query as Record<string, string | undefined>;
  return checked({
    query: raw['query'],
    operationName: raw['operationName'] || undefined,
    variables: raw['variables'] ? nullable(raw['variables'], 'variables') : undefined,
    extensions: raw['extensions'] ? nullable(raw['extensions'], 'extensions') : undefined,
  });
}

function nullable(text: string, what: string): unknown {
  return text === 'null' ? null : parseJsonObject(text, `the parameter ${what}`);
}

function checked(json: Record<string, unknown>): GraphqlRequest {
  const { query, operationName, variables, extensions } = json;
  const wrong = (name: string, kind: string) =>
    new GraphsteadError('INVALID_REQUEST', `"${name}" of a GraphQL request must be ${kind}`, {
      fix: 'send {"query": "...", "operationName": "...", "variables": {...}}',
    });
  if (query !== undefined && query !== null && typeof query !== 'string') throw wrong('query', 'a string');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw wrong('operationName', 'a string');
  }
  if (!isObjectOrNothing(variables)) throw wrong('variables', 'an object');
  if (!isObjectOrNothing(extensions)) throw wrong('extensions', 'an object');
  if (!query && !extensions) {
    throw new GraphsteadError('INVALID_REQUEST', 'the GraphQL request has no "query"', {
      fix: 'send {"query": "{ __typename }"}',
    });
  }
  return { query: query ?? undefined, operationName, variables, extensions };
}

function isObjectOrNothing(value: unknown): value is Record<string, unknown> | null | undefined {
  return value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value));
}
