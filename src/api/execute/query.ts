import { type GraphQLObjectType, getNullableType, type GraphQLOutputType, isNonNullType } from 'graphql';
import { assert, GraphsteadError, type JsonWriter, type MaybePromise, type Steps } from '../../base/index.js';
import type { Block, Filter, FunctionCall, ResultNode, RunResult } from '../../dql/index.js';
import type { GraphReader, UidList } from '../../graph/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import type { RootMeaning } from '../schema/meaning.js';
import { compileAggregate } from './aggregate.js';
import { authFilter } from './auth/filter.js';
import { selectionSets } from './collect.js';
import { missing } from './complete.js';
import { resolveCustomFields } from './custom-fields.js';
import { compileFilter, parseUid, type Root, rootOf, typeTests } from './filter.js';
import { compileOrder, compilePage } from './order.js';
import type { ObjectPlan } from './plan.js';
import { noteReads } from './reads.js';
import type { Told } from './representation.js';
import { type DefinedField, type Request, scopeOf, type Written } from './request.js';
import { filterInput, keyFields, type Scope, selectedType } from './scope.js';
import { argumentsOf } from './argument.js';
import { compileRoot } from './selection.js';
import {
  and,
  block,
  call,
  checkPassword,
  childrenOf,
  literal,
  NEVER,
  ofType,
  ofUids,
  ofVariable,
  storedName,
  test,
} from './syntax.js';
import { aggregatesInSteps, Level, nodeInSteps, nodesInSteps, writeNode, type WriteScope } from './write.js';
import { writtenOf } from './written-ahead.js';

type Input = Readonly<Record<string, unknown>>;

/** Runs blocks, and notes what they read where that is heard. */
export function runBlocks(request: Request, blocks: readonly Block[], reader: GraphReader): Promise<RunResult> {
  if (request.reads) noteReads(blocks, request.reads.names);
  return request.engine.runQuery({ blocks }, reader, request.run);
}

/**
 * How many uids an answer is made of, each as often as it is read. What rules and filters read for it is left out: by its number
 * a caller could learn of nodes that he may not see.
 */
function touchedBy({ dest, children }: ResultNode): number {
  return children.reduce((sum, child) => sum + sourcesOf(child), dest.length);
}

const sourcesOf = ({ source, children }: ResultNode): number =>
  children.reduce((sum, child) => sum + sourcesOf(child), source.length);

/** Runs a plan and gives the result of its shown block. */
export async function runPlan(request: Request, scope: Scope, shown: Block, reader: GraphReader): Promise<ResultNode> {
  const result = await runBlocks(request, [...scope.plan.blocks, shown], reader);
  return result.roots[result.roots.length - 1];
}

export function writeScopeOf(request: Request, key: string, custom: WriteScope['custom']): WriteScope {
  return {
    schema: request.engine.schema,
    fragments: request.fragments,
    variables: request.variables,
    errors: request.errors,
    path: [key],
    emptyLists: request.engine.names.dgraph,
    anyTextIsTrue: request.engine.names.dgraph,
    custom,
    told: new Set(),
  };
}

/** Null, or the failure of a non-null root field. */
function writeNull(scope: WriteScope, { definition: { type }, nodes }: DefinedField, out: JsonWriter): boolean {
  if (!isNonNullType(type)) {
    out.ascii('null');
    return true;
  }
  missing(scope, type, nodes);
  return false;
}

/** Nodes of a block that can be written. */
export interface Bound {
  readonly level: Level;
  readonly scope: WriteScope;
}

/**
 * Makes nodes of a block writable: its columns bound, its custom fields answered.
 * @param told by uid, what the request itself says of fields that another service owns
 */
export async function boundLevel(
  request: Request,
  key: string,
  plan: ObjectPlan,
  node: ResultNode,
  reader: GraphReader,
  told?: ReadonlyMap<number, Told>,
): Promise<Bound> {
  request.touched += touchedBy(node);
  const level = new Level(plan, node);
  const { custom, answerOf } = await resolveCustomFields(request, level, node.dest, reader, told);
  const scope = writeScopeOf(request, key, custom);
  return { level, scope: answerOf ? { ...scope, answerOf } : scope };
}

export function rootRow(node: ResultNode): UidList {
  return node.rows?.[0] ?? new Float64Array(0);
}

type Of<Op extends RootMeaning['op']> = Extract<RootMeaning, { op: Op }>;

