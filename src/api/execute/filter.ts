import { type GraphQLInputObjectType, isInputObjectType, getNamedType } from 'graphql';
import { assert, GraphsteadError } from '../../base/index.js';
import type { Argument, Filter, FunctionCall } from '../../dql/index.js';
import { MAX_UID } from '../../graph/index.js';
import type { Field, ObjectType, UnionType } from '../../sdl/index.js';
import { inputMeaning, type ValueOperator } from '../schema/meaning.js';
import { patternParts } from '../schema/pattern.js';
import { authFilter } from './auth/filter.js';
import { askable } from './auth/misfit.js';
import { coordinatesOf } from './geo.js';
import { filterInput, namedType, type Scope } from './scope.js';
import {
  allOf,
  and,
  anyOf,
  block,
  call,
  coordinates,
  literal,
  NEVER,
  not,
  ofType,
  ofUids,
  ofVariable,
  or,
  type PredicateName,
  regexp,
  select,
  storedName,
  test,
  uidVariable,
} from './syntax.js';

type Input = Readonly<Record<string, unknown>>;

/** A coerced TFilter or UFilter as a filter; undefined matches everything. Throws LIMIT_EXCEEDED. */
export function compileFilter(scope: Scope, input: GraphQLInputObjectType, value: unknown): Filter | undefined {
  if (value === null || value === undefined) return undefined;
  scope.plan.filterPart();
  const fields = input.getFields();
  const parts: (Filter | undefined)[] = [];
  const alternatives: (Filter | undefined)[] = [];
  const members: { readonly type: ObjectType; readonly filter: unknown }[] = [];
  let memberTypes: readonly string[] | undefined;
  let isUnion = false;
  for (const [key, given] of Object.entries(value as Input)) {
    const meaning = inputMeaning(fields[key]);
    assert(meaning, `${input.name}.${key} has a meaning`);
    if (given === null || given === undefined) continue;
    switch (meaning.op) {
      case 'ids':
        parts.push(
          meaning.field.storage
            ? equality(storedName(meaning.field.storage), asList(given))
            : idFilter(given as readonly unknown[]),
        );
        break;
      case 'search':
        parts.push(valueFilter(scope, storedName(storageOf(meaning.field)), fields[key], given));
        break;
      case 'edgeFilter':
        parts.push(edgeFilter(scope, meaning.field, meaning.target, given));
        break;
      case 'has':
        for (const name of asList(given)) if (name !== null) parts.push(hasFilter(scope, input, String(name)));
        break;
      case 'and':
        for (const each of asList(given)) parts.push(compileFilter(scope, input, each));
        break;
      case 'or':
        for (const each of asList(given)) alternatives.push(compileFilter(scope, input, each));
        break;
      case 'not':
        parts.push(not(compileFilter(scope, input, given)));
        break;
      case 'memberTypes':
        isUnion = true;
        memberTypes = asList(given).map(String);
        break;
      case 'member':
        isUnion = true;
        members.push({ type: meaning.type, filter: given });
        break;
      default:
        assert(false, `${meaning.op} does not stand in a filter`);
    }
  }
  if (isUnion) parts.push(unionFilter(scope, input, memberTypes, members));
  const required = allOf(parts);
  if (alternatives.length === 0) return required;
  return anyOf(parts.length === 0 ? alternatives : [required, ...alternatives]);
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function storageOf(field: Field) {
  assert(field.storage, `${field.name} is stored`);
  return field.storage;
}

/** `0x1f`, `31`: anything else names no node. */
export function parseUid(text: unknown): number | undefined {
  const uid = /^(0[xX][0-9a-fA-F]{1,14}|[0-9]{1,16})$/.test(String(text)) ? Number(text) : 0;
  return uid > 0 && uid <= MAX_UID ? uid : undefined;
}

function idFilter(ids: readonly unknown[]): Filter {
  const uids = asList(ids).flatMap((id) => parseUid(id) ?? []);
  return uids.length === 0 ? NEVER : test(ofUids([...new Set(uids)].sort((a, b) => a - b)));
}

/** An edge is there where it leads to a node that the caller may query; the peer looks at none. */
function hasFilter(scope: Scope, input: GraphQLInputObjectType, name: string): Filter {
  const field = scope.model.object(input.name.replace(/Filter$/, ''))?.field(name);
  assert(field?.storage, `${input.name} can ask has: ${name}`);
  if (field.role === 'edge' && !scope.names.dgraph) return reaching(scope, field, field.type.name, undefined);
  return test(call('has', storedName(field.storage), []));
}

/** Some node at the edge's other end meets the filter and may be seen. */
function edgeFilter(scope: Scope, field: Field, target: string, value: unknown): Filter | undefined {
  const input = filterInput(scope, target);
  const inner = input ? compileFilter(scope, input, value) : undefined;
  return reaching(scope, field, target, inner);
}

/** Nodes with an edge to a node of the target that passes `inner` and the target's query rules. */
export function reaching(scope: Scope, field: Field, target: string, inner: Filter | undefined): Filter {
  const predicate = storedName(storageOf(field));
  const type = namedType(scope, target);
  const rule = type.kind === 'enum' || type.kind === 'input' ? undefined : authFilter(scope, type, 'query');
  const filter = and(inner, rule);
  if (filter === NEVER) return NEVER;
  if (filter === undefined) return test(call('has', predicate, []));
  const variable = nodesVariable(scope, typeTests(scope, target), filter);
  return test(call('uid_in', predicate, [uidVariable(variable)]));
}

/** What tells that a node is of a type: one test, or one for each member of a union. */
export function typeTests(scope: Scope, name: string): readonly FunctionCall[] {
  const type = namedType(scope, name);
  if (type.kind === 'union') return type.members.map((member) => ofType(storedTypeName(scope, member)));
  return [ofType(storedTypeName(scope, name))];
}

function storedTypeName(scope: Scope, name: string): string {
  return scope.model.object(name)?.storedName ?? name;
}

/** A variable that holds the nodes of the types that pass the filter. */
function nodesVariable(scope: Scope, types: readonly FunctionCall[], filter: Filter): string {
  const variable = scope.plan.fresh();
  const root = rootOf(scope, types, filter);
  scope.plan.add(block({ variable, root: root.call, ...(root.filter ? { filter: root.filter } : {}) }));
  return variable;
}

export interface Root {
  readonly call: FunctionCall;
  readonly filter: Filter | undefined;
}

const BY_TERMS = new Set(['allofterms', 'anyofterms', 'alloftext', 'anyoftext']);

/**
 * Where to begin: nodes given by id, then by an @id value, by walking back from a set of nodes, by another equality, by
 * words, and only then every node of the type. The rest, the type included, stays as filter.
 */
export function rootOf(scope: Scope, types: readonly FunctionCall[], filter: Filter | undefined): Root {
  const typeFilter = or(...types.map(test));
  if (filter === NEVER) return { call: ofUids([]), filter: undefined };
  const parts = filter === undefined ? [] : filter.kind === 'and' ? filter.children : [filter];
  const unique = pick(parts, isUidCall) ?? pick(parts, (each) => isEquality(each) && isKeyed(scope, each));
  const back = unique ? undefined : reverseRoot(scope, parts);
  if (back) return { call: back, filter: and(filter, typeFilter) };
  const best = unique ?? pick(parts, isEquality) ?? pick(parts, isWords);
  if (best) return { call: best.call, filter: allOf([...parts.filter((part) => part !== best.part), typeFilter]) };
  if (types.length === 1) return { call: types[0], filter };
  return { call: ofVariable(unionVariable(scope, types)), filter };
}

/** @id predicates have @upsert: a value finds at most a node of each type. */
function isKeyed(scope: Scope, { subject }: FunctionCall): boolean {
  return subject?.kind === 'predicate' && scope.graph.predicate(subject.name)?.upsert === true;
}

function unionVariable(scope: Scope, types: readonly FunctionCall[]): string {
  const names = types.map((root) => {
    const variable = scope.plan.fresh();
    scope.plan.add(block({ variable, root }));
    return variable;
  });
  const variable = scope.plan.fresh();
  scope.plan.add(block({ variable, root: ofVariable(...names) }));
  return variable;
}

function pick(
  parts: readonly Filter[],
  suits: (call: FunctionCall) => boolean,
): { readonly part: Filter; readonly call: FunctionCall } | undefined {
  for (const part of parts) if (part.kind === 'call' && suits(part.call)) return { part, call: part.call };
  return undefined;
}

function isUidCall(candidate: FunctionCall): boolean {
  return candidate.name === 'uid';
}

function isEquality(candidate: FunctionCall): boolean {
  return candidate.name === 'eq' && candidate.subject?.kind === 'predicate' && !isBooleanText(candidate.args);
}

/** Half of all nodes have the same boolean: no good place to begin. */
function isBooleanText(args: readonly Argument[]): boolean {
  return args.some((arg) => arg.kind === 'literal' && !arg.quoted && (arg.text === 'true' || arg.text === 'false'));
}

function isWords(candidate: FunctionCall): boolean {
  return BY_TERMS.has(candidate.name);
}

/** `uid_in(p, v)` where p has @reverse: begin at v and walk back. */
function reverseRoot(scope: Scope, parts: readonly Filter[]): FunctionCall | undefined {
  for (const part of parts) {
    if (part.kind !== 'call' || part.call.name !== 'uid_in' || part.call.subject?.kind !== 'predicate') continue;
    const { name, reverse } = part.call.subject;
    const target = part.call.args[0];
    if (target?.kind !== 'uidVariable' || !scope.graph.predicate(name)?.reverse) continue;
    const variable = scope.plan.fresh();
    scope.plan.add(
      block({
        root: ofVariable(target.name),
        children: [select({ name, reverse: !reverse, langs: [] }, { variable })],
      }),
    );
    return ofVariable(variable);
  }
  return undefined;
}

function unionFilter(
  scope: Scope,
  input: GraphQLInputObjectType,
  memberTypes: readonly string[] | undefined,
  members: readonly { readonly type: ObjectType; readonly filter: unknown }[],
): Filter | undefined {
  const union = namedType(scope, input.name.replace(/Filter$/, '')) as UnionType;
  const wanted = memberTypes ?? union.members;
  return or(
    ...wanted.map((name) => {
      const given = members.find((member) => member.type.name === name);
      const own = given ? filterInput(scope, name) : undefined;
      return and(test(ofType(storedTypeName(scope, name))), own ? compileFilter(scope, own, given?.filter) : undefined);
    }),
  );
}

type InputField = ReturnType<GraphQLInputObjectType['getFields']>[string];

/** `{eq: 1, lt: 5}`, or a bare Boolean or enum value. */
function valueFilter(scope: Scope, predicate: PredicateName, field: InputField, value: unknown): Filter | undefined {
  const type = getNamedType(field.type);
  if (!isInputObjectType(type)) return equality(predicate, asList(value));
  if (scope.names.dgraph) oneFunction(field.name, value as Input);
  const parts: (Filter | undefined)[] = [];
  for (const [key, given] of Object.entries(value as Input)) {
    const meaning = inputMeaning(type.getFields()[key]);
    assert(meaning?.op === 'compare', `${type.name}.${key} compares`);
    if (meaning.operator === 'eq' && given === null) parts.push(not(test(call('has', predicate, []))));
    else if (given !== null && given !== undefined) {
      const compile = () => comparison(predicate, meaning.operator, given);
      parts.push(scope.ofClaims ? askable(scope, compile) : compile());
    }
  }
  return and(...parts);
}

/** Where all functions of one field hold here, the peer takes one at a time, of a value and of a region alike. */
function oneFunction(name: string, value: Input): void {
  const given = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  if (given.length > 1) {
    const written = given.map(([key]) => key).join(', ');
    throw new GraphsteadError('INVALID_VALUE', `the filter of ${name} takes one function, not ${written}`, {
      fix: `Join filters of ${name} with and: [...].`,
    });
  }
  for (const [key, one] of given) if (key === 'contains' || key === 'intersects') oneFunction(key, one as Input);
}

function scalarLiteral(value: unknown): Argument {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return literal(value);
  return literal(String(value));
}

function equality(predicate: PredicateName, values: readonly unknown[]): Filter | undefined {
  const present = values.filter((value) => value !== null);
  const absent = present.length < values.length ? not(test(call('has', predicate, []))) : NEVER;
  const equal = present.length === 0 ? NEVER : test(call('eq', predicate, present.map(scalarLiteral)));
  return or(equal, absent);
}

function comparison(predicate: PredicateName, operator: ValueOperator, given: unknown): Filter | undefined {
  const input = given as Input;
  switch (operator) {
    case 'eq':
    case 'in':
      return equality(predicate, asList(given));
    case 'between':
      return test(call('between', predicate, [scalarLiteral(input.min), scalarLiteral(input.max)]));
    case 'regexp':
      return test(call('regexp', predicate, [pattern(String(given))]));
    case 'near':
      return test(
        call('near', predicate, [
          coordinates(coordinatesOf('Point', input.coordinate)),
          literal(Number(input.distance)),
        ]),
      );
    case 'within':
      return test(call('within', predicate, [coordinates(coordinatesOf('Polygon', input.polygon))]));
    case 'contains':
    case 'intersects':
      return region(predicate, operator, input);
    default:
      return test(call(operator, predicate, [scalarLiteral(given)]));
  }
}

/** contains{point polygon}, intersects{polygon multiPolygon}: every one that is given must hold. */
function region(predicate: PredicateName, operator: 'contains' | 'intersects', input: Input): Filter | undefined {
  const shapes: unknown[] = [];
  if (input.point) shapes.push(coordinatesOf('Point', input.point));
  if (input.polygon) shapes.push(coordinatesOf('Polygon', input.polygon));
  if (input.multiPolygon) shapes.push(coordinatesOf('MultiPolygon', input.multiPolygon));
  return and(...shapes.map((shape) => test(call(operator, predicate, [coordinates(shape)]))));
}

function pattern(text: string): Argument {
  const { source, flags } = patternParts(text);
  return regexp(source, flags);
}
