import { buildSchema, execute, parse, validate } from 'graphql';
import type { GraphqlAnswer, GraphqlRequest } from './contract.js';

/** What a federation's gateway asks of every service, whether its types have keys or not. */
const PROBE = buildSchema('type _Service { sdl: String } type Query { _service: _Service! }');

/**
 * The answer to `{ _service { sdl } }` where the generated schema has no such field; undefined for anything else. A
 * gateway may so be pointed at a service before its first @key.
 */
export async function answerProbe(request: GraphqlRequest, sdl: () => string): Promise<GraphqlAnswer | undefined> {
  const { query } = request;
  if (!query?.includes('_service') || query.length > 4_096) return undefined;
  const document = parse(query);
  if (validate(PROBE, document).length > 0) return undefined;
  const result = await execute({
    schema: PROBE,
    document,
    rootValue: { _service: () => ({ sdl }) },
    variableValues: request.variables ?? {},
    operationName: request.operationName || undefined,
  });
  return { body: Buffer.from(JSON.stringify(result)), status: 200, headers: {}, kind: 'query' };
}
