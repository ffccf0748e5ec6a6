import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphqlRequest, RequestContext, SubscriptionEvent } from '../../api/index.js';
import { GraphsteadError, mapped, onceFor } from '../../base/index.js';
import { LARGE_ANSWERS } from '../answers.js';
import { bodyText, mediaType } from '../body.js';
import type { Core } from '../core.js';
import { asItIs, TEXT_BYTES } from '../envelope.js';
import { encodeFrame, type EventStream, SharedFrames } from '../sse.js';
import { forward, isElsewhere } from './forwarded.js';
import { refusalOf, replyWith } from './graphql-reply.js';
import {
  acceptedTypes,
  EVENT_STREAM,
  JSON_TYPE,
  maySubscribe,
  requestOfJson,
  requestOfQueryString,
} from './graphql-request.js';
import { contextOf } from './request-context.js';
import type { RouteReply } from './route-reply.js';
import { beginShared, sharedStreamRoutes, tokenOf } from './shared-stream.js';

/** POST and GET /graphql, as GraphQL over HTTP has it; `Accept: text/event-stream` answers by GraphQL-SSE. */
export function graphqlRoutes(app: FastifyInstance, core: Core): void {
  const options = { bodyLimit: core.limits.graphqlBodyBytes, config: LARGE_ANSWERS };
  app.post('/graphql', options, (request, reply) => post(core, request, reply));
  app.get('/graphql', options, (request, reply) => get(core, request, reply));
  sharedStreamRoutes(app, core);
}

function post(core: Core, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return answer(core, request, reply, () => requestOf(request), true);
}

function get(core: Core, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const token = tokenOf(request);
  if (token !== undefined && request.method === 'GET' && acceptedTypes(request.headers)[0] === EVENT_STREAM) {
    return core.shared.of(token).answer(reply);
  }
  return answer(core, request, reply, () => requestOfQueryString(request), false);
}

async function answer(
  core: Core,
  request: FastifyRequest,
  reply: FastifyReply,
  parse: () => GraphqlRequest,
  allowMutation: boolean,
): Promise<FastifyReply> {
  const types = acceptedTypes(request.headers);
  const [accepted = JSON_TYPE] = types;
  let graphql: GraphqlRequest;
  let context: RequestContext;
  try {
    graphql = parse();
    const made = contextOf(core, request, reply.raw);
    context = made instanceof Promise ? await made : made;
    const token = allowMutation ? tokenOf(request) : undefined;
    if (token !== undefined) return beginShared(core, token, graphql, context, reply);
    if (core.forwarder && (await isElsewhere(core, request, graphql, context))) {
      return await forward(core.forwarder, request, reply);
    }
  } catch (thrown) {
    return send(reply, refusalOf(core, thrown, accepted));
  }
  const streamed = accepted === EVENT_STREAM || (types.includes(EVENT_STREAM) && maySubscribe(graphql));
  if (streamed) return stream(core, reply, graphql, context, allowMutation);
  const result = await core.api.execute(graphql, context, { allowMutation });
  return send(reply, replyWith(core, graphql, result, { accepted, allowMutation }));
}

function send(reply: FastifyReply, { status, type, headers, body }: RouteReply): FastifyReply {
  const varies = reply.getHeader('vary');
  reply.headers(headers);
  if (varies !== undefined && 'vary' in headers) {
    reply.header('vary', `${String(varies)}, ${headers['vary']}`);
  }
  return reply
    .code(status)
    .header('content-type', type)
    .serializer(asItIs)
    .send(body.length <= TEXT_BYTES ? body.toString('utf8') : body);
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

function requestOf(request: FastifyRequest): GraphqlRequest {
  const type = mediaType(request);
  const body = bodyText(request);
  if (type === 'application/graphql') return { query: body };
  if (type === JSON_TYPE) return requestOfJson(body);
  throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `a GraphQL request cannot be sent as "${type}"`, {
    fix: 'use Content-Type: application/json with {"query": "..."}',
  });
}
