import { type GraphQLFieldConfig, GraphQLInt, GraphQLObjectType } from 'graphql';
import type { Field, ObjectType } from '../../sdl/index.js';
import type { Context } from './context.js';
import { isNumeric, isOrderable } from './fact.js';
import { type AggregateFunction, means } from './meaning.js';
import { GraphQLFloat, SCALAR_TYPES } from './scalar.js';

/** TAggregateResult: how many nodes, and the extremes, sums and averages of their values. */
export function aggregateType(context: Context, type: ObjectType): GraphQLObjectType {
  const name = `${type.name}AggregateResult`;
  return context.once(
    name,
    () =>
      new GraphQLObjectType({
        name,
        fields: () => aggregateFields(type),
        extensions: means({ of: 'aggregate', type }),
      }),
  );
}

function aggregateFields(type: ObjectType): Record<string, GraphQLFieldConfig<unknown, unknown>> {
  const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {
    count: { type: GraphQLInt, extensions: means({ op: 'count' }) },
  };
  const add = (field: Field, suffix: string, of: AggregateFunction): void => {
    const result = of === 'avg' ? GraphQLFloat : SCALAR_TYPES[field.type.name];
    fields[`${field.name}${suffix}`] = {
      type: result,
      extensions: means({ op: 'aggregateValue', function: of, field }),
    };
  };
  for (const field of type.fields.filter(isOrderable)) {
    add(field, 'Min', 'min');
    add(field, 'Max', 'max');
    if (!isNumeric(field)) continue;
    add(field, 'Sum', 'sum');
    add(field, 'Avg', 'avg');
  }
  return fields;
}