/** queryT */
export async function queryField(
  request: Request,
  field: DefinedField,
  meaning: Of<'query'>,
  reader: GraphReader,
): Promise<Written> {
  const scope = scopeOf(request, reader);
  const args = argumentsOf(scope, field);
  const input = filterInput(scope, meaning.type.name);
  const filter = and(
    input ? compileFilter(scope, input, args.filter) : undefined,
    authFilter(scope, meaning.type, 'query'),
  );
  return await nodesField(request, field, meaning.type, scope, filter, args, reader);
}

async function nodesField(
  request: Request,
  field: DefinedField,
  type: ObjectType,
  scope: Scope,
  filter: Filter | undefined,
  args: Input,
  reader: GraphReader,
): Promise<Written> {
  if (filter === NEVER) return { write: writeEmpty };
  const composite = selectedType(field.definition);
  const { plan, directives } = compileRoot(scope, composite, type, field.nodes);
  const root = rootOf(scope, typeTests(scope, type.name), filter);
  const shown = block({
    name: field.key,
    root: root.call,
    ...(root.filter ? { filter: root.filter } : {}),
    order: compileOrder(scope, type, args.order, ofType(type.storedName)),
    page: compilePage(args),
    directives,
    children: childrenOf(plan.selections),
  });
  const node = await runPlan(request, scope, shown, reader);
  const bound = await boundLevel(request, field.key, plan, node, reader);
  const row = rootRow(node);
  return listWritten(request, bound, row, field.definition.type);
}

export function writeEmpty(out: JsonWriter): boolean {
  out.ascii('[]');
  return true;
}

/** A list of nodes of a block as `type`. */
export function listWritten(
  request: Request,
  { scope, level }: Bound,
  row: UidList,
  type: GraphQLOutputType,
): MaybePromise<Written> {
  return writtenOf(request, row.length * level.most, (out, isLong) =>
    listInSteps(scope, level, row, type, out, isLong),
  );
}

/** When an item fails where it must not, the list is null. */
function* listInSteps(
  scope: WriteScope,
  level: Level,
  row: UidList,
  type: GraphQLOutputType,
  out: JsonWriter,
  isLong: boolean,
): Steps<boolean> {
  const start = out.length;
  if (yield* nodesInSteps(scope, level, row, type, out, isLong)) return true;
  out.truncate(start);
  if (isNonNullType(type)) return false;
  out.ascii('null');
  return true;
}

/** A root object, or null when there is no node. */
function* oneInSteps(
  { scope, level }: Bound,
  row: UidList,
  field: DefinedField,
  out: JsonWriter,
  isLong: boolean,
): Steps<boolean> {
  if (row.length === 0) return writeNull(scope, field, out);
  const start = out.length;
  const ok = isLong ? yield* nodeInSteps(scope, level, row[0], out) : writeNode(scope, level, row[0], out);
  if (ok) return true;
  out.truncate(start);
  if (isNonNullType(field.definition.type)) return false;
  out.ascii('null');
  return true;
}

/**
 * The conditions of getT's arguments: the ID and every @id that is given must hold. Throws when none is given; the
 * peer finds nothing then.
 */
export function identity(scope: Scope, type: ObjectType, args: Input, fieldName: string): Filter {
  const parts: Filter[] = [];
  const names = [...(type.id ? [type.id] : []), ...keyFields(type)];
  for (const field of names) {
    const value = args[field.name];
    if (value === null || value === undefined) continue;
    if (field.role === 'id') {
      const uid = parseUid(value);
      if (uid === undefined) throw invalidId(value);
      parts.push(test(ofUids([uid])));
    } else parts.push(test(equals(field, value)));
  }
  const filter = and(...parts);
  if (filter) return filter;
  if (scope.names.dgraph) return NEVER;
  throw new GraphsteadError('INVALID_GRAPHQL', `${fieldName} needs to know which ${type.name} is meant`, {
    fix: `Give ${names.map((each) => each.name).join(' or ')}.`,
  });
}

export function invalidId(value: unknown): GraphsteadError {
  return new GraphsteadError('INVALID_VALUE', `ID argument (${String(value)}) was not able to be parsed`, {
    fix: 'Ids look like "0x1f": use the id that a query returned.',
  });
}

function equals(field: Field, value: unknown): FunctionCall {
  assert(field.storage, `${field.name} is stored`);
  const argument = typeof value === 'number' || typeof value === 'bigint' ? literal(value) : literal(String(value));
  return call('eq', storedName(field.storage), [argument]);
}

