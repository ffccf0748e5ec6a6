import { GraphQLBoolean, type GraphQLFieldConfig, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { atOnce, GraphsteadError, GraphsteadErrors, type Names, type Steps } from '../../base/index.js';
import { isAbout, type Model, type ObjectType } from '../../sdl/index.js';
import type { Operation } from '../operation.js';
import { collectTypes } from './collect-types.js';
import { fieldCollisions, typeCollisions } from './collision.js';
import { Context } from './context.js';
import { userInput } from './argument.js';
import { customField } from './custom.js';
import { REQUEST_DIRECTIVES } from './directive.js';
import { enumType } from './enum.js';
import { answerService, federationFields } from './federation.js';
import { means } from './meaning.js';
import { typeMutations } from './mutation.js';
import { objectType, unionType } from './object.js';
import { type RootFields, typeQueries, typeSubscriptions } from './query.js';
import { checkAuthRules } from './rule-check.js';
import { GraphQLDateTime, GraphQLInt64 } from './scalar.js';
import { printSdl } from './sdl.js';
import { validateTypes } from './validate-types.js';

interface GenerateOptions {
  readonly names: Names;
  /** operations of the app and the service; their fields come after the generated ones */
  readonly operations?: readonly Operation[];
  /** names that the model leaves out for mistakes told already: to miss them is no other mistake */
  readonly left?: ReadonlySet<string>;
}

export interface GeneratedSchema {
  readonly schema: GraphQLSchema;
  /** the schema as text, with the directives of the definitions; made when it is first asked for */
  readonly sdl: string;
  /** what `_service { sdl }` answers; there also where the model has no @key */
  readonly serviceSdl: string;
}

/**
 * The GraphQL schema of a model, merged with operations. Everything in it carries its meaning (see meaning.ts).
 * Throws GraphsteadErrors: INVALID_SDL for what only the generated types show (rules of @auth that are no valid query,
 * names that collide), APP_LOAD for operations whose name or types are taken.
 */
export function generateSchema(model: Model, options: GenerateOptions): GeneratedSchema {
  return atOnce(generateInSteps(model, options));
}

/** The same with stops: thousands of types take seconds. */
export function* generateInSteps(model: Model, options: GenerateOptions): Steps<GeneratedSchema> {
  const { operations = [], left = NOTHING } = options;
  const context = new Context(model, !options.names.dgraph);
  const texts: { sdl?: string; service?: string } = {};
  const serviceSdl = (): string =>
    (texts.service ??= printSdl(schema, model, { service: true, peer: options.names.dgraph }));
  const roots = yield* rootFields(context, serviceSdl);
  const collisions = fieldCollisions(operations, roots);
  const schema = yield* merge(context, roots, collisions.length > 0 ? [] : operations);
  const wrong = (yield* invalid(schema)).filter((error) => !isAbout(error.message, left));
  refuse([...collisions, ...(yield* checkAuthRules(context, left)), ...wrong]);
  answerService(schema, serviceSdl);
  return {
    schema,
    get sdl() {
      return (texts.sdl ??= printSdl(schema, model, { service: false, peer: options.names.dgraph }));
    },
    get serviceSdl() {
      return serviceSdl();
    },
  };
}

const NOTHING: ReadonlySet<string> = new Set();

function refuse(errors: readonly GraphsteadError[]): void {
  if (errors.length > 0) throw new GraphsteadErrors(errors);
}

/** The schema with the operations in it. graphql-js throws on two types of one name: then we say which. */
function* merge(context: Context, roots: Roots, operations: readonly Operation[]): Steps<GraphQLSchema> {
  if (operations.length === 0) return yield* build(context, roots);
  try {
    return yield* build(context, withOperations(roots, operations));
  } catch (error) {
    refuse(typeCollisions(operations, yield* build(context, roots)));
    throw error;
  }
}

type Roots = Readonly<Record<Operation['kind'], RootFields>>;

function* rootFields(context: Context, serviceSdl: () => string): Steps<Roots> {
  const { model } = context;
  const stored = model.objects.filter((type) => !type.remote);
  const customQueries = model.queries.map((field) => [field.name, customField(context, field)] as const);
  const followed = model.queries.filter((field) => field.withSubscription);
  return {
    query: {
      ...Object.fromEntries(customQueries),
      ...federationFields(context, serviceSdl),
      ...(yield* merged(stored, (type) => typeQueries(context, type))),
    },
    mutation: {
      ...Object.fromEntries(model.mutations.map((field) => [field.name, customField(context, field)])),
      ...(yield* merged(stored, (type) => typeMutations(context, type))),
    },
    subscription: {
      ...Object.fromEntries(followed.map((field) => [field.name, customField(context, field)])),
      ...(yield* merged(stored, (type) => typeSubscriptions(context, type))),
    },
  };
}

function* merged(types: readonly ObjectType[], fieldsOf: (type: ObjectType) => RootFields): Steps<RootFields> {
  const fields: RootFields = {};
  for (const type of types) {
    Object.assign(fields, fieldsOf(type));
    yield;
  }
  return fields;
}

function withOperations(roots: Roots, operations: readonly Operation[]): Roots {
  const of = (kind: Operation['kind']): RootFields => ({
    ...roots[kind],
    ...Object.fromEntries(
      operations.filter((operation) => operation.kind === kind).map((operation) => [operation.name, field(operation)]),
    ),
  });
  return { query: of('query'), mutation: of('mutation'), subscription: of('subscription') };
}

const field = (operation: Operation): GraphQLFieldConfig<unknown, unknown> => ({
  type: operation.type,
  description: operation.description,
  args: operation.args,
  extensions: means({ op: 'operation', operation }),
});

/** GraphQL wants a Query; where there is nothing to ask it has this one field, which answers null. */
const EMPTY: Operation = {
  name: '_empty',
  kind: 'query',
  description: 'Stands here because nothing else can be queried yet.',
  args: {},
  type: GraphQLBoolean,
  run: async () => null,
};

/** What is wrong with it is looked for by `invalid`. */
function* build(context: Context, roots: Roots): Steps<GraphQLSchema> {
  const root = (name: string, fields: RootFields): GraphQLObjectType | null =>
    Object.keys(fields).length === 0 ? null : new GraphQLObjectType({ name, fields });
  const query = root('Query', roots.query) ?? root('Query', { _empty: field(EMPTY) });
  const mutation = root('Mutation', roots.mutation);
  const subscription = root('Subscription', roots.subscription);
  const directives = REQUEST_DIRECTIVES;
  const defined = [...definedTypes(context), GraphQLDateTime, GraphQLInt64];
  const types = yield* collectTypes(defined, [query, mutation, subscription], directives);
  return new GraphQLSchema({ query, mutation, subscription, types, directives, assumeValid: true });
}

/** Types of the definitions, those included that no field reaches. */
function definedTypes(context: Context) {
  const { model } = context;
  return [
    ...model.objects.map((type) => objectType(context, type)),
    ...model.unions.map((type) => unionType(context, type)),
    ...model.enums.flatMap((type) => enumType(context, type.name) ?? []),
    ...model.inputs.map((type) => userInput(context, type)),
  ];
}

/** What graphql-js finds wrong with the whole: mostly names that the rules for definitions do not know of. */
function* invalid(schema: GraphQLSchema): Steps<GraphsteadError[]> {
  return (yield* validateTypes(schema)).map(
    (error) =>
      new GraphsteadError('INVALID_SDL', `the generated schema is not valid: ${error.message}`, {
        fix: 'Rename or correct what the message names.',
        details: { rule: 'generated-schema' },
      }),
  );
}
