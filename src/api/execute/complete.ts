import { inspect } from 'node:util';
import {
  type FieldNode,
  getNullableType,
  type GraphQLAbstractType,
  type GraphQLInterfaceType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { GraphsteadError, isRecord, type JsonWriter, type Steps, within } from '../../base/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import type { Errors } from './answer.js';
import { type CollectScope, collectFields, selectionSets, tellsApart } from './collect.js';
import { type CustomResult, isFailure } from './custom-logic.js';
import { ownValue } from './inherited.js';
import { needsOf, replyAliases, replyKey } from './reply-key.js';
import { exactJson, leafJson } from './scalar.js';

/** What a custom field's own call answered for a JavaScript parent. */
export type AnswerOf = (parent: object, nodes: readonly FieldNode[]) => CustomResult | undefined;

export interface CompletionScope extends CollectScope {
  readonly errors: Errors;
  /** path of the value that is written; pushed and popped while it is */
  readonly path: (string | number)[];
  /** a list that is missing is empty (what a query in the graph language gave; custom logic, as Dgraph has it); else null */
  readonly emptyLists: boolean;
  /** of a Boolean each text but the empty one and "false", as Dgraph has it; else a text has to say which it is */
  readonly anyTextIsTrue: boolean;
  readonly answerOf?: AnswerOf;
}

type Nodes = readonly FieldNode[];
/** What an object is completed as. */
type Typed = GraphQLObjectType | GraphQLInterfaceType;
type Definition = ReturnType<GraphQLObjectType['getFields']>[string];

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
  const { nonNull, of } = demandOf(type);
  const start = out.length;
  const before = scope.errors.list.length;
  if (completeNullable(scope, of, nodes, value, out)) return true;
  return nullOf(scope, type, nonNull, nodes, start, before, out);
}

/** What stands for a value that is absent or wrong. */
function nullOf(
  scope: CompletionScope,
  type: GraphQLOutputType,
  nonNull: boolean,
  nodes: Nodes,
  start: number,
  before: number,
  out: JsonWriter,
): boolean {
  out.truncate(start);
  if (!nonNull) {
    out.ascii('null');
    return true;
  }
  if (scope.errors.list.length === before) missing(scope, type, nodes);
  return false;
}

/** Items of the lists that `completeInSteps` stops in. */
export function longest(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce(
    (most: number, member) => (Array.isArray(member) ? Math.max(most, member.length) : most),
    0,
  );
}

/** As `complete`, with a stop before each item of a list, and of a list that an object holds. */
export function* completeInSteps(
  scope: CompletionScope,
  type: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): Steps<boolean> {
  const { nonNull, of } = demandOf(type);
  const start = out.length;
  const before = scope.errors.list.length;
  let ok: boolean;
  if (of.kind === 'list' && Array.isArray(value)) ok = yield* listInSteps(scope, of.item, nodes, value, out);
  else if (of.kind === 'object' && isRecord(value)) ok = yield* objectInSteps(scope, of.type, nodes, value, out);
  else return complete(scope, type, nodes, value, out);
  return ok || nullOf(scope, type, nonNull, nodes, start, before, out);
}

/** Notes that a non-null value is missing, unless a remote told it: one field has one error. */
export function missing(scope: CompletionScope, type: GraphQLOutputType, nodes: Nodes): void {
  if (scope.errors.isExplained(scope.path)) return;
  const error = new GraphsteadError(
    'NON_NULL',
    `Non-nullable field '${nodes[0].name.value}' (type ${String(type)}) was not present in result. ` +
      'GraphQL error propagation triggered.',
    { fix: 'See that it always has a value, or define it without "!".' },
  );
  scope.errors.at(nodes, scope.path, error);
}

/** What a type asks of its values, looked up once. */
type Demand =
  | { readonly kind: 'list'; readonly item: GraphQLOutputType }
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType; readonly takesLists: boolean }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType };

interface TypeDemand {
  readonly nonNull: boolean;
  readonly of: Demand;
}

const demands = new WeakMap<GraphQLOutputType, TypeDemand>();

function demandOf(type: GraphQLOutputType): TypeDemand {
  let known = demands.get(type);
  if (!known) {
    known = { nonNull: isNonNullType(type), of: nullableDemand(getNullableType(type) as GraphQLOutputType) };
    demands.set(type, known);
  }
  return known;
}

