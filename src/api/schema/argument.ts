import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  type InputValueDefinitionNode,
  type TypeNode,
  valueFromAST,
} from 'graphql';
import { assert } from '../../base/index.js';
import type { InputType } from '../../sdl/index.js';
import { type Context, wrapNode } from './context.js';
import { enumType } from './enum.js';
import { GEO_INPUTS } from './geo.js';
import { SCALAR_TYPES } from './scalar.js';

/** Arguments as the user wrote them. */
export function argumentMap(
  context: Context,
  nodes: readonly InputValueDefinitionNode[],
): GraphQLFieldConfigArgumentMap {
  return Object.fromEntries(nodes.map((node) => [node.name.value, inputValue(context, node)]));
}

function inputValue(context: Context, node: InputValueDefinitionNode) {
  const type = wrapNode(node.type, inputType(context, nameOf(node.type)));
  const deprecated = node.directives?.find((d) => d.name.value === 'deprecated');
  const reason = deprecated?.arguments?.find((a) => a.name.value === 'reason')?.value;
  return {
    type,
    description: node.description?.value,
    ...(node.defaultValue ? { defaultValue: valueFromAST(node.defaultValue, type) } : {}),
    ...(deprecated ? { deprecationReason: reason?.kind === 'StringValue' ? reason.value : 'No longer supported' } : {}),
  };
}

const nameOf = (type: TypeNode): string => (type.kind === 'NamedType' ? type.name.value : nameOf(type.type));

function inputType(context: Context, name: string): GraphQLInputType {
  const known = SCALAR_TYPES[name] ?? GEO_INPUTS[name] ?? enumType(context, name);
  if (known) return known;
  const type = context.model.types.get(name);
  assert(type?.kind === 'input', `${name} can be given`);
  return userInput(context, type);
}

/** An input of the user's own. */
export function userInput(context: Context, type: InputType): GraphQLInputObjectType {
  return context.once(
    type.name,
    () =>
      new GraphQLInputObjectType({
        name: type.name,
        description: type.description,
        fields: (): GraphQLInputFieldConfigMap =>
          Object.fromEntries(type.fields.map((node) => [node.name.value, inputValue(context, node)])),
      }),
  );
}
