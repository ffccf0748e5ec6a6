import { type GraphQLError, type GraphQLSchema, validateSchema } from 'graphql';
import type { Steps } from '../../base/index.js';

/** Types that are validated in one step: some milliseconds. */
const AT_ONCE = 200;

/** What graphql-js finds wrong with a schema, some of its types at a time. */
export function* validateTypes(schema: GraphQLSchema): Steps<readonly GraphQLError[]> {
  const types = Object.entries(schema.getTypeMap());
  const errors = new Map<string, GraphQLError>();
  for (let start = 0; start < types.length; start += AT_ONCE) {
    const some = Object.fromEntries(types.slice(start, start + AT_ONCE));
    // what concerns no type is told each time
    for (const error of validateSchema(showing(schema, some))) errors.set(error.message, error);
    yield;
  }
  return [...errors.values()];
}

/** The schema, yet unchecked, as if it had these types alone; each still sees all others. */
const showing = (schema: GraphQLSchema, types: ReturnType<GraphQLSchema['getTypeMap']>): GraphQLSchema =>
  Object.create(schema, {
    getTypeMap: { value: () => types },
    __validationErrors: { value: undefined, writable: true },
  }) as GraphQLSchema;