function nullableDemand(type: GraphQLOutputType): Demand {
  if (isListType(type)) return { kind: 'list', item: type.ofType as GraphQLOutputType };
  if (isLeafType(type)) return { kind: 'leaf', type, takesLists: isOpaque(type) };
  if (isObjectType(type)) return { kind: 'object', type };
  return { kind: 'abstract', type: type as GraphQLAbstractType };
}

/** Scalars of an operation's own (JSON) take any value, lists too. */
function isOpaque(type: GraphQLLeafType): boolean {
  return !BUILT_IN.has(type.name) && type.astNode === undefined && !('getValues' in type);
}

/** False: no value, be it absent or wrong (then the error is noted). */
function completeNullable(
  scope: CompletionScope,
  demand: Demand,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): boolean {
  if (demand.kind === 'list') return completeList(scope, demand.item, nodes, value, out);
  if (value === null || value === undefined) return false;
  if (demand.kind === 'leaf' && (demand.takesLists || !Array.isArray(value))) {
    return completeLeaf(scope, demand.type, nodes, value, out);
  }
  if (Array.isArray(value)) {
    return wrong(
      scope,
      nodes,
      'a list was returned where one item was expected',
      'REMOTE_REPLY',
      'Define the field as a list, or return one item.',
    );
  }
  if (typeof value !== 'object') {
    return wrong(
      scope,
      nodes,
      `${JSON.stringify(value)} was returned where an object was expected`,
      'REMOTE_REPLY',
      'Define the field as a scalar, or return an object.',
    );
  }
  const concrete =
    demand.kind === 'object' ? demand.type : runtimeType(scope, demand.type as GraphQLAbstractType, nodes, value);
  if (concrete) return completeObject(scope, concrete, nodes, value as Record<string, unknown>, out);
  return wrong(
    scope,
    nodes,
    ...unknownType(String(demand.type), (value as { readonly __typename?: unknown }).__typename),
  );
}

/** Why an item of an interface or a union cannot be completed. */
function unknownType(abstract: string, given: unknown): [string, 'REMOTE_REPLY', string] {
  return typeof given === 'string'
    ? [
        `the type ${given} of an item is none of ${abstract} here`,
        'REMOTE_REPLY',
        `Define ${given} as one of its types.`,
      ]
    : [`the type of an item of ${abstract} is not known`, 'REMOTE_REPLY', 'Return __typename with it.'];
}

const BUILT_IN = new Set(['ID', 'Int', 'Int64', 'Float', 'String', 'Boolean', 'DateTime']);

