import type { GraphQLInputObjectType } from 'graphql';
import { assert, GraphsteadError } from '../../../base/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import { inputMeaning } from '../../schema/meaning.js';
import { edgeOf, namedType, type Scope } from '../scope.js';
import type { Input } from './input.js';

/** A step of `nested` or `cascade`: nodes of a type behind an edge, and what is said of them. */
interface EdgeStep {
  readonly field: Field;
  readonly target: ObjectType;
  readonly step: Input;
}

/**
 * What `nested` or `cascade` says of the edges of a type, in its order; at a union, of each member that it names.
 * @param inputName name of the input that a step to a union is
 */
export function stepsAlong(
  scope: Scope,
  type: ObjectType,
  edges: unknown,
  inputName: (union: string) => string,
): EdgeStep[] {
  const steps: EdgeStep[] = [];
  for (const [name, given] of Object.entries((edges ?? {}) as Readonly<Record<string, Input | null>>)) {
    if (given === null || given === undefined) continue;
    const field = type.field(name);
    assert(field, `${type.name} has ${name}`);
    if (namedType(scope, field.type.name).kind !== 'union') {
      steps.push({ field, target: edgeOf(scope.model, type, name).target, step: given });
      continue;
    }
    const input = scope.schema.getType(inputName(field.type.name)) as GraphQLInputObjectType;
    for (const [target, step] of membersOf(input, given, field)) steps.push({ field, target, step });
  }
  return steps;
}

/** Throws INVALID_VALUE where no member is named: that all were meant would be a guess. */
function membersOf(input: GraphQLInputObjectType, given: Input, field: Field): [ObjectType, Input][] {
  const members = Object.entries(given).flatMap(([key, step]): [ObjectType, Input][] => {
    const meaning = inputMeaning(input.getFields()[key]);
    return meaning?.op === 'member' && step ? [[meaning.type, step as Input]] : [];
  });
  if (members.length > 0) return members;
  throw new GraphsteadError('INVALID_VALUE', `the step along ${field.name} names no member of ${field.type.name}`, {
    fix: `Name each that is meant: ${Object.keys(input.getFields()).join(', ')}.`,
  });
}
