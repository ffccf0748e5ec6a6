import {
  coerceInputValue,
  getVariableValues,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { InvalidDocument } from './document.js';

type Variables = Readonly<Record<string, unknown>>;
type Types = readonly (readonly [name: string, type: GraphQLInputType])[];

const types = new WeakMap<OperationDefinitionNode, Types>();

/**
 * Coerced variables of an operation that is valid for the schema. Where each is given and good, its type is all that is
 * asked; defaults and mistakes are left to graphql-js. Throws InvalidDocument.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  given: Variables,
): Variables {
  return simple(typesOf(schema, operation), given) ?? general(schema, operation, given);
}

function typesOf(schema: GraphQLSchema, operation: OperationDefinitionNode): Types {
  let known = types.get(operation);
  if (!known) {
    known = (operation.variableDefinitions ?? []).map(
      ({ variable, type }) => [variable.name.value, typeFromAST(schema, type) as GraphQLInputType] as const,
    );
    types.set(operation, known);
  }
  return known;
}

function simple(wanted: Types, given: Variables): Variables | undefined {
  const coerced: Record<string, unknown> = {};
  let good = true;
  for (const [name, type] of wanted) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined || value === null) return undefined;
    coerced[name] = coerceInputValue(value, type, () => {
      good = false;
    });
  }
  return good ? coerced : undefined;
}

function general(schema: GraphQLSchema, operation: OperationDefinitionNode, given: Variables): Variables {
  const definitions = operation.variableDefinitions ?? [];
  const result = getVariableValues(schema, definitions, given as Record<string, unknown>, { maxErrors: 50 });
  if (result.errors) throw new InvalidDocument(result.errors);
  return result.coerced;
}
