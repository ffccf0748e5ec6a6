import type { GraphqlAnswer, GraphqlRequest } from '../../api/index.js';
import { asError, toWire } from '../../base/index.js';
import type { Core } from '../core.js';
import { EVENT_STREAM, JSON_TYPE, RESPONSE_JSON } from './graphql-request.js';
import type { RouteReply } from './route-reply.js';

const NONE = {};

/**
 * What a query or a mutation came to, as a reply.
 * @param accepted the media type that the client likes best
 */
export function replyWith(
  core: Core,
  graphql: GraphqlRequest,
  result: GraphqlAnswer,
  { accepted, allowMutation }: { readonly accepted: string; readonly allowMutation: boolean },
): RouteReply {
  const refusedMethod = !allowMutation && result.status === 405;
  // a hash alone is a whole request, to which "send the text too" is an answer
  const isWhole = graphql.query !== undefined || graphql.extensions?.['persistedQuery'] !== undefined;
  const status = accepted === RESPONSE_JSON || refusedMethod || !isWhole ? result.status : 200;
  const headers = refusedMethod ? { ...result.headers, allow: 'POST' } : result.headers;
  return { status: core.names.dgraph ? 200 : status, type: accepted, headers, body: result.body };
}

/** A request that cannot be read at all: told as a GraphQL error, with its own status. */
export function refusalOf(core: Core, thrown: unknown, accepted: string): RouteReply {
  const error = asError(thrown);
  const body = JSON.stringify({ errors: [toWire(error)], ...(core.names.dgraph ? { data: null } : {}) });
  return {
    status: core.names.dgraph ? 200 : error.status,
    type: accepted === EVENT_STREAM ? JSON_TYPE : accepted,
    headers: NONE,
    body: Buffer.from(body),
  };
}
