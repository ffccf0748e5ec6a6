import {
  type ASTVisitor,
  type DirectiveNode,
  getEnterLeaveForKind,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type ValidationContext,
} from 'graphql';

const CONDITIONS: ReadonlySet<string> = new Set(['skip', 'include']);
const FIX = 'Subscribe when it is wanted, and leave the stream when it is not. Fields below it may have a condition.';

/**
 * A subscription has one field, whatever its variables hold: a condition could leave none, or turn two into one. The library's rule
 * counts without the values of variables, and would say that they are not given.
 */
export function oneSubscriptionField(context: ValidationContext): ASTVisitor {
  const counting = SingleFieldSubscriptionsRule(context);
  const { enter } = getEnterLeaveForKind(counting, Kind.OPERATION_DEFINITION);
  return {
    OperationDefinition(node, ...place) {
      if (node.operation !== OperationTypeNode.SUBSCRIPTION) return;
      const conditions = conditionsOf(node.selectionSet, context, new Set());
      if (conditions.length === 0) enter?.call(counting, node, ...place);
      for (const condition of conditions) {
        const message = `@${condition.name.value} may not stand at the field of a subscription`;
        context.reportError(new GraphQLError(message, { nodes: condition, extensions: { fix: FIX } }));
      }
    },
  };
}

/** Those at the fields of one level, and at the fragments that bring them there. */
function conditionsOf(set: SelectionSetNode, context: ValidationContext, spread: Set<string>): DirectiveNode[] {
  return set.selections.flatMap((selection) => {
    const own = (selection.directives ?? []).filter(({ name }) => CONDITIONS.has(name.value));
    if (selection.kind === Kind.FIELD) return own;
    if (selection.kind === Kind.INLINE_FRAGMENT)
      return [...own, ...conditionsOf(selection.selectionSet, context, spread)];
    const { value } = selection.name;
    const fragment = spread.has(value) ? undefined : context.getFragment(value);
    spread.add(value);
    return fragment ? [...own, ...conditionsOf(fragment.selectionSet, context, spread)] : own;
  });
}
