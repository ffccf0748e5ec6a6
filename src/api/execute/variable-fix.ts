import {
  type ASTNode,
  coerceInputValue,
  getNullableType,
  getNamedType,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { inPlaceOfField, inPlaceOfValue } from '../schema/document-fix.js';

type Variables = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** The mistakes of variables with what to write instead, in `extensions.fix`, as those of a text have it. */
export function withFixesOfVariables(
  errors: readonly GraphQLError[],
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Variables,
): readonly GraphQLError[] {
  const fixes = new Map<ASTNode | undefined, (string | undefined)[]>();
  for (const definition of variableDefinitions) {
    const type = typeFromAST(schema, definition.type);
    const name = definition.variable.name.value;
    const value = Object.hasOwn(given, name) ? given[name] : null;
    if (value !== null && value !== undefined && isInputType(type)) fixes.set(definition, fixesOf(value, type));
  }
  return errors.map((error) => {
    const { message, nodes, extensions } = error;
    // those of each variable are told in the order in which they are found
    const fix = message.includes('got invalid value') ? fixes.get(nodes?.[0])?.shift() : undefined;
    return fix === undefined ? error : new GraphQLError(message, { nodes, extensions: { ...extensions, fix } });
  });
}

/** Of each mistake in a value. */
function fixesOf(value: unknown, type: GraphQLInputType): (string | undefined)[] {
  const fixes: (string | undefined)[] = [];
  coerceInputValue(
    value,
    type,
    (path, wrong, { message }) => void fixes.push(fixOf(typeAt(type, path), wrong, message)),
  );
  return fixes;
}

function fixOf(type: GraphQLInputType | undefined, wrong: unknown, message: string): string | undefined {
  const named = getNamedType(type);
  const unknown = /^Field "(\w+)" is not defined/.exec(message)?.[1];
  if (unknown !== undefined) return isInputObjectType(named) ? inPlaceOfField(unknown, named) : undefined;
  // a field that is missing is told by its name and type
  if (/ was not provided\.$/.test(message)) return undefined;
  return inPlaceOfValue(named, { text: JSON.stringify(wrong) ?? '', isList: Array.isArray(wrong) });
}

/** One value where a list belongs is its only item, and stands at the list's own path. */
function typeAt(type: GraphQLInputType, path: Path): GraphQLInputType | undefined {
  let at: GraphQLInputType | undefined = type;
  for (const key of path) {
    if (typeof key === 'number') {
      const list: GraphQLInputType | undefined = at && getNullableType(at);
      at = isListType(list) ? list.ofType : undefined;
    } else {
      const object = getNamedType(at);
      at = isInputObjectType(object) ? object.getFields()[key]?.type : undefined;
    }
  }
  return at;
}
