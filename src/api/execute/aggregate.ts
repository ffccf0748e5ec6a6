import type { GraphQLObjectType, SelectionSetNode } from 'graphql';
import { getNamedType } from 'graphql';
import { assert } from '../../base/index.js';
import {
  compareStored,
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
    fields.push({ prefix: Buffer.from(`${JSON.stringify(key)}:`), of: sourceOf(definition, list) });
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

/** The aggregate of values, taken one by one. */
export class Aggregate {
  readonly #fn: AggregateFunction;
  readonly #isFloat: boolean;
  #count = 0;
  #best: StoredValue | undefined;
  #total = 0;
  /** integers are added exactly */
  #exact = 0n;

  constructor(fn: AggregateFunction, scalar: string) {
    this.#fn = fn;
    this.#isFloat = scalar === 'Float';
  }

  add(bytes: StoredValue): void {
    this.#count++;
    if (this.#fn === 'min' || this.#fn === 'max') {
      this.#compare(bytes);
      return;
    }
    const value = decodeValue(bytes);
    if (value.type !== 'int' && value.type !== 'float') return;
    if (this.#fn === 'avg' || this.#isFloat) this.#total += Number(value.value);
    else if (value.type === 'int') this.#exact += BigInt(value.value);
  }

  #compare(bytes: StoredValue): void {
    const best = this.#best;
    const order = best === undefined ? 0 : compareStored(bytes, best);
    if (best === undefined || (this.#fn === 'min' ? order < 0 : order > 0)) this.#best = bytes;
  }

  /** As JSON; `null` of nothing, and of a sum past 64 bits. */
  get json(): string {
    if (this.#count === 0) return 'null';
    if (this.#best !== undefined) return jsonOf(decodeValue(this.#best));
    if (this.#fn === 'avg') return finite(this.#total / this.#count);
    if (this.#isFloat) return finite(this.#total);
    return BigInt.asIntN(64, this.#exact) === this.#exact ? String(this.#exact) : 'null';
  }
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
