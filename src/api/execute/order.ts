import type { GraphQLInputObjectType } from 'graphql';
import { assert, GraphsteadError } from '../../base/index.js';
import type { FunctionCall, OrderKey, Page, Selection } from '../../dql/index.js';
import type { ObjectType } from '../../sdl/index.js';
import { inputMeaning } from '../schema/meaning.js';
import { authFilter } from './auth/filter.js';
import { edgeOf, type Scope } from './scope.js';
import {
  block,
  NEVER,
  NOWHERE,
  orderBy,
  orderByVariable,
  plainName,
  type PredicateName,
  select,
  storedName,
} from './syntax.js';

type Input = Readonly<Record<string, unknown>>;

/** A coerced TOrder as order keys; `candidates` are the nodes that will be ordered. Throws INVALID_VALUE. */
export function compileOrder(scope: Scope, type: ObjectType, value: unknown, candidates: FunctionCall): OrderKey[] {
  if (value === null || value === undefined) return [];
  const input = scope.schema.getType(`${type.name}Order`) as GraphQLInputObjectType | undefined;
  assert(input, `${type.name} can be ordered`);
  const keys: OrderKey[] = [];
  let then: unknown;
  for (const [name, given] of stepsOf(scope, type, value as Input)) {
    const meaning = inputMeaning(input.getFields()[name]);
    if (meaning?.op === 'asc' || meaning?.op === 'desc')
      keys.push(ownOrder(type, String(given), meaning.op === 'desc'));
    else if (meaning?.op === 'then') then = given;
    else if (meaning?.op === 'edgeOrder') keys.push(...edgeOrder(scope, type, name, given, candidates));
  }
  return [...keys, ...compileOrder(scope, type, then, candidates)];
}

/** What a level holds: one thing to order by, since of two fields an object does not say which comes first. The peer takes both. */
function stepsOf(scope: Scope, { name }: ObjectType, value: Input): [name: string, given: unknown][] {
  const given = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  const by = given.flatMap(([key]) => (key === 'then' ? [] : key));
  if (by.length <= 1 || scope.names.dgraph) return given;
  throw new GraphsteadError('INVALID_VALUE', `an order of ${name} has ${by.join(' and ')} side by side`, {
    fix: `Write what comes second under then: { ${by[0]}: ..., then: { ${by[1]}: ... } }.`,
  });
}

function ownOrder(type: ObjectType, name: string, descending: boolean): OrderKey {
  const storage = type.field(name)?.storage;
  assert(storage, `${type.name}.${name} is stored`);
  return orderBy(storedName(storage), descending);
}

/**
 * By a field of the node at the edge's other end: its value is carried to this side in a variable. Nodes that may not
 * be seen have no value here: an order would tell it.
 */
function edgeOrder(scope: Scope, type: ObjectType, name: string, given: unknown, candidates: FunctionCall): OrderKey[] {
  const { storage, target } = edgeOf(scope.model, type, name);
  const edge: Step = { name: storedName(storage), target };
  const keys: OrderKey[] = [];
  for (const { edges: further, field: last, descending } of orderPaths(scope, target, given)) {
    const edges = [edge, ...further];
    const rules = edges.map((step) => authFilter(scope, step.target, 'query'));
    if (rules.includes(NEVER)) continue;
    const value = scope.plan.fresh();
    let inner: Selection = { ...select(plainName(last.name), last), variable: value };
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
    for (let level = edges.length - 1; level >= 0; level--) {
      const filter = rules[level];
      inner = select(edges[level].name, { ...(filter ? { filter } : {}), children });
      children = [inner, carry()];
    }
    scope.plan.add(block({ root: candidates, children }));
    keys.push(orderByVariable(carried, descending));
  }
  return keys;
}

interface Step {
  readonly name: PredicateName;
  readonly target: ObjectType;
}

interface OrderPath {
  readonly edges: readonly Step[];
  readonly field: PredicateName;
  readonly descending: boolean;
}

function orderPaths(scope: Scope, type: ObjectType, value: unknown): OrderPath[] {
  const paths: OrderPath[] = [];
  let then: unknown;
  for (const [name, given] of stepsOf(scope, type, value as Input)) {
    if (name === 'asc' || name === 'desc') {
      const storage = type.field(String(given))?.storage;
      assert(storage, `${type.name}.${String(given)} is stored`);
      paths.push({ edges: [], field: storedName(storage), descending: name === 'desc' });
    } else if (name === 'then') then = given;
    else {
      const { storage, target } = edgeOf(scope.model, type, name);
      const edge: Step = { name: storedName(storage), target };
      for (const path of orderPaths(scope, target, given)) paths.push({ ...path, edges: [edge, ...path.edges] });
    }
  }
  return then ? [...paths, ...orderPaths(scope, type, then)] : paths;
}

/** `first` and `offset` as given; 0 and null are no bound. */
export function compilePage(args: Input): Page {
  const { first, offset } = args as { readonly first?: number | null; readonly offset?: number | null };
  return { ...(first ? { first } : {}), ...(offset ? { offset } : {}) };
}
