import type {
  GraphQLEnumType,
  GraphQLInputFieldConfig,
  GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
} from 'graphql';
import { within } from '../../base/index.js';
import type { ObjectType } from '../../sdl/index.js';
import { type Context, fieldEnum, objectInput } from './context.js';
import { isOrderable, orderEdges, orderedTypes } from './fact.js';
import { means } from './meaning.js';

/** Ordered types of each context: asked for by every field, found once. */
const ordered = new WeakMap<Context, ReadonlySet<string>>();

function isOrdered(context: Context, type: ObjectType): boolean {
  return within(ordered, context, () => orderedTypes(context.model, context.ours)).has(type.name);
}

/** TOrder; undefined where there is nothing to order by. */
export function orderType(context: Context, type: ObjectType): GraphQLInputObjectType | undefined {
  if (type.remote || !isOrdered(context, type)) return undefined;
  const self: GraphQLInputObjectType = objectInput(context, `${type.name}Order`, { of: 'order', type }, () =>
    orderFields(context, type, self),
  );
  return self;
}

function orderFields(context: Context, type: ObjectType, self: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  const fields: [string, GraphQLInputFieldConfig][] = [];
  const own = orderableType(context, type);
  if (own) {
    fields.push(['asc', { type: own, extensions: means({ op: 'asc' }) }]);
    fields.push(['desc', { type: own, extensions: means({ op: 'desc' }) }]);
  }
  fields.push(['then', { type: self, extensions: means({ op: 'then' }) }]);
  for (const { field, target } of context.ours ? orderEdges(context.model, type) : []) {
    const nested = orderType(context, target);
    const extensions = means({ op: 'edgeOrder', field, target: target.name });
    if (nested) fields.push([field.name, { type: nested, extensions }]);
  }
  return Object.fromEntries(fields);
}

function orderableType(context: Context, type: ObjectType): GraphQLEnumType | undefined {
  const fields = type.fields.filter(isOrderable);
  if (fields.length === 0) return undefined;
  return fieldEnum(context, `${type.name}Orderable`, fields, means({ of: 'orderable', type }));
}
