import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { JsonWriter } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import { fieldMeaning, type RootMeaning } from '../schema/meaning.js';
import { complete, completeCustom, tellCustomErrors } from './complete.js';
import { writeScopeOf } from './query.js';
import type { Request, RootField, Written } from './request.js';
import { scopeOf } from './request.js';
import { argumentsOf } from './argument.js';
import { answersBelow } from './custom-values.js';

type Definition = GraphQLField<unknown, unknown>;
type Of<Op extends RootMeaning['op']> = Extract<RootMeaning, { op: Op }>;

/** A @custom field of Query or Mutation. */
export async function customField(
  request: Request,
  field: RootField,
  definition: Definition,
  meaning: Of<'custom'>,
  reader: () => Promise<GraphReader>,
): Promise<Written> {
  const { engine } = request;
  const scope = { ...writeScopeOf(request, field.key, new Map()) };
  if (!engine.custom) return { write: (out) => complete(scope, definition.type, field.nodes, null, out) };
  const args = argumentsOf({ ...scopeOf(request, { schema: engine.graph.schema() }) }, definition, field.nodes[0]);
  const result = await engine.custom.root({
    model: engine.model,
    schema: engine.schema,
    fieldNodes: field.nodes,
    fragments: request.fragments,
    variables: request.variables,
    context: request.context,
    reader,
    field: meaning.field,
    args,
  });
  const answerOf = await answersBelow(
    request,
    [{ type: definition.type, nodes: field.nodes, value: result.value }],
    reader,
  );
  const isNothing = result.value === null || result.value === undefined;
  const json = isNothing ? nothing(request, definition.type) : undefined;
  return {
    failed: isNothing && result.errors.length > 0,
    write: (out) => {
      const at = { ...scope, answerOf };
      if (json === undefined) return completeCustom(at, definition.type, field.nodes, result, out);
      tellCustomErrors(at, field.nodes, result);
      out.ascii(json);
      return true;
    },
  };
}

/** A root field without a value: null, a list too, where the peer writes []; undefined where null must not be. */
export function nothing(request: Request, type: GraphQLOutputType): string | undefined {
  if (request.engine.names.dgraph && isListType(getNullableType(type))) return '[]';
  return isNonNullType(type) ? undefined : 'null';
}

/** An app's function or a service operation. */
export async function operationField(
  request: Request,
  field: RootField,
  definition: Definition,
  meaning: Of<'operation'>,
): Promise<Written> {
  const { engine } = request;
  const args = argumentsOf(scopeOf(request, { schema: engine.graph.schema() }), definition, field.nodes[0]);
  const value = await meaning.operation.run?.(args, request.context);
  return { write: (out) => writeOperation(request, field, definition, value, out) };
}

/** Completes an operation's value: what is missing is null, a list too. */
export function writeOperation(
  request: Request,
  field: RootField,
  definition: Definition,
  value: unknown,
  out: JsonWriter,
): boolean {
  const scope = { ...writeScopeOf(request, field.key, new Map()), emptyLists: false };
  return complete(scope, definition.type, field.nodes, value, out);
}

/** `_service` */
export function serviceField(request: Request, field: RootField, definition: Definition): Written {
  const type = getNamedType(getNullableType(definition.type)) as GraphQLObjectType;
  const value: Record<string, unknown> = {};
  for (const [name, own] of Object.entries(type.getFields())) {
    const meaning = fieldMeaning(own);
    if (meaning?.op === 'sdl') value[name] = meaning.sdl;
  }
  const scope = writeScopeOf(request, field.key, new Map());
  return { write: (out) => complete(scope, definition.type, field.nodes, value, out) };
}
