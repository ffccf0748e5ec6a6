import {
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { GraphsteadError } from '../../base/index.js';
import type { Operation } from '../operation.js';
import type { RootFields } from './query.js';

const ROOT: Readonly<Record<Operation['kind'], string>> = {
  query: 'Query',
  mutation: 'Mutation',
  subscription: 'Subscription',
};

/** An operation cannot take the name of a field that is there already. */
export function fieldCollisions(
  operations: readonly Operation[],
  generated: Readonly<Record<Operation['kind'], RootFields>>,
): GraphsteadError[] {
  const seen = new Set<string>();
  return operations.flatMap((operation) => {
    const where = `${ROOT[operation.kind]}.${operation.name}`;
    const taken = Object.hasOwn(generated[operation.kind], operation.name);
    const repeated = seen.has(where);
    seen.add(where);
    if (!taken && !repeated) return [];
    const by = taken ? 'the type definitions generate a field of this name' : 'two operations have this name';
    return [
      new GraphsteadError('APP_LOAD', `the operation ${operation.name} cannot be ${where}: ${by}`, {
        fix: 'Rename one of them.',
      }),
    ];
  });
}

/** The named types that operations bring along, each once. */
function operationTypes(operations: readonly Operation[]): Set<GraphQLNamedType> {
  const found = new Set<GraphQLNamedType>();
  const visit = (type: GraphQLNamedType): void => {
    if (found.has(type)) return;
    found.add(type);
    if (isUnionType(type)) for (const member of type.getTypes()) visit(member);
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const parent of type.getInterfaces()) visit(parent);
      for (const field of Object.values(type.getFields())) {
        visit(getNamedType(field.type));
        for (const argument of field.args) visit(getNamedType(argument.type));
      }
    }
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) visit(getNamedType(field.type));
  };
  for (const { type, args } of operations) {
    visit(getNamedType(type));
    for (const argument of Object.values(args)) visit(getNamedType(argument.type));
  }
  return found;
}

/** A type that an operation brings along cannot have the name of another. */
export function typeCollisions(operations: readonly Operation[], schema: GraphQLSchema): GraphsteadError[] {
  const byName = new Map<string, GraphQLNamedType>();
  return [...operationTypes(operations)].flatMap((type) => {
    const other = schema.getType(type.name) ?? byName.get(type.name);
    byName.set(type.name, type);
    if (!other || other === type) return [];
    return [
      new GraphsteadError('APP_LOAD', `the app has a type ${type.name}, but another type has this name already`, {
        fix: `Rename the type ${type.name} of the app.`,
      }),
    ];
  });
}
