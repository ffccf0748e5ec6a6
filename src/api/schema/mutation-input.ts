import {
  GraphQLID,
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLString,
} from 'graphql';
import { assert } from '../../base/index.js';
import type { Field, ObjectType, UnionType } from '../../sdl/index.js';
import { type Context, fieldName, nonNull, objectInput, wrap } from './context.js';
import { enumType } from './enum.js';
import { hasRef, inputFields, namingFields, patchFields, targetOf } from './fact.js';
import { GEO_INPUTS } from './geo.js';
import { means } from './meaning.js';
import { SCALAR_TYPES } from './scalar.js';

const input = (type: GraphQLInputType, field: Field): GraphQLInputFieldConfig => ({
  type,
  description: field.description,
  extensions: means({ op: 'inputField', field }),
});

/** The type by which a mutation takes a field's value, without lists and exclamation marks. */
function valueType(context: Context, field: Field): GraphQLInputType {
  const { name } = field.type;
  const known = SCALAR_TYPES[name] ?? GEO_INPUTS[`${name}Ref`] ?? enumType(context, name);
  if (known) return known;
  const type = context.model.types.get(name);
  assert(type?.kind === 'union' || targetOf(context.model, field), `${name} can be written`);
  return type?.kind === 'union' ? unionRefType(context, type) : refType(context, type as ObjectType);
}

function password(type: ObjectType, required: boolean): GraphQLInputFieldConfigMap {
  if (!type.password) return {};
  const text: GraphQLInputType = required ? nonNull(GraphQLString) : GraphQLString;
  return { [type.password.field]: { type: text, extensions: means({ op: 'password' }) } };
}

/** AddTInput: a new node; what has a default may be left out. */
export const addType = (context: Context, type: ObjectType): GraphQLInputObjectType =>
  objectInput(context, `Add${type.name}Input`, { of: 'add', type }, () => ({
    ...each(inputFields(context.model, type), (field) =>
      wrap(field.type, valueType(context, field), field.default?.add !== undefined),
    ),
    ...password(type, true),
  }));

/** TPatch: the fields to set or remove, all optional. */
export const patchType = (context: Context, type: ObjectType): GraphQLInputObjectType =>
  objectInput(context, `${type.name}Patch`, { of: 'patch', type }, () => ({
    ...each(patchFields(context.model, type), (field) => wrap(field.type, valueType(context, field), true)),
    ...password(type, false),
  }));

/**
 * TRef: a node by its ID or @id, or a new one. All optional, but for a type with one single field that names it. An
 * interface's nodes can only be named.
 */
function refType(context: Context, type: ObjectType): GraphQLInputObjectType {
  assert(hasRef(context.model, type), `${type.name} can be named`);
  return objectInput(context, `${type.name}Ref`, { of: 'ref', type }, () => {
    const fields = refFields(context, type);
    const required = fields.length === 1 && namingFields(type).length > 0;
    const marked = (field: Field): GraphQLInputType => {
      const loose = field === type.id ? GraphQLID : wrap(field.type, valueType(context, field), true);
      return required ? nonNull(loose) : loose;
    };
    return { ...each(fields, marked), ...(type.kind === 'object' ? password(type, false) : {}) };
  });
}

function refFields(context: Context, type: ObjectType): Field[] {
  const id = type.id ? [type.id] : [];
  // the peer's takes the first alone
  if (type.kind === 'interface') return [...id, ...(context.ours ? type.xids : type.xids.slice(0, 1))];
  return [...id, ...inputFields(context.model, type)];
}

/** URef: one member's Ref. */
const unionRefType = (context: Context, union: UnionType): GraphQLInputObjectType =>
  objectInput(context, `${union.name}Ref`, { of: 'unionRef', type: union }, () => {
    const fields: GraphQLInputFieldConfigMap = {};
    for (const name of union.members) {
      const type = context.model.object(name);
      if (!type || !hasRef(context.model, type)) continue;
      fields[`${fieldName(name)}Ref`] = { type: refType(context, type), extensions: means({ op: 'member', type }) };
    }
    return fields;
  });

function each(fields: readonly Field[], type: (field: Field) => GraphQLInputType): GraphQLInputFieldConfigMap {
  return Object.fromEntries(fields.map((field) => [field.name, input(type(field), field)]));
}
