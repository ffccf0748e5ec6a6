import { Kind, print } from 'graphql';
import { argument, baseName, directive, type FieldDefinition, mapping, position, text } from '../definition.js';
import { isComposite, isCustom, isExternal, isRemote, isRemoteName, kindOf } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** @restrict keeps an edge that a node must have: one to one node, stored here, non-null. */
export const restrict: Rule = {
  name: 'restrict',
  check(context) {
    if (context.lax) return;
    for (const object of context.definitions.objects.values()) {
      for (const field of object.own) {
        const node = directive(field.node, 'restrict');
        const mistake = node && mistakeOf(context, field);
        if (!mistake) continue;
        const message = `@restrict on ${object.name}.${field.name}: ${mistake.message}`;
        context.report({ position: position(node), message, fix: mistake.fix });
      }
    }
  },
};

function mistakeOf({ definitions }: RuleContext, field: FieldDefinition): { message: string; fix: string } | undefined {
  const { type } = field.node;
  const target = baseName(type);
  const remove = 'Remove @restrict.';
  const isStored = !isRemote(field.owner) && !isCustom(field) && !isExternal(field);
  if (!isStored || isRemoteName(definitions, target)) return { message: 'the edge is not stored here', fix: remove };
  if (!isComposite(kindOf(definitions, target))) return { message: `${target} is no type with nodes`, fix: remove };
  if (text(argument(mapping(field.node), 'pred'))?.match(/^<?~/)) {
    return { message: 'it reads an edge of the other end backwards', fix: `Put it on the field of ${target}.` };
  }
  const bare = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  if (bare.kind === Kind.LIST_TYPE) {
    return {
      message: 'a list may be empty',
      fix: `Put it on the field at the other end: the edge of ${target} that must lead to one ${field.owner.name}.`,
    };
  }
  if (type.kind === Kind.NON_NULL_TYPE) return undefined;
  return { message: `${print(type)} may be empty`, fix: `Make it ${print(type)}!, or remove @restrict.` };
}
