import type { GraphQLSchema } from 'graphql';
import { type GraphsteadError, GraphsteadErrors, type Names } from '../base/index.js';
import { hideSecrets, inOrderOfPlace, type Model, readModel } from '../sdl/index.js';
import type { ServedSchema } from './contract.js';
import type { Operation } from './operation.js';
import { type GeneratedSchema, generateSchema } from './schema/index.js';

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

/** Checks type definitions and generates their API; where definitions are wrong, of what is left of them. */
export function readSchema(text: string, names: Names, operations: readonly Operation[]): ReadSchema {
  const { errors, model, left } = readModel(text, { names });
  if (!model) return { errors, left };
  try {
    const generated = generateSchema(model, { names, operations, left });
    if (errors.length === 0) return { errors, loaded: loaded(model, generated), model, left };
    return { errors, model, left };
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return { errors: inOrderOfPlace([...errors, ...error.errors]), model, left };
  }
}

/** Checks type definitions and generates their API. Throws GraphsteadErrors with every mistake at once. */
export function loadSchema(text: string, names: Names, operations: readonly Operation[]): LoadedSchema {
  const { errors, loaded } = readSchema(text, names, operations);
  if (!loaded) throw new GraphsteadErrors(errors);
  return loaded;
}

/** No type definitions: the operations alone are served. */
export function operationsAlone(names: Names, operations: readonly Operation[]): LoadedSchema {
  return loaded(NO_DEFINITIONS, generateSchema(NO_DEFINITIONS, { names, operations }));
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
