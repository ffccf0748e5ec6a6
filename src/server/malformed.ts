import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { GraphsteadError, type Names } from '../base/index.js';
import { asItIs, failure } from './envelope.js';
import { refuseSocket } from './refuse-socket.js';

type Request = Pick<IncomingMessage, 'httpVersion' | 'headers' | 'rawHeaders' | 'url'>;

/** A request that the library's parser lets pass, and the status that HTTP has for it. */
interface Malformed {
  readonly status: number;
  readonly refusal: GraphsteadError;
}

/** The first part of a target that names its host (RFC 9112, 3.2.2), and what stands behind it. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** As every other part of the service reads a target: the path, with the host in the header that it overrules. */
export function pathAlone({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string {
  const [, host, rest] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined) return url;
  headers.host = host;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Refuses what others between a client and this service could read otherwise, or not at all, as everything else is refused: with `errors`. */
export function refuseMalformed(app: FastifyInstance, names: Names): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const found = malformed(raw);
    if (found === undefined) done();
    else reply.code(found.status).headers(ENDS).serializer(asItIs).send(failure(found.refusal, names).body);
  });
  // Node answers it with a status alone
  app.server.on('checkExpectation', (_: IncomingMessage, response: ServerResponse) => {
    const { body } = failure(unexpected(), names);
    response.writeHead(417, { ...ENDS, 'content-length': Buffer.byteLength(body) }).end(body);
  });
  // Node ends the connection without a word
  app.server.on('connect', (_: IncomingMessage, socket: Socket) => {
    const { status, body } = failure(noTunnel(), names);
    refuseSocket(socket, status, body, ['allow: GET, POST']);
  });
}

/** What follows on such a connection cannot be trusted to begin where it seems to. */
const ENDS = { 'content-type': 'application/json', connection: 'close' };

const CHUNKED = /^chunked$/i;

/** What RFC 9112 wants refused and the parser takes; undefined: nothing. */
export function malformed({ httpVersion, headers, rawHeaders }: Request): Malformed | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return refused(505, `HTTP/${httpVersion} is not spoken here`, 'speak HTTP/1.1');
  }
  const hosts = rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === 'host').length;
  if (hosts > 1) return refused(400, `the request has ${hosts} Host headers`, 'send one');
  if (hosts === 0 && httpVersion === '1.1') {
    return refused(400, 'the request has no Host header', 'send the host and port of the address that is asked');
  }
  const coding = headers['transfer-encoding'];
  if (coding === undefined || CHUNKED.test(coding)) return undefined;
  return refused(501, `the transfer coding "${coding}" is not known here`, 'use chunked, and Content-Encoding: gzip');
}

function refused(status: number, message: string, fix: string): Malformed {
  return { status, refusal: new GraphsteadError('INVALID_REQUEST', message, { fix }) };
}

function unexpected(): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', 'the Expect header asks for something that is not known here', {
    fix: 'send Expect: 100-continue, or none',
  });
}

function noTunnel(): GraphsteadError {
  return new GraphsteadError('METHOD_NOT_ALLOWED', 'CONNECT is not taken: this service is no proxy', {
    fix: 'ask the service directly, without a proxy, or by another one',
  });
}
