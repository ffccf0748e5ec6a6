import type { GraphQLInputObjectType } from 'graphql';
import { assert, GraphsteadError } from '../../../base/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import { inputMeaning } from '../../schema/meaning.js';
import { parseUid } from '../filter.js';
import { invalidId } from '../query.js';
import { keyFields, type Scope } from '../scope.js';

export type Input = Readonly<Record<string, unknown>>;

/** One object of a mutation's input, with the type that its node has or will have. */
export interface NodeInput {
  readonly type: ObjectType;
  readonly values: Input;
}

/** An @id value of an object: what finds its node. */
export interface XidValue {
  readonly field: Field;
  readonly predicate: string;
  /** as text, the form in which values are compared */
  readonly text: string;
}

/** Field names of an object that hold a value. */
export function presentFields(input: NodeInput): string[] {
  return Object.keys(input.values).filter((key) => input.values[key] !== null && input.values[key] !== undefined);
}

/** The uid an object refers to, undefined when it has none. Throws INVALID_VALUE for a text that is no uid. */
export function uidOf(input: NodeInput): number | undefined {
  const { type, values } = input;
  const given = type.id ? values[type.id.name] : undefined;
  if (given === null || given === undefined) return undefined;
  const uid = parseUid(given);
  if (uid !== undefined) return uid;
  throw invalidId(given);
}

/** The @id values of an object. Throws INVALID_VALUE for an empty one. */
export function xidsOf(input: NodeInput): XidValue[] {
  return keyFields(input.type).flatMap((field) => {
    const given = input.values[field.name];
    if (given === null || given === undefined) return [];
    assert(field.storage, `${field.name} is stored`);
    const text = String(given);
    if (text !== '') return [{ field, predicate: field.storage.predicate, text }];
    throw new GraphsteadError(
      'INVALID_VALUE',
      `encountered an empty value for @id field \`${input.type.name}.${field.name}\``,
      { fix: 'An @id value names its node: give it at least one character.' },
    );
  });
}

export const xidKey = (xid: XidValue): string => `${xid.predicate}\u0000${xid.text}`;

/** The object's own values are nothing but @id values: it only refers to a node. */
export function isReference(input: NodeInput): boolean {
  const names = new Set(keyFields(input.type).map((field) => field.name));
  return presentFields(input).every((name) => names.has(name));
}

/** Objects under an edge of an input, each with its own type; unions name the member. */
export function childInputs(scope: Scope, field: Field, value: unknown): NodeInput[] {
  if (value === null || value === undefined) return [];
  const list = Array.isArray(value) ? value : [value];
  const target = scope.model.types.get(field.type.name);
  assert(target, `${field.type.name} is in the model`);
  if (target.kind !== 'union') {
    assert(target.kind === 'object' || target.kind === 'interface', `${target.name} has nodes`);
    return list.filter((each) => each !== null).map((each) => ({ type: target, values: each as Input }));
  }
  const input = scope.schema.getType(`${target.name}Ref`) as GraphQLInputObjectType;
  return list.flatMap((each) => memberInput(input, each as Input | null));
}

function memberInput(input: GraphQLInputObjectType, value: Input | null): NodeInput[] {
  const members: NodeInput[] = [];
  for (const [key, given] of Object.entries(value ?? {})) {
    const meaning = inputMeaning(input.getFields()[key]);
    if (meaning?.op === 'member' && given) members.push({ type: meaning.type, values: given as Input });
  }
  if (members.length === 1 || value === null) return members;
  throw new GraphsteadError('INVALID_VALUE', `an item of ${input.name} names ${members.length} members`, {
    fix: 'Give exactly one member of the union in each item.',
  });
}

/** The field at an edge's other end that is kept in step, and the type it belongs to. */
export function inverseOf(scope: Scope, field: Field): Field | undefined {
  if (!field.inverse) return undefined;
  const inverse = scope.model.object(field.inverse.type)?.field(field.inverse.field);
  // both ends of one stored edge: it is in step by itself
  if (
    inverse?.storage &&
    inverse.storage.predicate === field.storage?.predicate &&
    inverse.storage.reverse !== field.storage.reverse
  ) {
    return undefined;
  }
  return inverse;
}

/** Edge fields of an object's type that have a value in it. */
export function givenEdges(input: NodeInput): Field[] {
  return presentFields(input).flatMap((name) => {
    const field = input.type.field(name);
    return field?.role === 'edge' ? [field] : [];
  });
}
