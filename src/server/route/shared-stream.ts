import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphqlRequest, RequestContext } from '../../api/index.js';
import { GraphsteadError } from '../../base/index.js';
import type { Core } from '../core.js';

const TOKEN = 'x-graphql-event-stream-token';
/** characters of an operation's id */
const ID_LENGTH = 256;

/** PUT /graphql reserves an event stream for many operations, DELETE stops one of them; see `SharedStreams`. */
export function sharedStreamRoutes(app: FastifyInstance, core: Core): void {
  app.put('/graphql', (_, reply) =>
    reply.code(201).header('content-type', 'text/plain; charset=utf-8').send(core.shared.reserve()),
  );
  app.delete('/graphql', (request, reply) => {
    const token = tokenOf(request);
    if (token === undefined) {
      throw new GraphsteadError('INVALID_REQUEST', 'nothing says of which event stream an operation is to be stopped', {
        fix: `send its token in the header ${TOKEN}`,
      });
    }
    core.shared.of(token).stop(operationId((request.query as Record<string, unknown>)['operationId']));
    return reply.send();
  });
}

/** Which shared stream a request belongs to. */
export function tokenOf({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): string | undefined {
  const token = headers[TOKEN] ?? (query as Record<string, unknown>)['token'];
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Answers 202; what comes of the operation goes to the stream. Throws NOT_FOUND, INVALID_REQUEST, OVERLOADED. */
export function beginShared(
  core: Core,
  token: string,
  graphql: GraphqlRequest,
  context: RequestContext,
  reply: FastifyReply,
): FastifyReply {
  const id = operationId(graphql.extensions?.['operationId']);
  core.shared.of(token).begin(id, (signal) => core.api.subscribe(graphql, { ...context, signal, gone: signal }));
  return reply.code(202).send();
}

function operationId(given: unknown): string {
  if (typeof given === 'string' && given !== '' && given.length <= ID_LENGTH) return given;
  throw new GraphsteadError('INVALID_REQUEST', 'the operation has no id', {
    fix: `send a text of at most ${ID_LENGTH} characters: to begin it in extensions.operationId, to stop it as ?operationId=; a request that is answered by itself sends no ${TOKEN}, which clients may have put into the headers that they were given`,
  });
}
