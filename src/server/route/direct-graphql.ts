import type { GraphqlRequest, RequestContext } from '../../api/index.js';
import type { MaybePromise } from '../../base/index.js';
import { utf8Text } from '../body.js';
import type { Core } from '../core.js';
import type { DirectRequest, PlainHead } from '../direct/index.js';
import type { Answered } from '../forward/index.js';
import type { Answering } from '../signal.js';
import { isElsewhere } from './forwarded.js';
import { refusalOf, replyWith } from './graphql-reply.js';
import { acceptedTypes, EVENT_STREAM, JSON_TYPE, requestOfJson } from './graphql-request.js';
import { contextOf } from './request-context.js';
import type { RouteReply, RunDirectly } from './route-reply.js';
import { tokenOf } from './shared-stream.js';

const POSTED = { allowMutation: true };

/** POST /graphql, answered as `graphqlRoutes` does it. undefined where it is no query or mutation in JSON. */
export function directGraphql(core: Core, { headers, query, length }: PlainHead): RunDirectly | undefined {
  if (headers['content-type'] !== JSON_TYPE || length > core.limits.graphqlBodyBytes) return undefined;
  if (tokenOf({ headers, query }) !== undefined) return undefined;
  const types = acceptedTypes(headers);
  if (types.includes(EVENT_STREAM)) return undefined;
  const accepted = types[0] ?? JSON_TYPE;
  return (request, answering) => run(core, request, answering, accepted);
}

/** Not async: most requests wait for nothing but their answer, and each promise more is felt in what one costs. */
function run(core: Core, request: DirectRequest, answering: Answering, accepted: string): Promise<RouteReply> {
  try {
    const graphql = requestOfJson(utf8Text(request.body, 'the body'));
    const context = contextOf(core, request, answering);
    if (context instanceof Promise || core.forwarder)
      return runLater(core, request, answering, { graphql, context, accepted });
    return executed(core, graphql, context, accepted);
  } catch (thrown) {
    return Promise.resolve(refusalOf(core, thrown, accepted));
  }
}

interface Asked {
  readonly graphql: GraphqlRequest;
  readonly context: MaybePromise<RequestContext>;
  readonly accepted: string;
}

async function runLater(core: Core, request: DirectRequest, answering: Answering, asked: Asked): Promise<RouteReply> {
  const { graphql, accepted } = asked;
  let context: RequestContext;
  try {
    context = await asked.context;
    if (core.forwarder && (await isElsewhere(core, request, graphql, context))) {
      return replyOf(await core.forwarder.ask(request, request.body, answering));
    }
  } catch (thrown) {
    return refusalOf(core, thrown, accepted);
  }
  return executed(core, graphql, context, accepted);
}

function executed(core: Core, graphql: GraphqlRequest, context: RequestContext, accepted: string): Promise<RouteReply> {
  return core.api
    .execute(graphql, context, POSTED)
    .then((result) => replyWith(core, graphql, result, { accepted, ...POSTED }));
}

const NO_BYTES = Buffer.alloc(0);

/** said of every answer here, or of the body as it was sent there */
const OWN: ReadonlySet<string> = new Set(['content-type', 'content-length', 'date', 'x-request-id']);
const ofOrigins = (name: string) => name.startsWith('access-control-');

/** As the service that writes has answered it. */
function replyOf({ status, headers, body }: Answered): RouteReply {
  const kept = Object.entries(headers).filter(([name]) => !OWN.has(name) && !ofOrigins(name));
  const told = Buffer.isBuffer(body) ? { body } : { body: NO_BYTES, rest: body };
  return { status, type: headers['content-type'] ?? JSON_TYPE, headers: Object.fromEntries(kept), ...told };
}
