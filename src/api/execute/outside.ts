import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { JsonWriter, MaybePromise } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import { fieldMeaning, type RootMeaning } from '../schema/meaning.js';
import { complete, completeInSteps, type CompletionScope, longest, tellCustomErrors } from './complete.js';
import type { CustomResult } from './custom-logic.js';
import { writeScopeOf } from './query.js';
import type { DefinedField, Request, RootField, Written } from './request.js';
import { customScopeOf, scopeOf, sharedBy } from './request.js';
import { argumentsOf } from './argument.js';
import { answersBelow } from './custom-values.js';
import { writtenOf } from './written-ahead.js';

type Of<Op extends RootMeaning['op']> = Extract<RootMeaning, { op: Op }>;

/** A @custom field of Query or Mutation. */
export async function customField(
  request: Request,
  field: DefinedField,
  meaning: Of<'custom'>,
  reader: () => Promise<GraphReader>,
): Promise<Written> {
  const { engine } = request;
  const written = writeScopeOf(request, field.key, new Map());
  // the graph keeps no empty list: what it does not have is one
  const scope = meaning.field.custom.kind === 'dql' ? { ...written, emptyLists: true } : written;
  if (!engine.custom) return { write: (out) => complete(scope, field.definition.type, field.nodes, null, out) };
  const args = argumentsOf(scopeOf(request, { schema: engine.graph.schema() }), field);
  const shared = sharedBy(request);
  const result = await engine.custom.root({
    ...customScopeOf(request, field.nodes, shared, reader),
    field: meaning.field,
    args,
  });
  const answerOf = await answersBelow(
    request,
    [{ type: field.definition.type, nodes: field.nodes, value: result.value }],
    reader,
    shared,
  );
  const at = { ...scope, answerOf };
  if (result.value === null || result.value === undefined) return nothingCame(request, at, field, result);
  return writtenOf(request, longest(result.value), function* (out) {
    tellCustomErrors(at, field.nodes, result);
    return yield* completeInSteps(at, field.definition.type, field.nodes, result.value, out);
  });
}

function nothingCame(
  request: Request,
  scope: CompletionScope,
  { definition: { type }, nodes }: DefinedField,
  result: CustomResult,
): Written {
  const json = nothing(request, type);
  let told = result.errors.length === 0;
  const tell = (): void => {
    if (!told) tellCustomErrors(scope, nodes, result);
    told = true;
  };
  return {
    ...(told ? {} : { failed: tell }),
    write: (out) => {
      tell();
      if (json === undefined) return result.errors.length === 0 && complete(scope, type, nodes, null, out);
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

/** An app's function or a service operation. May throw at once: not async, as `mutationPart`. */
export function operationField(request: Request, field: DefinedField, meaning: Of<'operation'>): MaybePromise<Written> {
  const scope = operationScope(request, field);
  const args = argumentsOf(scope, field);
  const written = (value: unknown): MaybePromise<Written> => {
    const many = longest(value);
    if (many === 0) return { write: (out) => complete(scope, field.definition.type, field.nodes, value, out) };
    return writtenOf(request, many, (out) => completeInSteps(scope, field.definition.type, field.nodes, value, out));
  };
  const running = meaning.operation.run?.(args, request.context, field.key);
  return running instanceof Promise ? running.then(written) : written(running);
}

/** What is missing of an operation's value is null, a list too. */
function operationScope({ engine, fragments, variables, errors }: Request, { key }: RootField): CompletionScope {
  const { schema, names } = engine;
  return { schema, fragments, variables, errors, path: [key], emptyLists: false, anyTextIsTrue: names.dgraph };
}

/** Completes an operation's value. */
export function writeOperation(request: Request, field: DefinedField, value: unknown, out: JsonWriter): boolean {
  return complete(operationScope(request, field), field.definition.type, field.nodes, value, out);
}

/** `_service` */
export function serviceField(request: Request, field: DefinedField): Written {
  const type = getNamedType(getNullableType(field.definition.type)) as GraphQLObjectType;
  const value: Record<string, unknown> = {};
  for (const [name, own] of Object.entries(type.getFields())) {
    const meaning = fieldMeaning(own);
    if (meaning?.op === 'sdl') value[name] = meaning.sdl;
  }
  const scope = writeScopeOf(request, field.key, new Map());
  return { write: (out) => complete(scope, field.definition.type, field.nodes, value, out) };
}
