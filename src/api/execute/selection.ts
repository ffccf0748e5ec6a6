import {
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  type SelectionSetNode,
} from 'graphql';
import { assert, TYPE_PREDICATE } from '../../base/index.js';
import type { Filter } from '../../dql/index.js';
import type { Field, ObjectType, UnionType } from '../../sdl/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import { argumentsOf } from './argument.js';
import { compileAggregate } from './aggregate.js';
import { authFilter } from './auth/filter.js';
import { demanding } from './cascade.js';
import { collectFields, selectionSets } from './collect.js';
import { type Demand, demandBelow, demandOf } from './demand.js';
import { compileFilter, typeTests } from './filter.js';
import { isGeoName } from './geo.js';
import { compileOrder, compilePage } from './order.js';
import type { AggregatePlan, ConcretePlan, CustomPlan, FieldPlan, FieldSource, ObjectPlan, Shape } from './plan.js';
import { scalarWriter } from './scalar.js';
import { filterInput, namedType, type Scope, selectedType } from './scope.js';
import { SelectionList, valueSlot } from './selection-list.js';
import { compiledOnce, type RootPlan } from './still-plan.js';
import { and, BESIDE, childrenOf, NEVER, ofType, or, plainName, select, storedName, test } from './syntax.js';

const ABSENT: FieldSource = Object.freeze({ kind: 'absent' });

/** What the types of an interface or a union share of a level: one selection is read, and written by what was made of it. */
interface Compiled {
  readonly edges: Map<string, ObjectPlan>;
  readonly aggregates: Map<string, AggregatePlan>;
}

/** Compiles selection sets over nodes of a type. */
function compileObject(scope: Scope, type: GraphQLCompositeType, sets: readonly SelectionSetNode[]): ObjectPlan {
  const list = new SelectionList();
  const shared: Compiled = { edges: new Map(), aggregates: new Map() };
  const types = new Map<string, ConcretePlan>();
  if (isObjectType(type)) {
    types.set('', concrete(scope, type, sets, list, shared));
    return { ...selectionsOf(list), typeSlot: -1, types };
  }
  const typeSlot = list.slot(TYPE_PREDICATE, () => select(plainName(TYPE_PREDICATE)), false);
  for (const possible of scope.schema.getPossibleTypes(type)) {
    const stored = scope.model.object(possible.name)?.storedName ?? possible.name;
    types.set(stored, concrete(scope, possible, sets, list, shared));
  }
  if (isUnionType(type)) return { ...selectionsOf(list), typeSlot, types };
  const fallback = concrete(scope, type as unknown as GraphQLObjectType, sets, list, shared);
  return { ...selectionsOf(list), typeSlot, types, fallback };
}

function selectionsOf(list: SelectionList): Pick<ObjectPlan, 'selections' | 'asked'> {
  const { selections, asked } = list;
  return asked ? { selections, asked } : { selections };
}

function concrete(
  scope: Scope,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  list: SelectionList,
  shared: Compiled,
): ConcretePlan {
  const fields: FieldPlan[] = [];
  for (const [key, nodes] of collectFields(scope, type, sets)) {
    const definition = type.getFields()[nodes[0].name.value];
    fields.push(
      definition
        ? fieldPlan(key, nodes, definition.type, source(scope, definition, nodes, list, shared))
        : fieldPlan(key, nodes, undefined, { kind: 'typename' }),
    );
  }
  return { name: type.name, fields };
}

function fieldPlan(
  key: string,
  nodes: readonly FieldNode[],
  type: GraphQLOutputType | undefined,
  from: FieldSource,
): FieldPlan {
  return {
    prefix: Buffer.from(`${JSON.stringify(key)}:`),
    key,
    nodes,
    type: type as GraphQLOutputType,
    shape: type ? shapeOf(type) : { nonNull: true, list: false, itemNonNull: false },
    source: from,
  };
}

function shapeOf(type: GraphQLOutputType): Shape {
  const nullable = getNullableType(type);
  const list = isListType(nullable);
  return { nonNull: isNonNullType(type), list, itemNonNull: list && isNonNullType(nullable.ofType) };
}

function source(
  scope: Scope,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  list: SelectionList,
  shared: Compiled,
): FieldSource {
  const meaning = fieldMeaning(definition);
  assert(meaning, `field ${definition.name} has a meaning`);
  if (meaning.op === 'vectorDistance') return { kind: 'distance' };
  if (meaning.op === 'edgeAggregate') return edgeAggregate(scope, definition, meaning, nodes, list, shared);
  assert(meaning.op === 'field', `${meaning.op} is no field of a node`);
  const { field } = meaning;
  if (field.role === 'id') return { kind: 'id' };
  if (field.role === 'custom') return custom(meaning.type, field, list);
  if (!field.storage) return ABSENT;
  if (field.role === 'edge') return edge(scope, definition, field, nodes, list, shared);
  const leaf = getNamedType(definition.type);
  const slot = valueSlot(field, list);
  if (isGeoName(leaf.name)) return { kind: 'geo', slot };
  if (field.embedding) return { kind: 'vector', slot };
  const write = scalarWriter(leaf as GraphQLLeafType);
  return field.type.list ? { kind: 'values', slot, write } : { kind: 'value', slot, write };
}

