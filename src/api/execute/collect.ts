import {
  type FieldNode,
  type FragmentDefinitionNode,
  getDirectiveValues,
  GraphQLIncludeDirective,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  isAbstractType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** What collecting needs of a request. */
export interface CollectScope {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Fields of one concrete type by response key, in the order of the answer; `@skip` and `@include` applied. */
export type CollectedFields = ReadonlyMap<string, readonly FieldNode[]>;

/** The fields of several selection sets (of merged nodes) that apply to a concrete type, or to an interface as such. */
export function collectFields(
  scope: CollectScope,
  type: GraphQLObjectType | GraphQLInterfaceType,
  sets: readonly SelectionSetNode[],
): CollectedFields {
  const fields = new Map<string, FieldNode[]>();
  const seen = new Set<string>();
  for (const set of sets) collectInto(scope, type, set, fields, seen);
  return fields;
}

function collectInto(
  scope: CollectScope,
  type: GraphQLObjectType | GraphQLInterfaceType,
  set: SelectionSetNode,
  fields: Map<string, FieldNode[]>,
  seen: Set<string>,
): void {
  for (const node of set.selections) {
    if (!included(scope, node)) continue;
    if (node.kind === Kind.FIELD) {
      const key = node.alias?.value ?? node.name.value;
      const same = fields.get(key);
      if (same) same.push(node);
      else fields.set(key, [node]);
      continue;
    }
    const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : scope.fragments[node.name.value];
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      if (seen.has(node.name.value)) continue;
      seen.add(node.name.value);
    }
    if (fragment && applies(scope, type, fragment.typeCondition?.name.value)) {
      collectInto(scope, type, fragment.selectionSet, fields, seen);
    }
  }
}

/** Some fragment applies to part of an interface's types only. */
export function tellsApart(
  scope: CollectScope,
  type: GraphQLInterfaceType,
  sets: readonly SelectionSetNode[],
): boolean {
  return sets.some((set) =>
    set.selections.some((node) => {
      if (node.kind === Kind.FIELD || !included(scope, node)) return false;
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : scope.fragments[node.name.value];
      if (!fragment) return false;
      return (
        !applies(scope, type, fragment.typeCondition?.name.value) || tellsApart(scope, type, [fragment.selectionSet])
      );
    }),
  );
}

/** Sub-selections of merged nodes. */
export function selectionSets(nodes: readonly FieldNode[]): SelectionSetNode[] {
  return nodes.flatMap((node) => (node.selectionSet ? [node.selectionSet] : []));
}

/** `@skip` and `@include` leave it in. */
export function included(scope: CollectScope, node: SelectionSetNode['selections'][number]): boolean {
  if (!node.directives || node.directives.length === 0) return true;
  const skip = getDirectiveValues(GraphQLSkipDirective, node, scope.variables);
  if (skip?.if === true) return false;
  const include = getDirectiveValues(GraphQLIncludeDirective, node, scope.variables);
  return include?.if !== false;
}

function applies(
  scope: CollectScope,
  type: GraphQLObjectType | GraphQLInterfaceType,
  condition: string | undefined,
): boolean {
  if (!condition || condition === type.name) return true;
  const conditional = scope.schema.getType(condition);
  return isAbstractType(conditional) && scope.schema.isSubType(conditional, type);
}
