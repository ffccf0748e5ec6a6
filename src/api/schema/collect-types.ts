import {
  getNamedType,
  type GraphQLDirective,
  type GraphQLNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { Steps } from '../../base/index.js';

/**
 * Every type that the given ones lead to, in the order in which GraphQLSchema finds them. With all of them named it looks at each
 * by itself: on its own it goes from one to the next by recursion, with everything made that they lead to, in one piece.
 */
export function* collectTypes(
  types: readonly GraphQLNamedType[],
  roots: readonly (GraphQLNamedType | null)[],
  directives: readonly GraphQLDirective[],
): Steps<GraphQLNamedType[]> {
  const found = new Set(types);
  for (const type of types) {
    found.delete(type);
    yield* visit(type, found);
  }
  for (const root of roots) if (root) yield* visit(root, found);
  for (const { args } of directives) for (const { type } of args) yield* visit(getNamedType(type), found);
  return [...found];
}

function* visit(type: GraphQLNamedType, found: Set<GraphQLNamedType>): Steps<void> {
  const open: Iterator<GraphQLNamedType>[] = [[type].values()];
  for (let at = open.at(-1); at; at = open.at(-1)) {
    const { done, value } = at.next();
    if (done) open.pop();
    else if (!found.has(value)) {
      found.add(value);
      open.push(referred(value));
      yield;
    }
  }
}

/** What a type names; what makes its fields runs now. */
function* referred(type: GraphQLNamedType): Iterator<GraphQLNamedType> {
  if (isUnionType(type)) yield* type.getTypes();
  else if (isObjectType(type) || isInterfaceType(type)) {
    yield* type.getInterfaces();
    for (const field of Object.values(type.getFields())) {
      yield getNamedType(field.type);
      for (const argument of field.args) yield getNamedType(argument.type);
    }
  } else if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields())) yield getNamedType(field.type);
  }
}
