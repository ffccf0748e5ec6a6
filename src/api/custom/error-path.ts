import {
  type FieldNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isObjectType,
} from 'graphql';
import type { CollectScope } from '../execute/collect.js';
import { askedFields } from '../execute/complete.js';

/** Below the field that a call answers. */
export type Path = readonly (string | number)[];

/**
 * The path of a GraphQL remote's error below the field that it answers, as the client wrote its request: its aliases in
 * place of the remote's names. What the client did not ask for stays as the remote calls it.
 * @param value what the remote answered, which tells of what type an object is
 */
export function clientPath(
  scope: CollectScope,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  value: unknown,
  path: Path,
): Path {
  let at = { types: objectsOf(scope, type, value), nodes, value };
  return path.map((part) => {
    const below = member(at.value, part);
    if (typeof part === 'number') {
      at = { ...at, value: below, types: at.types.length > 1 ? ofValue(at.types, below) : at.types };
      return part;
    }
    const field = at.types
      .flatMap((object) => askedFields(scope, object, at.nodes))
      .find(({ alias, replyKey }) => (alias ?? replyKey) === part);
    const of = field?.definition?.type;
    at = { types: of ? objectsOf(scope, of, below) : [], nodes: field?.nodes ?? [], value: below };
    return field?.key ?? part;
  });
}

/** The types that an object of the reply can be of. */
function objectsOf({ schema }: CollectScope, type: GraphQLOutputType, value: unknown): readonly GraphQLObjectType[] {
  const named = getNamedType(type);
  if (isObjectType(named)) return [named];
  return isAbstractType(named) ? ofValue(schema.getPossibleTypes(named), value) : [];
}

function ofValue(types: readonly GraphQLObjectType[], value: unknown): readonly GraphQLObjectType[] {
  const own = types.filter(({ name }) => name === member(value, '__typename'));
  return own.length > 0 ? own : types;
}

function member(value: unknown, key: string | number): unknown {
  const holds = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return holds ? (value as Record<string | number, unknown>)[key] : undefined;
}
