import {
  type FieldNode,
  getNullableType,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { GraphsteadError, type JsonWriter } from '../../base/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import type { Errors } from './answer.js';
import { type CollectScope, collectFields, selectionSets } from './collect.js';
import type { CustomResult } from './custom-logic.js';
import { leafJson } from './scalar.js';

/** What a custom field's own call answered for a JavaScript parent. */
export type AnswerOf = (parent: object, nodes: readonly FieldNode[]) => CustomResult | undefined;

export interface CompletionScope extends CollectScope {
  readonly errors: Errors;
  /** path of the value that is written; pushed and popped while it is */
  readonly path: (string | number)[];
  /** a list that is missing is empty (stored data and custom logic); else null */
  readonly emptyLists: boolean;
  readonly answerOf?: AnswerOf;
}

type Nodes = readonly FieldNode[];

/**
 * Writes a JavaScript value completed as a GraphQL type. False when it is null where it must not be: nothing useful was
 * written, and the nearest nullable place above becomes null. The error has been noted then.
 */
export function complete(
  scope: CompletionScope,
  type: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): boolean {
  const nonNull = isNonNullType(type);
  const start = out.length;
  const before = scope.errors.list.length;
  if (completeNullable(scope, getNullableType(type) as GraphQLOutputType, nodes, value, out)) return true;
  out.truncate(start);
  if (!nonNull) {
    out.ascii('null');
    return true;
  }
  if (scope.errors.list.length === before) missing(scope, type, nodes);
  return false;
}

/** Notes that a non-null value is missing. */
export function missing(scope: CompletionScope, type: GraphQLOutputType, nodes: Nodes): void {
  const error = new GraphsteadError(
    'NON_NULL',
    `Non-nullable field '${nodes[0].name.value}' (type ${String(type)}) was not present in result. ` +
      'GraphQL error propagation triggered.',
  );
  scope.errors.at(nodes, scope.path, error);
}

/** False: no value, be it absent or wrong (then the error is noted). */
function completeNullable(
  scope: CompletionScope,
  type: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): boolean {
  if (isListType(type)) return completeList(scope, type.ofType as GraphQLOutputType, nodes, value, out);
  if (value === null || value === undefined) return false;
  if (Array.isArray(value) && !isOpaque(type)) {
    return wrong(scope, nodes, 'a list was returned where one item was expected', 'REMOTE_REPLY');
  }
  if (isLeafType(type)) return completeLeaf(scope, type, nodes, value, out);
  if (typeof value !== 'object') {
    return wrong(scope, nodes, `${JSON.stringify(value)} was returned where an object was expected`, 'REMOTE_REPLY');
  }
  const concrete = isObjectType(type) ? type : runtimeType(scope, type as GraphQLAbstractType, value);
  if (concrete) return completeObject(scope, concrete, nodes, value as Record<string, unknown>, out);
  return wrong(
    scope,
    nodes,
    `the type of an item of ${type.toString()} is not known`,
    'REMOTE_REPLY',
    'Return __typename with it.',
  );
}

/** Scalars of an operation's own (JSON) take any value, lists too. */
function isOpaque(type: GraphQLOutputType): boolean {
  return isLeafType(type) && !BUILT_IN.has(type.name) && type.astNode === undefined && !('getValues' in type);
}

const BUILT_IN = new Set(['ID', 'Int', 'Int64', 'Float', 'String', 'Boolean', 'DateTime']);

function completeLeaf(
  scope: CompletionScope,
  type: GraphQLLeafType,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): boolean {
  const json = leafJson(type, value);
  if (json === undefined) {
    const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
    const field = nodes[0].name.value;
    return wrong(
      scope,
      nodes,
      `Error coercing value '${shown}' for field '${field}' to type ${type.name}.`,
      'INVALID_VALUE',
    );
  }
  out.raw(json);
  return true;
}

function wrong(
  scope: CompletionScope,
  nodes: Nodes,
  message: string,
  code: 'REMOTE_REPLY' | 'INVALID_VALUE',
  fix?: string,
): false {
  scope.errors.at(nodes, scope.path, new GraphsteadError(code, message, fix ? { fix } : {}));
  return false;
}

function completeList(
  scope: CompletionScope,
  item: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): boolean {
  if (value === null || value === undefined) {
    if (!scope.emptyLists) return false;
    out.ascii('[]');
    return true;
  }
  if (!Array.isArray(value)) {
    return wrong(scope, nodes, 'one item was returned where a list was expected', 'REMOTE_REPLY');
  }
  out.byte(0x5b);
  for (let i = 0; i < value.length; i++) {
    if (i > 0) out.byte(0x2c);
    scope.path.push(i);
    const ok = complete(scope, item, nodes, value[i], out);
    scope.path.pop();
    if (!ok) return false;
  }
  out.byte(0x5d);
  return true;
}

/** By `__typename`, or the only type that it can be. */
function runtimeType(scope: CompletionScope, type: GraphQLAbstractType, value: object): GraphQLObjectType | undefined {
  const possible = scope.schema.getPossibleTypes(type);
  const name = (value as { readonly __typename?: unknown }).__typename;
  if (typeof name === 'string') return possible.find((candidate) => candidate.name === name);
  return possible.length === 1 ? possible[0] : undefined;
}

function completeObject(
  scope: CompletionScope,
  type: GraphQLObjectType,
  nodes: Nodes,
  value: Record<string, unknown>,
  out: JsonWriter,
): boolean {
  const definitions = type.getFields();
  out.byte(0x7b);
  let first = true;
  for (const [key, fieldNodes] of collectFields(scope, type, selectionSets(nodes))) {
    if (!first) out.byte(0x2c);
    first = false;
    out.string(key);
    out.byte(0x3a);
    const definition = definitions[fieldNodes[0].name.value];
    if (!definition) {
      out.string(type.name);
      continue;
    }
    scope.path.push(key);
    const own = scope.answerOf?.(value, fieldNodes);
    const ok = own
      ? completeCustom(scope, definition.type, fieldNodes, own, out)
      : complete(scope, definition.type, fieldNodes, value[replyKey(definition)], out);
    scope.path.pop();
    if (!ok) return false;
  }
  out.byte(0x7d);
  return true;
}

/** The key of a reply that holds a field's value. */
export function replyKey(definition: ReturnType<GraphQLObjectType['getFields']>[string]): string {
  const meaning = fieldMeaning(definition);
  return meaning?.op === 'field' ? (meaning.field.responseName ?? definition.name) : definition.name;
}

/** The answer of a custom field; a call that failed is null, a list too, and has said why. */
export function completeCustom(
  scope: CompletionScope,
  type: GraphQLOutputType,
  nodes: Nodes,
  result: CustomResult,
  out: JsonWriter,
): boolean {
  tellCustomErrors(scope, nodes, result);
  const { value, errors } = result;
  if (errors.length === 0 || (value !== null && value !== undefined)) return complete(scope, type, nodes, value, out);
  if (isNonNullType(type)) return false;
  out.ascii('null');
  return true;
}

/** Errors of a custom call, their paths prefixed with the field's own unless they are absolute. */
export function tellCustomErrors(scope: CompletionScope, nodes: Nodes, result: CustomResult): void {
  for (const error of result.errors) {
    const path = error.absolute && error.path ? error.path : [...scope.path, ...(error.path ?? [])];
    if (error.locations) {
      const { message, locations, extensions } = error;
      scope.errors.add({ message, locations, path, extensions: { code: 'REMOTE_FAILED', ...extensions } });
    } else {
      scope.errors.at(nodes, path, new GraphsteadError('REMOTE_FAILED', error.message, { details: error.extensions }));
    }
  }
}