/** getT */
export async function getField(
  request: Request,
  field: DefinedField,
  meaning: Of<'get'>,
  reader: GraphReader,
): Promise<Written> {
  const scope = scopeOf(request, reader);
  const args = argumentsOf(scope, field);
  const filter = and(
    identity(scope, meaning.type, args, field.definition.name),
    authFilter(scope, meaning.type, 'query'),
  );
  return await oneField(request, field, meaning.type, scope, filter, reader);
}

async function oneField(
  request: Request,
  field: DefinedField,
  type: ObjectType,
  scope: Scope,
  filter: Filter | undefined,
  reader: GraphReader,
): Promise<Written> {
  if (filter === NEVER) {
    const empty = writeScopeOf(request, field.key, new Map());
    return { write: (out) => writeNull(empty, field, out) };
  }
  const found = rootOf(scope, typeTests(scope, type.name), filter);
  return await showOne(request, field, type, scope, found, reader);
}

/** The node that `found` leads to, as the field's selection asks for it. Throws UNIQUE_VIOLATION where it leads to several. */
async function showOne(
  request: Request,
  field: DefinedField,
  type: ObjectType,
  scope: Scope,
  found: Root,
  reader: GraphReader,
): Promise<Written> {
  const composite = selectedType(field.definition);
  const { plan, directives } = compileRoot(scope, composite, type, field.nodes);
  const shown = block({
    name: field.key,
    root: found.call,
    ...(found.filter ? { filter: found.filter } : {}),
    directives,
    children: childrenOf(plan.selections),
  });
  const node = await runPlan(request, scope, shown, reader);
  const row = rootRow(node);
  // values that were there before @id was, or that several types of an interface have
  if (row.length > 1) {
    throw new GraphsteadError(
      'UNIQUE_VIOLATION',
      `${field.definition.name} finds ${row.length} nodes of ${type.name}, where one was expected`,
      { fix: `Look at them with query${type.name}, and give each a value of its own.` },
    );
  }
  const bound = await boundLevel(request, field.key, plan, node, reader);
  return writtenOf(request, bound.level.most, (out, isLong) => oneInSteps(bound, row, field, out, isLong));
}

/** checkTPassword: the node, when the password is right and the password rules allow it. */
export async function passwordField(
  request: Request,
  field: DefinedField,
  meaning: Of<'checkPassword'>,
  reader: GraphReader,
): Promise<Written> {
  const { type } = meaning;
  assert(type.password, `${type.name} has a password`);
  const scope = scopeOf(request, reader);
  const args = argumentsOf(scope, field);
  const filter = and(identity(scope, type, args, field.definition.name), authFilter(scope, type, 'password'));
  const root = rootOf(scope, typeTests(scope, type.name), filter);
  const checked = scope.plan.fresh();
  const candidates = scope.plan.fresh();
  const check = checkPassword(type.password.predicate, String(args[type.password.field]), checked);
  scope.plan.add(
    block({
      variable: candidates,
      root: root.call,
      ...(root.filter ? { filter: root.filter } : {}),
      children: [check],
    }),
  );
  const right = test({
    name: 'eq',
    subject: { kind: 'value', variable: checked },
    args: [literal(1)],
    position: { line: 0, column: 0 },
  });
  const found = { call: ofVariable(candidates), filter: right };
  return await showOne(request, field, type, scope, found, reader);
}

/** aggregateT */
export async function aggregateField(
  request: Request,
  field: DefinedField,
  meaning: Of<'aggregate'>,
  reader: GraphReader,
): Promise<Written> {
  const scope = scopeOf(request, reader);
  const args = argumentsOf(scope, field);
  const rule = authFilter(scope, meaning.type, 'query');
  const input = filterInput(scope, meaning.type.name);
  const filter = and(input ? compileFilter(scope, input, args.filter) : undefined, rule);
  if (rule === NEVER) {
    const empty = writeScopeOf(request, field.key, new Map());
    return { write: (out) => writeNull(empty, field, out) };
  }
  const type = getNullableType(field.definition.type) as GraphQLObjectType;
  const aggregate = compileAggregate(scope, type, selectionSets(field.nodes));
  const root = rootOf(scope, typeTests(scope, meaning.type.name), filter);
  const shown = block({
    name: field.key,
    root: root.call,
    ...(root.filter ? { filter: root.filter } : {}),
    children: childrenOf(aggregate.selections),
  });
  const node = await runPlan(request, scope, shown, reader);
  request.touched += touchedBy(node);
  const row = rootRow(node);
  return writtenOf(request, row.length, function* (out) {
    yield* aggregatesInSteps(aggregate, node, row, out);
    return true;
  });
}
