import type { GraphQLInputObjectType } from 'graphql';
import { assert } from '../../base/index.js';
import type { FunctionCall, OrderKey, Page, Selection } from '../../dql/index.js';
import type { ObjectType } from '../../sdl/index.js';
import { inputMeaning } from '../schema/meaning.js';
import type { Scope } from './scope.js';
import { block, NOWHERE, orderBy, orderByVariable, plainName, select, storedName } from './syntax.js';

type Input = Readonly<Record<string, unknown>>;

/** A coerced TOrder as order keys; `candidates` are the nodes that will be ordered. */
export function compileOrder(scope: Scope, type: ObjectType, value: unknown, candidates: FunctionCall): OrderKey[] {
  if (value === null || value === undefined) return [];
  const input = scope.schema.getType(`${type.name}Order`) as GraphQLInputObjectType | undefined;
  assert(input, `${type.name} can be ordered`);
  const keys: OrderKey[] = [];
  let then: unknown;
  for (const [name, given] of Object.entries(value as Input)) {
    if (given === null || given === undefined) continue;
    const meaning = inputMeaning(input.getFields()[name]);
    if (meaning?.op === 'asc' || meaning?.op === 'desc')
      keys.push(ownOrder(type, String(given), meaning.op === 'desc'));
    else if (meaning?.op === 'then') then = given;
    else if (meaning?.op === 'edgeOrder') keys.push(...edgeOrder(scope, type, name, given, candidates));
  }
  return [...keys, ...compileOrder(scope, type, then, candidates)];
}

function ownOrder(type: ObjectType, name: string, descending: boolean): OrderKey {
  const storage = type.field(name)?.storage;
  assert(storage, `${type.name}.${name} is stored`);
  return orderBy(storedName(storage), descending);
}

/** By a field of the node at the edge's other end: its value is carried to this side in a variable. */
function edgeOrder(scope: Scope, type: ObjectType, name: string, given: unknown, candidates: FunctionCall): OrderKey[] {
  const field = type.field(name);
  const target = field && scope.model.object(field.type.name);
  assert(field?.storage && target, `${type.name}.${name} is an edge`);
  const edge = storedName(field.storage);
  const keys: OrderKey[] = [];
  for (const { path, descending } of orderPaths(scope, target, given)) {
    const value = scope.plan.fresh();
    let inner: Selection = { ...select(plainName(path[path.length - 1].name), path[path.length - 1]), variable: value };
    let carried = value;
    const carry = (): Selection => {
      const variable = scope.plan.fresh();
      const aggregate: Selection = {
        kind: 'aggregate',
        op: descending ? 'max' : 'min',
        of: { kind: 'variable', name: carried },
        variable,
        position: NOWHERE,
      };
      carried = variable;
      return aggregate;
    };
    let children: Selection[] = [inner];
    for (let level = path.length - 2; level >= -1; level--) {
      inner = select(level === -1 ? edge : path[level], { children });
      children = [inner, carry()];
    }
    scope.plan.add(block({ root: candidates, children }));
    keys.push(orderByVariable(carried, descending));
  }
  return keys;
}

interface OrderPath {
  /** edges, then the value */
  readonly path: readonly ReturnType<typeof storedName>[];
  readonly descending: boolean;
}

function orderPaths(scope: Scope, type: ObjectType, value: unknown): OrderPath[] {
  const paths: OrderPath[] = [];
  let then: unknown;
  for (const [name, given] of Object.entries(value as Input)) {
    if (given === null || given === undefined) continue;
    if (name === 'asc' || name === 'desc') {
      const storage = type.field(String(given))?.storage;
      assert(storage, `${type.name}.${String(given)} is stored`);
      paths.push({ path: [storedName(storage)], descending: name === 'desc' });
    } else if (name === 'then') then = given;
    else {
      const field = type.field(name);
      const target = field && scope.model.object(field.type.name);
      assert(field?.storage && target, `${type.name}.${name} is an edge`);
      const edge = storedName(field.storage);
      for (const { path, descending } of orderPaths(scope, target, given)) {
        paths.push({ path: [edge, ...path], descending });
      }
    }
  }
  return then ? [...paths, ...orderPaths(scope, type, then)] : paths;
}

/** `first` and `offset` as given; 0 and null are no bound. */
export function compilePage(args: Input): Page {
  const { first, offset } = args as { readonly first?: number | null; readonly offset?: number | null };
  return { ...(first ? { first } : {}), ...(offset ? { offset } : {}) };
}