function completeLeaf(
  scope: CompletionScope,
  type: GraphQLLeafType,
  nodes: Nodes,
  value: unknown,
  out: JsonWriter,
): boolean {
  const json = scope.anyTextIsTrue ? leafJson(type, value) : exactJson(type, value);
  if (json === undefined) {
    const shown = typeof value === 'object' ? shownObject(value) : String(value);
    const field = nodes[0].name.value;
    return wrong(
      scope,
      nodes,
      `Error coercing value '${shown}' for field '${field}' to type ${type.name}.`,
      'INVALID_VALUE',
      `Return a value of ${type.name}, or define the field by the type of what is returned.`,
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
  fix: string,
): false {
  scope.errors.at(nodes, scope.path, new GraphsteadError(code, message, { fix }));
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
    return wrong(
      scope,
      nodes,
      'one item was returned where a list was expected',
      'REMOTE_REPLY',
      'Define the field without brackets, or return a list.',
    );
  }
  out.byte(0x5b);
  for (let i = 0; i < value.length; i++) {
    if (!completeItem(scope, item, nodes, value[i], i, out)) return false;
  }
  out.byte(0x5d);
  return true;
}

function completeItem(
  scope: CompletionScope,
  item: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  i: number,
  out: JsonWriter,
): boolean {
  if (i > 0) out.byte(0x2c);
  scope.path.push(i);
  const ok = complete(scope, item, nodes, value, out);
  scope.path.pop();
  return ok;
}

function* listInSteps(
  scope: CompletionScope,
  item: GraphQLOutputType,
  nodes: Nodes,
  values: readonly unknown[],
  out: JsonWriter,
): Steps<boolean> {
  out.byte(0x5b);
  for (let i = 0; i < values.length; i++) {
    yield;
    if (!completeItem(scope, item, nodes, values[i], i, out)) return false;
  }
  out.byte(0x5d);
  return true;
}

/**
 * By `__typename`, or the only type that it can be. Where an interface's own fields are all that is asked, an item without
 * `__typename` is completed as the interface, and so is one of a type that is not defined here, as long as it holds some of
 * them: a remote that was asked for them of the types defined here alone holds none.
 */
export function runtimeType(
  scope: CollectScope,
  type: GraphQLAbstractType,
  nodes: Nodes,
  value: object,
): Typed | undefined {
  const possible = scope.schema.getPossibleTypes(type);
  const name = (value as { readonly __typename?: unknown }).__typename;
  if (typeof name !== 'string' && possible.length === 1) return possible[0];
  const known = possible.find((candidate) => candidate.name === name);
  if (known || !isInterfaceType(type) || !suffices(scope, type, nodes)) return known;
  if (typeof name !== 'string') return type;
  return scope.schema.getType(name) === undefined && holdsSome(scope, type, nodes, value) ? type : undefined;
}

function holdsSome(scope: CollectScope, type: GraphQLInterfaceType, nodes: Nodes, value: object): boolean {
  const fields = askedFields(scope, type, nodes);
  // @skip may have left nothing to hold
  if (fields.length === 0) return true;
  return fields.some(({ alias, replyKey: key, definition }) => {
    const needs = definition && needsOf(definition);
    return [key, ...(alias === undefined ? [] : [alias]), ...(needs ?? [])].some((name) => Object.hasOwn(value, name));
  });
}

/** Whatever the type of a node is, it answers the selection alike. */
export function suffices(scope: CollectScope, type: GraphQLInterfaceType, nodes: Nodes): boolean {
  return (
    !tellsApart(scope, type, selectionSets(nodes)) &&
    askedFields(scope, type, nodes).every(({ definition }) => definition !== undefined)
  );
}

/** A field of one concrete type as a selection asks for it. */
interface AskedField {
  readonly key: string;
  /** `"key":` */
  readonly prefix: Buffer;
  readonly nodes: Nodes;
  /** absent for __typename */
  readonly definition: Definition | undefined;
  readonly replyKey: string;
  /** what a GraphQL remote was asked for under this name of ours */
  readonly alias: string | undefined;
  /** the edge whose nodes it counts */
  readonly counts: string | undefined;
}

/** Items of one list ask for the same fields: they are collected once in an answer. */
const asked = new WeakMap<CollectScope, Map<Nodes, Map<Typed, readonly AskedField[]>>>();

export function askedFields(scope: CollectScope, type: Typed, nodes: Nodes): readonly AskedField[] {
  const byNodes = within(asked, scope, () => new Map<Nodes, Map<Typed, readonly AskedField[]>>());
  const byType = within(byNodes, nodes, () => new Map<Typed, readonly AskedField[]>());
  return within(byType, type, () => {
    const definitions = type.getFields();
    const collected = collectFields(scope, type, selectionSets(nodes));
    const aliases = replyAliases(scope, type, collected);
    return [...collected].map(([key, fieldNodes]): AskedField => {
      const definition = definitions[fieldNodes[0].name.value];
      const prefix = Buffer.from(`${JSON.stringify(key)}:`);
      const inReply = { replyKey: definition ? replyKey(definition) : key, alias: aliases.get(key) };
      return { key, prefix, nodes: fieldNodes, definition, ...inReply, counts: countedEdge(definition) };
    });
  });
}

function countedEdge(definition: Definition | undefined): string | undefined {
  const meaning = definition && fieldMeaning(definition);
  return meaning?.op === 'edgeAggregate' ? meaning.field.name : undefined;
}

/** What a reply holds for a field. One over REST knows no arguments: it holds the same under every alias. */
export function heldValue({ alias, replyKey: key }: AskedField, value: Readonly<Record<string, unknown>>): unknown {
  return ownValue(value, alias !== undefined && Object.hasOwn(value, alias) ? alias : key);
}

/** As `heldValue`; notes that nothing here counts what lies on edges of what is not stored here. With Dgraph's names it is null. */
function valueIn(scope: CompletionScope, field: AskedField, value: Readonly<Record<string, unknown>>): unknown {
  const held = heldValue(field, value);
  if (held === undefined && field.counts !== undefined && !scope.anyTextIsTrue) {
    const [{ name }] = field.nodes;
    const error = new GraphsteadError(
      'REMOTE_REPLY',
      `${name.value} is counted from stored nodes, and this object was not read from the store`,
      { fix: `Ask for ${field.counts} and count what comes, or query the stored node by its key.` },
    );
    scope.errors.at(field.nodes, scope.path, error);
  }
  return held;
}

/** Writes a field's key. False for __typename, which is written whole. */
function begin(
  type: Typed,
  field: AskedField,
  i: number,
  out: JsonWriter,
): field is AskedField & { readonly definition: Definition } {
  if (i > 0) out.byte(0x2c);
  out.bytes(field.prefix);
  if (!field.definition) out.string(type.name);
  return field.definition !== undefined;
}

function completeObject(
  scope: CompletionScope,
  type: Typed,
  nodes: Nodes,
  value: Record<string, unknown>,
  out: JsonWriter,
): boolean {
  out.byte(0x7b);
  const fields = askedFields(scope, type, nodes);
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i];
    if (!begin(type, field, i, out)) continue;
    scope.path.push(field.key);
    const own = scope.answerOf?.(value, field.nodes);
    const ok = own
      ? completeCustom(scope, field.definition.type, field.nodes, own, out)
      : complete(scope, field.definition.type, field.nodes, valueIn(scope, field, value), out);
    scope.path.pop();
    if (!ok) return false;
  }
  out.byte(0x7d);
  return true;
}

