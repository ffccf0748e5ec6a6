import {
  type ASTVisitor,
  getEnterLeaveForKind,
  Kind,
  KnownTypeNamesRule,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { oneSubscriptionField } from './subscription-field.js';

/**
 * The library's rule for texts that only ask. It lists every type of the schema each time, which is more work than all the other
 * rules have where there are thousands: here first when a name is not known.
 */
function knownTypeNames(context: ValidationContext): ASTVisitor {
  let whole: ASTVisitor | undefined;
  return {
    NamedType(node, ...place) {
      if (context.getSchema().getType(node.name.value)) return;
      whole ??= KnownTypeNamesRule(context);
      getEnterLeaveForKind(whole, Kind.NAMED_TYPE).enter?.call(whole, node, ...place);
    },
  };
}

const OURS: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [KnownTypeNamesRule, knownTypeNames],
  [SingleFieldSubscriptionsRule, oneSubscriptionField],
]);

/** What GraphQL demands of a text that is to be executed. */
export const DOCUMENT_RULES: readonly ValidationRule[] = specifiedRules.map((rule) => OURS.get(rule) ?? rule);
