import { readCustom } from '../custom.js';
import { baseName, directive, listDepth, mapping, position } from '../definition.js';
import { type CustomSite, customSites } from '../custom-site.js';
import { kindOf } from '../lookup.js';
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
      if (custom?.kind === 'dql') scalarArguments(context, site);
      if (custom?.kind === 'http' && site.root && hasMode(site.node)) {
        refuse('mode is for fields of types: a root field is one call', 'Remove mode.');
      }
    }
    together(context);
  },
};

/** Arguments become variables of the query text, which hold single values. */
function scalarArguments({ definitions, lax, report }: RuleContext, { field, where }: CustomSite): void {
  for (const node of field.arguments ?? []) {
    const kind = kindOf(definitions, baseName(node.type));
    const single = (kind === 'scalar' || kind === 'enum') && (lax || listDepth(node.type) === 0);
    if (single || kind === undefined) continue;
    report({
      position: position(node),
      message: `@custom on ${where}: dql takes single values, and the argument ${node.name.value} is none`,
      fix: 'Give it a scalar type.',
    });
  }
}

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