function* objectInSteps(
  scope: CompletionScope,
  type: GraphQLObjectType,
  nodes: Nodes,
  value: Record<string, unknown>,
  out: JsonWriter,
): Steps<boolean> {
  out.byte(0x7b);
  for (const [i, field] of askedFields(scope, type, nodes).entries()) {
    if (!begin(type, field, i, out)) continue;
    scope.path.push(field.key);
    const own = scope.answerOf?.(value, field.nodes);
    const ok = own
      ? completeCustom(scope, field.definition.type, field.nodes, own, out)
      : yield* completeInSteps(scope, field.definition.type, field.nodes, valueIn(scope, field, value), out);
    scope.path.pop();
    if (!ok) return false;
  }
  out.byte(0x7d);
  return true;
}

/** The answer of a custom field; a call that failed is null, a list too, and has said why. */
function completeCustom(
  scope: CompletionScope,
  type: GraphQLOutputType,
  nodes: Nodes,
  result: CustomResult,
  out: JsonWriter,
): boolean {
  tellCustomErrors(scope, nodes, result);
  if (!isFailure(result)) return complete(scope, type, nodes, result.value, out);
  if (isNonNullType(type)) return false;
  out.ascii('null');
  return true;
}

/** The remote's own refusals: most have a fix of their own in their extensions, if any. */
const FIX_OF_REMOTE = "Correct what was asked by what the remote says of it, or look at the remote's log.";

/** Errors of a custom call, their paths prefixed with the field's own unless they are absolute. */
export function tellCustomErrors(scope: CompletionScope, nodes: Nodes, result: CustomResult): void {
  for (const error of result.errors) {
    const path = error.absolute && error.path ? error.path : [...scope.path, ...(error.path ?? [])];
    if (error.locations) {
      const { message, locations, extensions } = error;
      scope.errors.add({
        message,
        locations,
        path,
        extensions: { code: 'REMOTE_FAILED', fix: FIX_OF_REMOTE, ...extensions },
      });
    } else {
      const { message, extensions: details } = error;
      scope.errors.at(nodes, path, new GraphsteadError('REMOTE_FAILED', message, { fix: FIX_OF_REMOTE, details }));
    }
    if (error.path && !error.absolute) scope.errors.explain(path);
  }
}

/** As JSON, or as Node.js shows what no JSON can be made of: a circle, a bigint. */
function shownObject(value: object | null): string {
  try {
    return JSON.stringify(value);
  } catch {
    return inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  }
}
