import { type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

const ABOUT_API: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/** Whether a selection of the root asks what the API offers: no fragment of a valid document leads back to itself. */
export function asksForApi(
  { selections }: SelectionSetNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): boolean {
  return selections.some((selection) => {
    if (selection.kind === Kind.FIELD) return ABOUT_API.has(selection.name.value);
    const { selectionSet } = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
    return asksForApi(selectionSet, fragments);
  });
}
