import { type GraphQLInputField, type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { GraphsteadError } from '../../../base/index.js';
import type { ObjectType } from '../../../sdl/index.js';
import { inputMeaning } from '../../schema/meaning.js';
import { filterInput, type Scope } from '../scope.js';

type Given = Readonly<Record<string, unknown>>;

/**
 * A part that tests nothing, such as `key: {in: $keys}` without `$keys`, lets a mutation take more nodes than were meant, at worst
 * all; `{}` as a whole says that all are. The peer leaves such parts out, as queries do here too. Throws INVALID_VALUE.
 */
export function demandTested(scope: Scope, type: ObjectType, filter: unknown): void {
  const input = filterInput(scope, type.name);
  if (scope.names.dgraph || !input || !filter) return;
  const place = untested(input, filter as Given, 'filter');
  if (place === undefined) return;
  throw new GraphsteadError('INVALID_VALUE', `${place} tests nothing, so that more of ${type.name} would be changed`, {
    fix: 'Give it a value, or leave it out; `filter: {}` means all. A variable that is declared as required, `$key: Int!`, cannot be forgotten.',
  });
}

/** Where the first such part stands. */
function untested(input: GraphQLInputObjectType, filter: Given, at: string): string | undefined {
  const fields = input.getFields();
  return firstOf(Object.entries(filter), ([key, given]) => untestedField(input, fields[key], given, `${at}.${key}`));
}

function untestedField(
  input: GraphQLInputObjectType,
  field: GraphQLInputField,
  given: unknown,
  at: string,
): string | undefined {
  if (isNothing(given)) return at;
  const type = getNamedType(field.type);
  switch (inputMeaning(field)?.op) {
    case 'and':
    case 'or': {
      const parts = Array.isArray(given) ? given : [given];
      return parts.length === 0 ? at : firstOf(parts, (part, i) => untestedPart(input, part, `${at}[${i}]`));
    }
    case 'not':
      return untestedPart(input, given, at);
    case 'has':
      return [given].flat().every(isNothing) ? at : undefined;
    case 'search':
      return isInputObjectType(type) ? untestedValue(given as Given, at) : undefined;
    // that there is a node behind the edge, or of that member, is a test
    case 'edgeFilter':
    case 'member':
      return isInputObjectType(type) ? untested(type, given as Given, at) : undefined;
    default:
      return undefined;
  }
}

function untestedPart(input: GraphQLInputObjectType, part: unknown, at: string): string | undefined {
  if (isNothing(part) || Object.keys(part as Given).length === 0) return at;
  return untested(input, part as Given, at);
}

/** `eq: null` asks for nodes without a value. */
function untestedValue(value: Given, at: string): string | undefined {
  const given = Object.entries(value);
  if (given.length === 0) return at;
  return firstOf(given, ([operator, one]) => {
    const place = `${at}.${operator}`;
    if (isNothing(one)) return operator === 'eq' && one === null ? undefined : place;
    const isRegion = operator === 'contains' || operator === 'intersects';
    return isRegion && Object.values(one as Given).every(isNothing) ? place : undefined;
  });
}

const isNothing = (given: unknown): boolean => given === null || given === undefined;

function firstOf<T>(items: readonly T[], find: (item: T, i: number) => string | undefined): string | undefined {
  for (const [i, item] of items.entries()) {
    const found = find(item, i);
    if (found !== undefined) return found;
  }
  return undefined;
}
