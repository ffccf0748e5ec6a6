import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import type { ObjectType } from '../../sdl/index.js';
import type { Context } from './context.js';
import { hasDelete, hasUpdate, nestedEdges } from './fact.js';
import { filterType } from './filter.js';
import { type InputMeaning, means, type TypeMeaning } from './meaning.js';
import { patchType } from './mutation-input.js';

/**
 * Ours: changes and deletions that go on along edges. `TNested` and `TCascade` name edges of T; at each stands a step
 * with a filter for the nodes at its other end, what is done to them, and how it goes on from there.
 */

/** TNested; undefined where no edge leads to something that can be updated. */
export function nestedType(context: Context, type: ObjectType): GraphQLInputObjectType | undefined {
  const edges = nestedEdges(context.model, type).filter(({ target }) => hasUpdate(context.model, target));
  return edgesType(context, `${type.name}Nested`, { of: 'nested', type }, edges, nestedStep);
}

/** TCascade; undefined where no edge leads to something that can be deleted. */
export function cascadeType(context: Context, type: ObjectType): GraphQLInputObjectType | undefined {
  const edges = nestedEdges(context.model, type).filter(({ target }) => hasDelete(target));
  return edgesType(context, `${type.name}Cascade`, { of: 'cascade', type }, edges, cascadeStep);
}

function edgesType(
  context: Context,
  name: string,
  meaning: TypeMeaning,
  edges: ReturnType<typeof nestedEdges>,
  step: (context: Context, target: ObjectType) => GraphQLInputObjectType,
): GraphQLInputObjectType | undefined {
  if (edges.length === 0) return undefined;
  return context.once(
    name,
    () =>
      new GraphQLInputObjectType({
        name,
        fields: () =>
          Object.fromEntries(
            edges.map(({ field, target }) => [
              field.name,
              { type: step(context, target), extensions: means({ op: 'edge', field, target }) },
            ]),
          ),
        extensions: means(meaning),
      }),
  );
}

type StepPart = Extract<InputMeaning['op'], 'filter' | 'set' | 'remove' | 'nested' | 'cascade'>;

function parts(types: Partial<Record<StepPart, GraphQLInputObjectType | undefined>>): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {};
  for (const [op, type] of Object.entries(types)) {
    if (type) fields[op] = { type, extensions: means({ op: op as StepPart }) };
  }
  return fields;
}

function nestedStep(context: Context, type: ObjectType): GraphQLInputObjectType {
  const name = `${type.name}NestedUpdate`;
  return context.once(
    name,
    () =>
      new GraphQLInputObjectType({
        name,
        fields: () => {
          const patch = patchType(context, type);
          const filter = filterType(context, type);
          return parts({ filter, set: patch, remove: patch, nested: nestedType(context, type) });
        },
        extensions: means({ of: 'nestedUpdate', type }),
      }),
  );
}

function cascadeStep(context: Context, type: ObjectType): GraphQLInputObjectType {
  const name = `${type.name}CascadeStep`;
  return context.once(
    name,
    () =>
      new GraphQLInputObjectType({
        name,
        fields: () => parts({ filter: filterType(context, type), cascade: cascadeType(context, type) }),
        extensions: means({ of: 'cascadeStep', type }),
      }),
  );
}
