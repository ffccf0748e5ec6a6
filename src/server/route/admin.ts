import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type GraphqlRequest, shownRemarks } from '../../api/index.js';
import { GraphsteadErrors } from '../../base/index.js';
import { bodyText, mediaType, parseJsonObject } from '../body.js';
import type { Core } from '../core.js';
import { success } from '../envelope.js';
import { wasForwarded } from '../forward/index.js';
import { forward } from './forwarded.js';
import { requestOfQueryString } from './graphql-request.js';
import { contextOf } from './request-context.js';

/** The types are the business of the service that writes, everything else there that of the service that is asked. */
const isAboutTypes = ({ query }: GraphqlRequest) => /\b(get|update)GQLSchema\b/.test(String(query));

/** Type definitions in and out, as text under /admin/schema and as GraphQL under /admin. */
export function adminRoutes(app: FastifyInstance, core: Core): void {
  const options = { bodyLimit: core.limits.graphqlBodyBytes };

  app.post('/admin/schema', options, async (request, reply) => {
    const remarks = await core.api.updateSchema(bodyText(request));
    return reply.header('content-type', 'application/json').send(success(shownRemarks(remarks)));
  });

  app.post('/admin/schema/validate', options, async (request, reply) => {
    const text = bodyText(request);
    const errors = await core.api.validate(text);
    if (errors.length > 0) throw new GraphsteadErrors(errors);
    const extensions = shownRemarks(await core.api.remarks(text));
    return reply
      .header('content-type', 'application/json')
      .send(JSON.stringify({ data: { code: 'Success', message: 'Schema is valid' }, extensions }));
  });

  app.get('/admin/schema', async (_request, reply) =>
    reply.header('content-type', 'text/plain; charset=utf-8').send(core.api.stored()?.shown ?? ''),
  );

  const answered = async (
    request: FastifyRequest,
    reply: FastifyReply,
    graphql: GraphqlRequest,
    allowMutation: boolean,
  ) => {
    const answer = await core.api.admin(graphql, await contextOf(core, request, reply.raw), { allowMutation });
    if (answer.status === 405) reply.header('allow', 'POST');
    return reply
      .code(core.names.dgraph ? 200 : answer.status)
      .header('content-type', 'application/json')
      .send(answer.body);
  };

  app.post('/admin', options, (request, reply) => {
    const body = bodyText(request);
    const graphql =
      mediaType(request) === 'application/graphql' ? { query: body } : parseJsonObject(body, 'the request');
    if (core.forwarder && !wasForwarded(request) && isAboutTypes(graphql))
      return forward(core.forwarder, request, reply);
    return answered(request, reply, graphql, true);
  });

  app.get('/admin', (request, reply) => answered(request, reply, requestOfQueryString(request), false));
}