function custom(type: ObjectType, field: Field, list: SelectionList): FieldSource {
  const names = field.custom?.kind === 'http' ? field.custom.http.needs : [];
  const needs = names.flatMap((name): CustomPlan['needs'] => {
    const sibling = type.field(name);
    if (!sibling) return [];
    if (sibling.role === 'id') return [{ field: sibling, slot: 'id' }];
    return sibling.storage && sibling.role === 'scalar'
      ? [{ field: sibling, slot: valueSlot(sibling, list, false) }]
      : [];
  });
  return { kind: 'custom', custom: { type, field, needs } };
}

const nodeIds = new WeakMap<FieldNode, number>();
let lastNodeId = 0;

/** The same nodes (and so the same arguments and selections) give the same key. */
function keyOf(nodes: readonly FieldNode[]): string {
  return nodes
    .map((node) => {
      const known = nodeIds.get(node);
      if (known !== undefined) return known;
      lastNodeId++;
      nodeIds.set(node, lastNodeId);
      return lastNodeId;
    })
    .join(',');
}

function edge(
  scope: Scope,
  definition: GraphQLField<unknown, unknown>,
  field: Field,
  nodes: readonly FieldNode[],
  list: SelectionList,
  shared: Compiled,
): FieldSource {
  assert(field.storage, `${field.name} is stored`);
  const name = storedName(field.storage);
  const target = namedType(scope, field.type.name) as ObjectType | UnionType;
  const rule = authFilter(scope, target, 'query');
  if (rule === NEVER && !scope.cascades) return ABSENT;
  const args = argumentsOf(scope, { definition, nodes });
  const input = filterInput(scope, field.type.name);
  const filter = and(input ? compileFilter(scope, input, args.filter) : undefined, rule, backwards(scope, field));
  if (filter === NEVER && !scope.cascades) return ABSENT;
  const key = `${name.reverse ? '~' : ''}${name.name} ${keyOf(nodes)}`;
  const output = selectedType(definition);
  const demand = demandOf(scope, nodes[0]) ?? scope.demand;
  const asked = (): ObjectPlan => compileObject(below(scope, demand), output, selectionSets(nodes));
  const { plan: object, directives } = demanding(scope, target, shared.edges.get(key) ?? asked(), demand);
  shared.edges.set(key, object);
  const slot = list.slot(key, () =>
    select(name, {
      ...(filter ? { filter } : {}),
      order: target.kind === 'union' ? [] : compileOrder(scope, target, args.order, ofType(target.storedName)),
      page: compilePage(args),
      directives,
      children: childrenOf(object.selections),
    }),
  );
  return { kind: 'edge', slot, object };
}

/** An edge that is read backwards leads to every node that has it, of whatever type: only the field's own are meant. */
function backwards(scope: Scope, field: Field): Filter | undefined {
  return field.storage?.reverse ? or(...typeTests(scope, field.type.name).map(test)) : undefined;
}

function edgeAggregate(
  scope: Scope,
  definition: GraphQLField<unknown, unknown>,
  meaning: { readonly field: Field; readonly target: ObjectType },
  nodes: readonly FieldNode[],
  list: SelectionList,
  shared: Compiled,
): FieldSource {
  const { field, target } = meaning;
  assert(field.storage, `${field.name} is stored`);
  const rule = authFilter(scope, target, 'query');
  const output = getNamedType(definition.type) as GraphQLObjectType;
  if (rule === NEVER) {
    if (!scope.names.dgraph) return ABSENT;
    return { kind: 'hiddenAggregate', aggregate: compileAggregate(scope, output, selectionSets(nodes)) };
  }
  const args = argumentsOf(scope, { definition, nodes });
  const input = filterInput(scope, target.name);
  const filter = and(input ? compileFilter(scope, input, args.filter) : undefined, rule, backwards(scope, field));
  const name = storedName(field.storage);
  const key = `aggregate ${name.reverse ? '~' : ''}${name.name} ${keyOf(nodes)}`;
  const aggregate = shared.aggregates.get(key) ?? compileAggregate(scope, output, selectionSets(nodes));
  shared.aggregates.set(key, aggregate);
  const slot = list.slot(
    key,
    () =>
      select(name, { ...(filter ? { filter } : {}), directives: BESIDE, children: childrenOf(aggregate.selections) }),
    false,
  );
  return { kind: 'aggregate', slot, aggregate };
}

/** A root field's selection with its @cascade. */
export function compileRoot(
  scope: Scope,
  output: GraphQLCompositeType,
  type: ObjectType | UnionType,
  nodes: readonly FieldNode[],
  outer?: Demand,
): RootPlan {
  const compile = (): RootPlan => {
    const demand = demandOf(scope, nodes[0]) ?? outer;
    return demanding(scope, type, compileObject(below(scope, demand), output, selectionSets(nodes)), demand);
  };
  const alone = nodes.length === 1 && outer === undefined;
  return alone ? compiledOnce(scope, output, nodes[0], compile) : compile();
}

function below(scope: Scope, demand: Demand | undefined): Scope {
  return { ...scope, demand: demandBelow(scope, demand) };
}
