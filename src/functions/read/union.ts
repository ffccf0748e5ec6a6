import ts from 'typescript';

/** The strings of a union of string literals (or of a string enum); undefined for any other. */
export function enumValues(types: readonly ts.Type[]): readonly string[] | undefined {
  const values: string[] = [];
  for (const type of types) {
    if (!type.isStringLiteral()) return undefined;
    values.push(type.value);
  }
  return values;
}

/** The name of the `enum` declaration that all members come from. */
export function enumName(types: readonly ts.Type[]): string | undefined {
  const owners = types.map((type) => (type.symbol as (ts.Symbol & { parent?: ts.Symbol }) | undefined)?.parent?.name);
  return owners.every((owner) => owner === owners[0]) ? owners[0] : undefined;
}

/** The property whose literals tell the members of a union apart, with each member's literals. */
export function discriminantOf(
  checker: ts.TypeChecker,
  types: readonly ts.Type[],
  node: ts.Node,
): { readonly name: string; readonly values: readonly (readonly string[])[] } | undefined {
  for (const { name } of checker.getPropertiesOfType(types[0])) {
    const values = types.map((type) => literals(checker, type, name, node));
    if (values.some((list) => list.length === 0)) continue;
    const all = values.flat();
    if (new Set(all).size === all.length) return { name, values };
  }
  return undefined;
}

function literals(checker: ts.TypeChecker, type: ts.Type, name: string, node: ts.Node): readonly string[] {
  const property = checker.getPropertyOfType(type, name);
  if (property === undefined) return [];
  const value = checker.getTypeOfSymbolAtLocation(property, node);
  const all = (value.isUnion() ? value.types : [value]).map((one) => literalText(checker, one));
  return all.every((one) => one !== undefined) ? all : [];
}

/** What a value of a literal type says as text. */
function literalText(checker: ts.TypeChecker, type: ts.Type): string | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return String(type.value);
  return type.flags & ts.TypeFlags.BooleanLiteral ? checker.typeToString(type) : undefined;
}
