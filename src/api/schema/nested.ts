import type { GraphQLInputFieldConfig, GraphQLInputFieldConfigMap, GraphQLInputObjectType } from 'graphql';
import type { Field, Model, ObjectType, UnionType } from '../../sdl/index.js';
import { type Context, fieldName, objectInput } from './context.js';
import { hasDelete, hasUpdate, targetOf, unionOf } from './fact.js';
import { filterType } from './filter.js';
import { type InputMeaning, means } from './meaning.js';
import { patchType } from './mutation-input.js';

/**
 * Ours: changes and deletions that go on along edges. `TNested` and `TCascade` name edges of T; at each stands a step
 * with a filter for the nodes at its other end, what is done to them, and how it goes on from there. At an edge to a union
 * stands one such step for each of its members.
 */

/** TNested; undefined where no edge leads to something that can be updated. */
export const nestedType = (context: Context, type: ObjectType): GraphQLInputObjectType | undefined =>
  edgesType(context, type, NESTED);

/** TCascade; undefined where no edge leads to something that can be deleted. */
export const cascadeType = (context: Context, type: ObjectType): GraphQLInputObjectType | undefined =>
  edgesType(context, type, CASCADE);

/** What goes on along edges, and how its inputs are called. */
interface Way {
  readonly of: 'nested' | 'cascade';
  readonly ofStep: 'nestedUpdate' | 'cascadeStep';
  /** behind the name of a type: of what names its edges, and of a step to its nodes */
  readonly edges: string;
  readonly step: string;
  readonly reaches: (model: Model, target: ObjectType) => boolean;
  readonly parts: (context: Context, target: ObjectType) => StepTypes;
}

type StepPart = Extract<InputMeaning['op'], 'filter' | 'set' | 'remove' | 'nested' | 'cascade'>;
type StepTypes = Partial<Record<StepPart, GraphQLInputObjectType | undefined>>;

const NESTED: Way = {
  of: 'nested',
  ofStep: 'nestedUpdate',
  edges: 'Nested',
  step: 'NestedUpdate',
  reaches: hasUpdate,
  parts: (context, target) => {
    const patch = patchType(context, target);
    return { filter: filterType(context, target), set: patch, remove: patch, nested: nestedType(context, target) };
  },
};

const CASCADE: Way = {
  of: 'cascade',
  ofStep: 'cascadeStep',
  edges: 'Cascade',
  step: 'CascadeStep',
  reaches: (_, target) => hasDelete(target),
  parts: (context, target) => ({ filter: filterType(context, target), cascade: cascadeType(context, target) }),
};

function edgesType(context: Context, type: ObjectType, way: Way): GraphQLInputObjectType | undefined {
  const edges = type.fields.flatMap((field) => {
    const reached = targetsOf(context, field, way);
    return reached.length === 0 ? [] : [{ field, reached }];
  });
  if (edges.length === 0) return undefined;
  return objectInput(context, `${type.name}${way.edges}`, { of: way.of, type }, () =>
    Object.fromEntries(edges.map(({ field, reached }) => [field.name, edgeInput(context, field, reached, way)])),
  );
}

/** The types at an edge's other end that the way leads to: several for a union. */
function targetsOf({ model }: Context, field: Field, way: Way): ObjectType[] {
  const union = field.role === 'edge' ? unionOf(model, field) : undefined;
  const targets = union ? union.members.map((name) => model.object(name)) : [targetOf(model, field)];
  return targets.filter(
    (target) => target !== undefined && !target.remote && way.reaches(model, target),
  ) as ObjectType[];
}

function edgeInput(context: Context, field: Field, reached: readonly ObjectType[], way: Way): GraphQLInputFieldConfig {
  const union = unionOf(context.model, field);
  const type = union ? unionStep(context, union, reached, way) : stepType(context, reached[0], way);
  return { type, extensions: means({ op: 'edge', field }) };
}

function unionStep(
  context: Context,
  union: UnionType,
  reached: readonly ObjectType[],
  way: Way,
): GraphQLInputObjectType {
  const member = (type: ObjectType): [string, GraphQLInputFieldConfig] => [
    `${fieldName(type.name)}${way.edges}`,
    { type: stepType(context, type, way), extensions: means({ op: 'member', type }) },
  ];
  return objectInput(context, `${union.name}${way.step}`, { of: way.ofStep, type: union }, () =>
    Object.fromEntries(reached.map(member)),
  );
}

function stepType(context: Context, type: ObjectType, way: Way): GraphQLInputObjectType {
  return objectInput(context, `${type.name}${way.step}`, { of: way.ofStep, type }, () =>
    inputs(way.parts(context, type)),
  );
}

function inputs(types: StepTypes): GraphQLInputFieldConfigMap {
  const fields: GraphQLInputFieldConfigMap = {};
  for (const [op, type] of Object.entries(types)) {
    if (type) fields[op] = { type, extensions: means({ op: op as StepPart }) };
  }
  return fields;
}
