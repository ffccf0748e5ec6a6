import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/** Names of the fields that are selected of a field, in its fragments too. */
export function selectedNames({ fieldNodes, fragments }: GraphQLResolveInfo): ReadonlySet<string> {
  const names = new Set<string>();
  const walk = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) walk(selection.selectionSet);
      else walk(fragments[selection.name.value]?.selectionSet);
    }
  };
  for (const node of fieldNodes) walk(node.selectionSet);
  return names;
}
