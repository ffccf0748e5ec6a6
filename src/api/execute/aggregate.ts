import type { GraphQLObjectType, SelectionSetNode } from 'graphql';
import { getNamedType } from 'graphql';
import { assert, type JsonWriter } from '../../base/index.js';
import {
  compareValues,
  decodeValue,
  formatDateTime,
  type StoredValue,
  type Value,
  valueText,
} from '../../values/index.js';
import { type AggregateFunction, fieldMeaning } from '../schema/meaning.js';
import { collectFields } from './collect.js';
import type { AggregateField, AggregatePlan } from './plan.js';
import type { Scope } from './scope.js';
import { SelectionList, valueSlot } from './selection-list.js';

/** Compiles the selection on an aggregate result type. */
export function compileAggregate(
  scope: Scope,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): AggregatePlan {
  const list = new SelectionList();
  const fields: AggregateField[] = [];
  for (const [key, nodes] of collectFields(scope, type, sets)) {
    const definition = type.getFields()[nodes[0].name.value];
    fields.push({ prefix: Buffer.from(`${JSON.stringify(key)}:`), key, nodes, of: sourceOf(definition, list) });
  }
  return { typeName: type.name, selections: list.selections, fields };
}

function sourceOf(
  definition: ReturnType<GraphQLObjectType['getFields']>[string] | undefined,
  list: SelectionList,
): AggregateField['of'] {
  if (!definition) return { kind: 'typename' };
  const meaning = fieldMeaning(definition);
  if (meaning?.op === 'count') return { kind: 'count' };
  assert(meaning?.op === 'aggregateValue', `${definition.name} aggregates`);
  const scalar = getNamedType(definition.type).name;
  return { kind: 'value', fn: meaning.function, slot: valueSlot(meaning.field, list), scalar };
}

/** The aggregate of what is present, as JSON; `null` of nothing. */
export function writeAggregate(
  fn: AggregateFunction,
  scalar: string,
  values: readonly (StoredValue | undefined)[],
  out: JsonWriter,
): void {
  const present = values.flatMap((bytes) => (bytes ? [decodeValue(bytes)] : []));
  if (present.length === 0) {
    out.ascii('null');
    return;
  }
  if (fn === 'min' || fn === 'max') {
    out.raw(jsonOf(extreme(present, fn === 'min' ? 1 : -1)));
    return;
  }
  out.raw(fn === 'sum' ? sumJson(present, scalar) : finite(total(present) / present.length));
}

function extreme(values: readonly Value[], sign: number): Value {
  return values.reduce((best, value) => (compareValues(value, best) * sign < 0 ? value : best));
}

function jsonOf(value: Value): string {
  switch (value.type) {
    case 'int':
      return String(value.value);
    case 'float':
      return finite(value.value);
    case 'datetime':
      return JSON.stringify(formatDateTime(value.value));
    case 'bool':
      return String(value.value);
    default:
      return JSON.stringify(valueText(value));
  }
}

const finite = (value: number): string => (Number.isFinite(value) ? JSON.stringify(value) : 'null');

/** Integers are added exactly; past 64 bits there is no answer. */
function sumJson(values: readonly Value[], scalar: string): string {
  if (scalar === 'Float') return finite(total(values));
  const sum = values.reduce((all, value) => all + (value.type === 'int' ? BigInt(value.value) : 0n), 0n);
  return BigInt.asIntN(64, sum) === sum ? String(sum) : 'null';
}

function total(values: readonly Value[]): number {
  return values.reduce(
    (all, value) => all + (value.type === 'int' || value.type === 'float' ? Number(value.value) : 0),
    0,
  );
}
