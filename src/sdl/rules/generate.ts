import { type ConstDirectiveNode, type ConstValueNode, Kind } from 'graphql';
import { argument, directive, position } from '../definition.js';
import { isRemote } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

const PARTS: Readonly<Record<string, readonly string[]>> = {
  query: ['get', 'query', 'password', 'aggregate'],
  mutation: ['add', 'update', 'delete'],
};

/** @generate switches single operations on and off. */
export const generate: Rule = {
  name: 'generate',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      const node = directive(object, 'generate');
      if (!node) continue;
      if (isRemote(object)) {
        context.report({
          position: position(node),
          message: `nothing is generated for ${object.name}, which is remote`,
          fix: 'Remove @generate.',
        });
      }
      for (const [part, names] of Object.entries(PARTS)) flags(context, node, object.name, part, names);
    }
  },
};

function flags(
  { report }: RuleContext,
  node: ConstDirectiveNode,
  type: string,
  part: string,
  names: readonly string[],
): void {
  const value: ConstValueNode | undefined = argument(node, part);
  if (!value) return;
  const fix = `Write ${part}: {${names[0]}: false}; it takes ${names.join(', ')}.`;
  if (value.kind !== Kind.OBJECT) {
    report({ position: position(node), message: `@generate on ${type}: ${part} must be an object`, fix });
    return;
  }
  for (const field of value.fields) {
    const name = field.name.value;
    if (!names.includes(name)) {
      report({ position: position(field), message: `@generate on ${type}: ${part} has no ${name}`, fix });
    } else if (field.value.kind !== Kind.BOOLEAN) {
      report({
        position: position(field),
        message: `@generate on ${type}: ${part}.${name} must be true or false`,
        fix,
      });
    }
  }
}
