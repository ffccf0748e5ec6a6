import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLList,
} from 'graphql';
import { type Field, FILTER_WORDS, type ObjectType, type UnionType } from '../../sdl/index.js';
import { type Context, fieldEnum, fieldName, nonNull, objectInput } from './context.js';
import { enumType } from './enum.js';
import { hasFilter, isForeignKey, isPresence, isSearched, nestedEdges, unionOf } from './fact.js';
import { type InputMeaning, means } from './meaning.js';
import { valueFilter } from './value-filter.js';

const input = (type: GraphQLInputFieldConfig['type'], meaning: InputMeaning): GraphQLInputFieldConfig => ({
  type,
  extensions: means(meaning),
});

/** TFilter; undefined where there is nothing to filter by. */
export function filterType(context: Context, type: ObjectType): GraphQLInputObjectType | undefined {
  if (!hasFilter(type)) return undefined;
  const self: GraphQLInputObjectType = objectInput(context, `${type.name}Filter`, { of: 'filter', type }, () =>
    filterFields(context, type, self),
  );
  return self;
}

function filterFields(context: Context, type: ObjectType, self: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {};
  for (const field of type.fields) {
    const one = fieldFilter(context, type, field);
    if (one) fields[field.name] = one;
  }
  const names = Object.keys(fields);
  const has = hasType(context, type);
  if (has) fields.has = input(new GraphQLList(has), { op: 'has' });
  const onlyIds = names.every((name) => type.id?.name === name) && !has;
  if (!onlyIds) {
    fields.and = input(new GraphQLList(self), { op: 'and' });
    fields.or = input(new GraphQLList(self), { op: 'or' });
  }
  fields.not = input(self, { op: 'not' });
  return fields;
}

function fieldFilter(context: Context, type: ObjectType, field: Field): GraphQLInputFieldConfig | undefined {
  if (field === type.id || isForeignKey(field)) {
    return input(new GraphQLList(nonNull(GraphQLID)), { op: 'ids', field });
  }
  if (field.role === 'edge') return context.ours ? edgeFilter(context, type, field) : undefined;
  if (!isSearched(field)) return undefined;
  const { search } = field;
  if (field.type.name === 'Boolean') return input(GraphQLBoolean, { op: 'search', field, search });
  return input(valueFilter(context, field, enumType(context, field.type.name)), { op: 'search', field, search });
}

/** Ours: the nodes at the other end meet a filter of their own. */
function edgeFilter(context: Context, type: ObjectType, field: Field): GraphQLInputFieldConfig | undefined {
  if (FILTER_WORDS.has(field.name)) return undefined;
  const target = nestedEdges(context.model, type).find((edge) => edge.field === field)?.target;
  const union = unionOf(context.model, field);
  const filter = target ? filterType(context, target) : union && unionFilterType(context, union);
  return filter && input(filter, { op: 'edgeFilter', field, target: field.type.name });
}

/** THasFilter; undefined where nothing can be absent. */
function hasType(context: Context, type: ObjectType): GraphQLEnumType | undefined {
  const fields = type.fields.filter(isPresence);
  if (fields.length === 0) return undefined;
  return fieldEnum(context, `${type.name}HasFilter`, fields, means({ of: 'has', type }));
}

/** UFilter of a stored union: which members, and each by its own filter. */
export function unionFilterType(context: Context, union: UnionType): GraphQLInputObjectType | undefined {
  if (union.remote) return undefined;
  return objectInput(context, `${union.name}Filter`, { of: 'unionFilter', type: union }, () => {
    const members = input(new GraphQLList(nonNull(memberType(context, union))), { op: 'memberTypes' });
    const fields: GraphQLInputFieldConfigMap = { memberTypes: members };
    for (const member of union.members) {
      const type = context.model.object(member);
      const filter = type && filterType(context, type);
      if (filter) fields[`${fieldName(member)}Filter`] = input(filter, { op: 'member', type });
    }
    return fields;
  });
}

function memberType(context: Context, union: UnionType): GraphQLEnumType {
  const name = `${union.name}Type`;
  return context.once(
    name,
    () =>
      new GraphQLEnumType({
        name,
        values: Object.fromEntries(union.members.map((member) => [member, {}])),
        extensions: means({ of: 'unionMember', type: union }),
      }),
  );
}
