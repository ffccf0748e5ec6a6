import { BREAK, type FieldNode, getArgumentValues, type GraphQLField, Kind, visit } from 'graphql';
import type { CollectScope } from './collect.js';
import { isInherited } from './inherited.js';
import type { DefinedField } from './request.js';

type Definition = GraphQLField<unknown, unknown>;
type Values = Readonly<Record<string, unknown>>;

/** How a field's arguments come to their values: the same ones each time, those of variables, or by graphql-js. */
type Reading =
  | { readonly kind: 'constant'; readonly values: Values }
  | { readonly kind: 'variables'; readonly names: readonly (readonly [argument: string, variable: string])[] }
  | { readonly kind: 'mixed' };

const readings = new WeakMap<FieldNode, { readonly definition: Definition; readonly reading: Reading }>();

/** Coerced arguments of a field in a valid document. Throws a GraphQLError with its place. */
export function argumentsOf(
  scope: CollectScope,
  { definition, nodes: [node] }: Pick<DefinedField, 'definition' | 'nodes'>,
): Values {
  const known = readings.get(node);
  const reading = known?.definition === definition ? known.reading : undefined;
  if (reading?.kind === 'constant') return reading.values;
  const simple = reading?.kind === 'variables' ? ofVariables(reading.names, scope.variables) : undefined;
  if (simple) return simple;
  const given = getArgumentValues(definition, node, scope.variables as Record<string, unknown>);
  const values: Values = definition.args.some(({ name }) => isInherited(name))
    ? Object.assign(Object.create(null), given)
    : given;
  if (!reading) readings.set(node, { definition, reading: readingOf(definition, node, values) });
  return values;
}

function readingOf(definition: Definition, node: FieldNode, values: Values): Reading {
  const given = node.arguments ?? [];
  if (!holdsVariable({ ...node, directives: [], selectionSet: undefined })) return { kind: 'constant', values };
  const isPlain = definition.args.every(
    ({ name, defaultValue }) =>
      !isInherited(name) && (defaultValue === undefined || given.some((one) => one.name.value === name)),
  );
  const names = given.flatMap(({ name, value }) =>
    value.kind === Kind.VARIABLE ? [[name.value, value.name.value] as const] : [],
  );
  return isPlain && names.length === given.length ? { kind: 'variables', names } : { kind: 'mixed' };
}

function holdsVariable(node: FieldNode): boolean {
  let found = false;
  visit(node, {
    Variable() {
      found = true;
      return BREAK;
    },
  });
  return found;
}

/** Undefined where one is absent or null: what that means hangs on defaults and types. */
function ofVariables(names: readonly (readonly [string, string])[], variables: Values): Values | undefined {
  const values: Record<string, unknown> = {};
  for (const [argument, variable] of names) {
    const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (value === undefined || value === null) return undefined;
    values[argument] = value;
  }
  return values;
}
