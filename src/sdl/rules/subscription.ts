import { argument, directive, position } from '../definition.js';
import { isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** Subscriptions follow commits: stored types and dql queries have them, remote types and http calls do not. */
export const subscription: Rule = {
  name: 'subscription',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      const node = directive(object, 'withSubscription');
      if (node && isRemote(object)) {
        report({
          position: position(object.node),
          message: `${object.name} has @withSubscription, but it is remote: its changes are not seen here`,
          fix: 'Remove @withSubscription or @remote.',
        });
      }
      for (const field of object.own) {
        const stray = directive(field.node, 'withSubscription');
        if (!stray) continue;
        report({
          position: position(stray),
          message: `@withSubscription on ${object.name}.${field.name}: it stands on types and on dql queries`,
          fix: 'Put it on the type.',
        });
      }
    }
    for (const { root, node } of definitions.roots) {
      for (const field of node.fields ?? []) {
        const stray = directive(field, 'withSubscription');
        const dql = argument(directive(field, 'custom'), 'dql');
        if (!stray || (root === 'Query' && dql)) continue;
        report({
          position: position(stray),
          message: `@withSubscription on ${root}.${field.name.value}: only a custom query with dql can be followed`,
          fix: 'Remove @withSubscription.',
        });
      }
    }
  },
};
