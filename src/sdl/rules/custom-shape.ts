import { readCustom } from '../custom.js';
import { directive, mapping, position } from '../definition.js';
import { customSites } from '../custom-site.js';
import type { Rule, RuleContext } from '../rule.js';

/** @custom by itself is well formed, and dql stands on queries only. */
export const customShape: Rule = {
  name: 'custom-shape',
  check(context) {
    for (const site of customSites(context.definitions)) {
      const custom = readCustom(site.node, site.where, context.report);
      const refuse = (message: string, fix: string): void =>
        context.report({ position: position(site.node), message: `@custom on ${site.where}: ${message}`, fix });
      if (custom?.kind === 'dql' && site.root !== 'Query') refuse('dql is for queries', 'Use http here.');
      if (custom?.kind === 'http' && site.root && hasMode(site.node)) {
        refuse('mode is for fields of types: a root field is one call', 'Remove mode.');
      }
    }
    together(context);
  },
};

const hasMode = (node: Parameters<typeof readCustom>[0]): boolean =>
  node.arguments?.some((a) => a.value.kind === 'ObjectValue' && a.value.fields.some((f) => f.name.value === 'mode')) ===
  true;

/** A field that @custom resolves is not stored, so nothing about storing can stand on it. */
function together(context: RuleContext): void {
  for (const object of context.definitions.objects.values()) {
    for (const field of object.own) {
      const custom = directive(field.node, 'custom', 'lambda');
      const other = mapping(field.node) ?? directive(field.node, 'search', 'id', 'embedding');
      if (!custom || !other) continue;
      context.report({
        position: position(custom),
        message: `${object.name}.${field.name} has @${custom.name.value} and @${other.name.value}: what is resolved elsewhere is not stored`,
        fix: 'Remove one of them.',
      });
    }
  }
}
