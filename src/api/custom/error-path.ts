import {
  type FieldNode,
  getNamedType,
  type GraphQLNamedType,
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
 */
export function clientPath(
  scope: CollectScope,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  path: Path,
): Path {
  let below: { readonly type: GraphQLNamedType; readonly nodes: readonly FieldNode[] } | undefined = {
    type: getNamedType(type),
    nodes,
  };
  return path.map((part) => {
    if (typeof part === 'number' || !below) return part;
    const field = askedAs(scope, below.type, below.nodes, part);
    below = field?.definition && { type: getNamedType(field.definition.type), nodes: field.nodes };
    return field?.key ?? part;
  });
}

function askedAs(scope: CollectScope, type: GraphQLNamedType, nodes: readonly FieldNode[], remoteKey: string) {
  return objectsOf(scope, type)
    .flatMap((object) => askedFields(scope, object, nodes))
    .find(({ alias, replyKey }) => (alias ?? replyKey) === remoteKey);
}

function objectsOf({ schema }: CollectScope, type: GraphQLNamedType): readonly GraphQLObjectType[] {
  if (isObjectType(type)) return [type];
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [];
}
