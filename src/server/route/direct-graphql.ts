import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { GraphqlRequest, RequestContext } from '../../api/index.js';
import type { LargeAnswers } from '../answers.js';
import type { AccessCheck } from '../authenticate.js';
import { utf8Text } from '../body.js';
import type { Core } from '../core.js';
import type { Origins } from '../cors.js';
import type { DirectAnswering, DirectHandler, DirectRequest, PlainHead } from '../direct/index.js';
import { failure, PACKED_FROM } from '../envelope.js';
import { logFailure } from '../http.js';
import { type GraphqlReply, refusalOf, replyTo } from './graphql-reply.js';
import { acceptedTypes, EVENT_STREAM, JSON_TYPE, requestOfJson } from './graphql-request.js';
import { contextOf } from './request-context.js';

interface Terms {
  readonly check: AccessCheck;
  readonly origins: Origins;
  readonly answers: LargeAnswers;
}

/** Headers of those whom the library answers: pages of other origins, shared streams, and who wants nothing packed. */
const NOT_PLAIN = ['origin', 'sec-fetch-site', 'x-graphql-event-stream-token', 'x-no-compression'];

/**
 * POST /graphql for requests with such a head, answered as `graphqlRoutes` does it. undefined where it would be refused
 * or is no query or mutation in JSON: the library answers those, so that refusals are worded in one place.
 */
export function directGraphql(core: Core, terms: Terms): (head: PlainHead) => DirectHandler | undefined {
  return ({ headers, length }) => {
    if (headers['content-type'] !== JSON_TYPE || length > core.limits.graphqlBodyBytes) return undefined;
    if (NOT_PLAIN.some((name) => headers[name] !== undefined)) return undefined;
    const types = acceptedTypes(headers);
    const packing = packingFor(headers['accept-encoding']);
    if (types.includes(EVENT_STREAM) || packing === undefined) return undefined;
    if (terms.check({ method: 'POST', url: '/graphql', headers }) !== undefined) return undefined;
    const accepted = types[0] ?? JSON_TYPE;
    return async (request, answering) => {
      const reply = await replyOf(core, request, answering, accepted);
      const isPacked = packing === 'gzip' && reply.body.length >= PACKED_FROM;
      const body = isPacked ? await pack(reply.body) : reply.body;
      terms.answers.add(body.length, answering);
      return { status: reply.status, shared: terms.origins.of(undefined), own: headersOf(reply, isPacked), body };
    };
  };
}

/** undefined: what it says takes a closer look than this */
function packingFor(accepted: string | undefined): 'gzip' | 'none' | undefined {
  if (accepted === undefined || accepted === 'identity') return 'none';
  return /^[a-z, ]+$/.test(accepted) && /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
}

const pack = promisify(gzip);

async function replyOf(
  core: Core,
  request: DirectRequest,
  answering: DirectAnswering,
  accepted: string,
): Promise<GraphqlReply> {
  let graphql: GraphqlRequest;
  let context: RequestContext;
  try {
    graphql = requestOfJson(utf8Text(request.body, 'the body'));
    const made = contextOf(core, request, answering);
    context = made instanceof Promise ? await made : made;
  } catch (thrown) {
    return refusalOf(core, thrown, accepted);
  }
  try {
    return await replyTo(core, graphql, context, { accepted, allowMutation: true });
  } catch (thrown) {
    const { status, body } = failure(thrown, core.names);
    logFailure(core.log, request.id, thrown, status);
    return { status, type: JSON_TYPE, headers: {}, body: Buffer.from(body) };
  }
}

function headersOf({ type, headers }: GraphqlReply, isPacked: boolean): Record<string, string> {
  const own: Record<string, string> = { 'content-type': type };
  for (const name in headers) own[name] = headers[name];
  if (!isPacked) return own;
  own['content-encoding'] = 'gzip';
  const { vary } = own;
  if (!vary?.toLowerCase().includes('accept-encoding'))
    own['vary'] = vary ? `${vary}, accept-encoding` : 'accept-encoding';
  return own;
}
