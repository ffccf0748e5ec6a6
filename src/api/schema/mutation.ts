import {
  GraphQLBoolean,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { assert } from '../../base/index.js';
import type { ObjectType } from '../../sdl/index.js';
import { type Context, fieldName, nonNull, objectInput } from './context.js';
import { hasAdd, hasDelete, hasUpdate } from './fact.js';
import { filterType } from './filter.js';
import { type InputMeaning, means } from './meaning.js';
import { addType, patchType } from './mutation-input.js';
import { cascadeType, nestedType } from './nested.js';
import { listArguments, objectType } from './object.js';
import type { RootFields } from './query.js';

/** addT, updateT and deleteT, where they are generated. */
export function typeMutations(context: Context, type: ObjectType): RootFields {
  const fields: RootFields = {};
  if (hasAdd(context.model, type)) fields[`add${type.name}`] = addField(context, type);
  if (hasUpdate(context.model, type)) fields[`update${type.name}`] = updateField(context, type);
  if (hasDelete(type)) fields[`delete${type.name}`] = deleteField(context, type);
  return fields;
}

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

function addField(context: Context, type: ObjectType): FieldConfig {
  const list = new GraphQLList(nonNull(addType(context, type)));
  return {
    type: payloadType(context, type, 'add'),
    args: { input: { type: nonNull(list) }, ...(type.xids.length > 0 ? { upsert: { type: GraphQLBoolean } } : {}) },
    extensions: means({ op: 'add', type }),
  };
}

function updateField(context: Context, type: ObjectType): FieldConfig {
  return {
    type: payloadType(context, type, 'update'),
    args: { input: { type: nonNull(updateType(context, type)) } },
    extensions: means({ op: 'update', type }),
  };
}

function deleteField(context: Context, type: ObjectType): FieldConfig {
  const cascade = context.ours ? cascadeType(context, type) : undefined;
  return {
    type: payloadType(context, type, 'delete'),
    args: {
      filter: { type: nonNull(requiredFilter(context, type)) },
      ...(cascade ? { cascade: { type: cascade } } : {}),
    },
    extensions: means({ op: 'delete', type }),
  };
}

function requiredFilter(context: Context, type: ObjectType): GraphQLInputObjectType {
  const filter = filterType(context, type);
  assert(filter, `${type.name} has a filter`);
  return filter;
}

/** UpdateTInput: which nodes, what to set and to remove and, ours, how to go on along edges. */
function updateType(context: Context, type: ObjectType): GraphQLInputObjectType {
  return objectInput(context, `Update${type.name}Input`, { of: 'update', type }, () => {
    const patch = patchType(context, type);
    const nested = context.ours ? nestedType(context, type) : undefined;
    const fields: GraphQLInputFieldConfigMap = {
      filter: part('filter', nonNull(requiredFilter(context, type))),
      set: part('set', patch),
      remove: part('remove', patch),
    };
    return nested ? { ...fields, nested: part('nested', nested) } : fields;
  });
}

const part = (
  op: Extract<InputMeaning['op'], 'filter' | 'set' | 'remove' | 'nested'>,
  type: GraphQLInputFieldConfigMap[string]['type'],
) => ({ type, extensions: means({ op }) });

type Action = 'add' | 'update' | 'delete';

const PREFIX: Readonly<Record<Action, string>> = { add: 'Add', update: 'Update', delete: 'Delete' };

function payloadType(context: Context, type: ObjectType, action: Action): GraphQLObjectType {
  const name = `${PREFIX[action]}${type.name}Payload`;
  return context.once(
    name,
    () =>
      new GraphQLObjectType({
        name,
        fields: () => payloadFields(context, type, action),
        extensions: means({ of: 'payload', action, type }),
      }),
  );
}

function payloadFields(context: Context, type: ObjectType, action: Action): Record<string, FieldConfig> {
  return {
    [fieldName(type.name)]: {
      type: new GraphQLList(objectType(context, type)),
      args: listArguments(context, type),
      extensions: means({ op: 'payloadNodes', type }),
    },
    ...(action === 'delete' ? { msg: { type: GraphQLString, extensions: means({ op: 'msg' }) } } : {}),
    numUids: { type: GraphQLInt, extensions: means({ op: 'numUids' }) },
  };
}
