import {
  type ArgumentNode,
  astFromValue,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLInputType,
  isInputObjectType,
  Kind,
  type ValueNode,
  valueFromAST,
} from 'graphql';
import type { CollectScope } from './collect.js';

type Definition = GraphQLField<unknown, unknown>;

/**
 * The client's arguments with the values of variables in their place, and the defaults that our definitions promise for
 * those, and for fields of inputs, that it did not give: the remote may have others, or none.
 */
export function sentArguments(scope: CollectScope, definition: Definition, node: FieldNode): ArgumentNode[] {
  const given = (node.arguments ?? []).flatMap((argument): ArgumentNode[] => {
    const type = definition.args.find((one) => one.name === argument.name.value)?.type;
    if (!type || (!hasVariable(argument.value) && !isInputObjectType(getNamedType(type)))) return [argument];
    return written(argument.name.value, valueFromAST(argument.value, type, scope.variables), type);
  });
  const names = new Set(given.map(({ name }) => name.value));
  const others = definition.args.filter(({ name }) => !names.has(name));
  return [...given, ...others.flatMap(({ name, defaultValue, type }) => written(name, defaultValue, type))];
}

/** An argument with a value; none where there is no value. */
function written(name: string, value: unknown, type: GraphQLInputType): ArgumentNode[] {
  const literal = value === undefined ? undefined : astFromValue(value, type);
  return literal
    ? [{ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value: literal as ArgumentNode['value'] }]
    : [];
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  return value.kind === Kind.OBJECT && value.fields.some((field) => hasVariable(field.value));
}
