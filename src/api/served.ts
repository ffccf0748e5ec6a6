import type { GraphQLSchema } from 'graphql';
import { atOnce, type GraphsteadError, GraphsteadErrors, type Names, type Steps } from '../base/index.js';
import { hideSecrets, inOrderOfPlace, loadModel, type Model, readModelInSteps, type Variables } from '../sdl/index.js';
import type { ServedSchema } from './contract.js';
import type { Operation } from './operation.js';
import { type GeneratedSchema, generateInSteps, generateSchema } from './schema/index.js';

/** Type definitions with the API that they make. */
export interface LoadedSchema {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly generated: GeneratedSchema;
  readonly info: ServedSchema;
}

/** Type definitions with every mistake that they and the API generated from them show. */
export interface ReadSchema {
  readonly errors: readonly GraphsteadError[];
  /** undefined where there are mistakes */
  readonly loaded?: LoadedSchema;
  /** the part of the definitions that no mistake touches, for further checks */
  readonly model?: Model;
  /** names of what is not in that part */
  readonly left: ReadonlySet<string>;
}

export interface SchemaOptions {
  readonly names: Names;
  readonly operations: readonly Operation[];
  /** what placeholders of secrets are filled in from; without it they stay as they stand */
  readonly variables?: Variables;
}

/** Checks type definitions and generates their API; where definitions are wrong, of what is left of them. */
export function readSchema(text: string, options: SchemaOptions): ReadSchema {
  return atOnce(readInSteps(text, options));
}

/** The same with stops: thousands of types take seconds. */
export function* readInSteps(text: string, { names, operations, variables }: SchemaOptions): Steps<ReadSchema> {
  const { errors, model, left } = yield* readModelInSteps(text, { names, ...(variables ? { variables } : {}) });
  if (!model) return { errors, left };
  try {
    const generated = yield* generateInSteps(model, { names, operations, left });
    if (errors.length === 0) return { errors, loaded: loaded(model, generated), model, left };
    return { errors, model, left };
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return { errors: inOrderOfPlace([...errors, ...error.errors]), model, left };
  }
}

/** Checks type definitions and generates their API. Throws GraphsteadErrors with every mistake at once. */
export function loadSchema(text: string, options: SchemaOptions): LoadedSchema {
  const { errors, loaded } = readSchema(text, options);
  if (!loaded) throw new GraphsteadErrors(errors);
  return loaded;
}

/** The API that definitions make, without operations of an app; undefined where they hold mistakes. */
export function generatedAlone(text: string, names: Names): string | undefined {
  try {
    return loadSchema(text, { names, operations: [] }).generated.sdl;
  } catch (error) {
    if (error instanceof GraphsteadErrors) return undefined;
    throw error;
  }
}

/** What is served, with other operations beside it; undefined where nothing is. */
export function withOperations(
  served: LoadedSchema | undefined,
  { names, operations }: SchemaOptions,
): LoadedSchema | undefined {
  const model = served?.model ?? NO_DEFINITIONS;
  if (model.text === '' && operations.length === 0) return undefined;
  return loaded(model, generateSchema(model, { names, operations }));
}

/** What is served, with secrets as the environment has them now. Throws GraphsteadErrors for those that it lacks. */
export function withSecrets(served: LoadedSchema, { names, variables }: SchemaOptions): LoadedSchema {
  const { secrets, authorization } = loadModel(served.model.text, { names, ...(variables ? { variables } : {}) });
  const model = Object.freeze({ ...served.model, secrets, ...(authorization ? { authorization } : {}) });
  return loaded(model, served.generated);
}

const NO_DEFINITIONS: Model = Object.freeze({
  text: '',
  types: new Map(),
  objects: [],
  unions: [],
  enums: [],
  inputs: [],
  object: () => undefined,
  queries: [],
  mutations: [],
  secrets: new Map(),
  allowedOrigins: [],
  federated: false,
});

function loaded(model: Model, generated: GeneratedSchema): LoadedSchema {
  return { model, schema: generated.schema, generated, info: infoOf(model, generated) };
}

function infoOf(model: Model, generated: GeneratedSchema): ServedSchema {
  const header = model.authorization?.header.toLowerCase();
  return {
    text: model.text,
    shown: hideSecrets(model.text),
    get generated() {
      return generated.sdl;
    },
    allowedOrigins: model.allowedOrigins,
    ...(header === undefined ? {} : { authHeader: header }),
    forwardedHeaders: forwardedHeaders(model),
  };
}

function forwardedHeaders(model: Model): string[] {
  const fields = [...model.queries, ...model.mutations, ...model.objects.flatMap((type) => type.fields)];
  const names = fields.flatMap(({ custom }) =>
    custom?.kind === 'http' ? custom.http.forwardHeaders.map((header) => header.local.toLowerCase()) : [],
  );
  return [...new Set(names)];
}
