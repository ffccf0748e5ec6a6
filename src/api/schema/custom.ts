import type { GraphQLFieldConfig } from 'graphql';
import type { RootField } from '../../sdl/index.js';
import { argumentMap } from './argument.js';
import type { Context } from './context.js';
import { means } from './meaning.js';
import { outputRef } from './object.js';

/** A field of Query or Mutation that custom logic resolves. */
export function customField(context: Context, field: RootField): GraphQLFieldConfig<unknown, unknown> {
  return {
    type: outputRef(context, field.type),
    description: field.description,
    deprecationReason: field.deprecated,
    args: argumentMap(context, field.arguments),
    extensions: means({ op: 'custom', field }),
  };
}
