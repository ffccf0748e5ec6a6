import {
  coerceInputValue,
  getNullableType,
  getVariableValues,
  GraphQLID,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLList,
  type GraphQLSchema,
  GraphQLString,
  isInputObjectType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { inSteps, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import { Pace, type RunOptions } from '../../dql/index.js';
import { InvalidDocument } from './document.js';
import { bare, hasInheritedFields } from './inherited.js';
import { withFixesOfVariables } from './variable-fix.js';

type Variables = Readonly<Record<string, unknown>>;
type Types = readonly (readonly [name: string, type: GraphQLInputType, isText: boolean])[];

const types = new WeakMap<OperationDefinitionNode, Types>();

/**
 * Coerced variables of an operation that is valid for the schema. Where each is given and good, its type is all that is
 * asked; defaults and mistakes are left to graphql-js. Throws InvalidDocument.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Variables,
): Variables {
  if (hasInheritedFields(schema)) return bare(general(schema, operation, bare(given) as Variables)) as Variables;
  return simple(typesOf(schema, operation), given) ?? general(schema, operation, given);
}

/** Values that are coerced without a pause: a millisecond or two. */
const FEW = 4_096;

/** The same with pauses where they are large. Rejects with TIMEOUT, CANCELLED too. */
export function coerceInSteps(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Variables,
  run: RunOptions,
): MaybePromise<Variables> {
  const texts = ofTexts(typesOf(schema, operation), given);
  if (texts !== undefined) return texts;
  if (isFew(given) || hasInheritedFields(schema)) return coerceVariables(schema, operation, given);
  const pace = new Pace(run);
  return inSteps(simpleSteps(typesOf(schema, operation), given), () => pace.pause()).then(
    (coerced) => coerced ?? general(schema, operation, given),
  );
}

/** Ids and names alone, as most messages have: they are what they are coerced to. undefined where there is anything else. */
function ofTexts(wanted: Types, given: Variables): Variables | undefined {
  const coerced: Record<string, unknown> = {};
  for (const [name, , isText] of wanted) {
    const value = isText && Object.hasOwn(given, name) ? given[name] : undefined;
    if (typeof value !== 'string') return undefined;
    coerced[name] = value;
  }
  return coerced;
}

function isFew(value: unknown): boolean {
  return uncounted(value, FEW) >= 0;
}

/** What is left of a number when the values in a value are taken from it; below 0 as soon as there are more. */
function uncounted(value: unknown, number: number): number {
  let left = number - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (left < 0) break;
    left = uncounted(member, left);
  }
  return left;
}

/** As `simple`. */
function* simpleSteps(wanted: Types, given: Variables): Steps<Variables | undefined> {
  const coerced: Record<string, unknown> = {};
  let good = true;
  const refuse = (): void => {
    good = false;
  };
  for (const [name, type] of wanted) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) return undefined;
    coerced[name] = yield* coerceSteps(value, type, refuse);
    if (!good) return undefined;
  }
  return coerced;
}

/** A value as graphql-js coerces it; `refuse` is called where it finds a mistake, or where only it may judge. */
function* coerceSteps(value: unknown, type: GraphQLInputType, refuse: () => void): Steps<unknown> {
  const nullable = getNullableType(type);
  if (isFew(value)) return coerceInputValue(value, type, refuse);
  if (isListType(nullable) && Array.isArray(value)) return yield* listSteps(value, nullable, refuse);
  const isObject = isInputObjectType(nullable) && !nullable.isOneOf && !Array.isArray(value);
  if (isObject) return yield* objectSteps(value as Variables, nullable, refuse);
  return coerceInputValue(value, type, refuse);
}

function* listSteps(list: readonly unknown[], type: GraphQLList<GraphQLInputType>, refuse: () => void): Steps<unknown> {
  const coerced: unknown[] = [];
  for (let from = 0; from < list.length; from += STEP) {
    const part = list.slice(from, from + STEP);
    if (isFew(part)) for (const item of coerceInputValue(part, type, refuse) as unknown[]) coerced.push(item);
    else yield* itemSteps(part, type.ofType, coerced, refuse);
    yield;
  }
  return coerced;
}

/** Few items of many values: hundreds of them are no small piece of work. */
function* itemSteps(
  items: readonly unknown[],
  type: GraphQLInputType,
  coerced: unknown[],
  refuse: () => void,
): Steps<void> {
  for (const item of items) {
    coerced.push(yield* coerceSteps(item, type, refuse));
    yield;
  }
}

function* objectSteps(value: Variables, type: GraphQLInputObjectType, refuse: () => void): Steps<unknown> {
  const fields = type.getFields();
  const coerced: Record<string, unknown> = {};
  if (Object.keys(value).some((name) => !Object.hasOwn(fields, name))) refuse();
  for (const { name, type: wanted, defaultValue } of Object.values(fields)) {
    const given = value[name];
    if (given !== undefined) coerced[name] = yield* coerceSteps(given, wanted, refuse);
    else if (defaultValue !== undefined) coerced[name] = defaultValue;
    else if (isNonNullType(wanted)) refuse();
  }
  return coerced;
}

function typesOf(schema: GraphQLSchema, operation: OperationDefinitionNode): Types {
  let known = types.get(operation);
  if (!known) {
    known = (operation.variableDefinitions ?? []).map((definition) => {
      const type = typeFromAST(schema, definition.type) as GraphQLInputType;
      const nullable = getNullableType(type);
      return [definition.variable.name.value, type, nullable === GraphQLID || nullable === GraphQLString] as const;
    });
    types.set(operation, known);
  }
  return known;
}

function simple(wanted: Types, given: Variables): Variables | undefined {
  const coerced: Record<string, unknown> = {};
  let good = true;
  for (const [name, type] of wanted) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) return undefined;
    coerced[name] = coerceInputValue(value, type, () => {
      good = false;
    });
  }
  return good ? coerced : undefined;
}

function general(schema: GraphQLSchema, operation: OperationDefinitionNode, given: Variables): Variables {
  const definitions = operation.variableDefinitions ?? [];
  const result = getVariableValues(schema, definitions, given as Record<string, unknown>, { maxErrors: 50 });
  if (!result.errors) return result.coerced;
  throw new InvalidDocument(
    isFew(given) ? withFixesOfVariables(result.errors, schema, operation, given) : result.errors,
  );
}

/** Values as a key: JSON, with whole numbers that JSON has no form for. */
export function keyOfValues(values: unknown): string {
  return JSON.stringify(values, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}
