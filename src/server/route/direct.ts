import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { MaybePromise } from '../../base/index.js';
import type { LargeAnswers } from '../answers.js';
import type { AccessCheck } from '../authenticate.js';
import { asksNewest } from '../catch-up.js';
import type { Core } from '../core.js';
import type { Origins } from '../cors.js';
import type { DirectAnswer, DirectRequest, DirectRoute, PlainHead } from '../direct/index.js';
import { failure, PACKED_FROM } from '../envelope.js';
import { logFailure } from '../http.js';
import type { Answering } from '../signal.js';
import { mayBelongToWriter } from './forwarded.js';
import { directGraphql } from './direct-graphql.js';
import { GRAPH_LANGUAGE, joined } from './graph-language.js';
import { JSON_TYPE } from './graphql-request.js';
import type { RouteReply, RunDirectly } from './route-reply.js';

interface Terms {
  readonly check: AccessCheck;
  readonly origins: Origins;
  readonly answers: LargeAnswers;
}

/** Headers of those whom the library answers: pages of other sites, and who wants nothing packed. */
const NOT_PLAIN = ['origin', 'sec-fetch-site', 'x-no-compression'];

/** The only types of a body that the library reads (RFC 9110, 8.3.1), whatever parameters they have. */
const MEDIA_TYPE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+[\t ]*(?:;|$)/;

const NONE = {};

/**
 * The paths that are asked often, answered as the library's routes answer them. Whatever would be refused before it is
 * read is left to the library, so that refusals are worded in one place.
 */
export function directRoutes(core: Core, terms: Terms): DirectRoute['handlerOf'] {
  return (head) => {
    const { headers, path, url } = head;
    const run = path === '/graphql' ? directGraphql(core, head) : directGraphLanguage(core, head);
    const packing = packingFor(headers['accept-encoding']);
    if (run === undefined || packing === undefined || NOT_PLAIN.some((name) => name in headers)) return undefined;
    if (terms.check({ method: 'POST', url, headers }) !== undefined) return undefined;
    const caughtUp = asksNewest(head) ? core.caughtUp : undefined;
    // Not async: each promise more is felt in what a request costs.
    return (request, answering) => {
      const running = caughtUp ? caughtUp().then(() => run(request, answering)) : run(request, answering);
      return running.then(
        (reply) => answerOf(reply, packing, terms, answering),
        (thrown) => answerOf(failed(core, request, thrown), packing, terms, answering),
      );
    };
  };
}

function answerOf(
  reply: RouteReply,
  packing: Packing,
  { origins, answers }: Terms,
  answering: Answering,
): MaybePromise<DirectAnswer> {
  const shared = origins.of(undefined);
  const { status, rest, body } = reply;
  if (rest !== undefined) {
    answers.addStreamed(answering);
    return { status, shared, own: headersOf(reply, false), body, rest };
  }
  const isPacked = packing === 'gzip' && body.length >= PACKED_FROM && !isPackedThere(reply);
  const sent = (bytes: Buffer): DirectAnswer => {
    answers.add(bytes.length, answering);
    return { status, shared, own: headersOf(reply, isPacked), body: bytes };
  };
  return isPacked ? pack(body).then(sent) : sent(body);
}

type Packing = 'gzip' | 'none';

/** undefined: what it says takes a closer look than this */
function packingFor(accepted: string | undefined): Packing | undefined {
  if (accepted === undefined || accepted === 'identity') return 'none';
  return /^[a-z, ]+$/.test(accepted) && /\bgzip\b/.test(accepted) ? 'gzip' : undefined;
}

const pack = promisify(gzip);

function directGraphLanguage(core: Core, head: PlainHead): RunDirectly | undefined {
  const { path, length, headers } = head;
  // sent on as it comes
  if (core.forwarder !== undefined && (path !== '/query' || mayBelongToWriter(head, core))) return undefined;
  if (!Object.hasOwn(GRAPH_LANGUAGE, path) || length > core.limits.graphBodyBytes) return undefined;
  const type = headers['content-type'];
  if (type !== undefined && !MEDIA_TYPE.test(type)) return undefined;
  const work = GRAPH_LANGUAGE[path];
  const key = core.keys.nameOf(headers);
  return async (request, answering) => {
    const joining = joined(core, await work(core, request, answering, key));
    const body = joining instanceof Promise ? await joining : joining;
    return { status: 200, type: JSON_TYPE, headers: NONE, body };
  };
}

function failed(core: Core, request: DirectRequest, thrown: unknown): RouteReply {
  const { status, body } = failure(thrown, core.names);
  logFailure(core.log, request.id, thrown);
  return { status, type: JSON_TYPE, headers: NONE, body: Buffer.from(body) };
}

/** by the service that writes */
function isPackedThere({ headers }: RouteReply): boolean {
  return 'content-encoding' in headers;
}

function headersOf({ type, headers }: RouteReply, isPacked: boolean): Record<string, string> {
  const own: Record<string, string> = { 'content-type': type };
  for (const name in headers) own[name] = headers[name];
  if (!isPacked) return own;
  own['content-encoding'] = 'gzip';
  const { vary } = own;
  if (!vary?.toLowerCase().includes('accept-encoding'))
    own['vary'] = vary ? `${vary}, accept-encoding` : 'accept-encoding';
  return own;
}
