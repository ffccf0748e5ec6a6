import { Kind, type NameNode } from 'graphql';
import { position } from '../definition.js';
import type { Rule, RuleContext } from '../rule.js';
import { isRefusedExtension } from './allowed-definition.js';

interface Named {
  readonly kind: Kind;
  readonly name: NameNode;
}

const EXTENSIONS: ReadonlySet<Kind> = new Set([Kind.OBJECT_TYPE_EXTENSION, Kind.INTERFACE_TYPE_EXTENSION]);

/**
 * A name is defined once: types in the document, fields in a type, arguments in a field, values in an enum. Query and
 * Mutation may stand with their extensions, whose fields are theirs.
 */
export const uniqueName: Rule = {
  name: 'unique-name',
  check(context) {
    const named = context.definitions.document.definitions.filter(
      (d): d is typeof d & Named => 'name' in d && !!d.name && !isRefusedExtension(d),
    );
    const { roots } = context.definitions;
    const more = new Set(roots.filter(({ node }) => node.kind === Kind.OBJECT_TYPE_EXTENSION).map(({ node }) => node));
    unique(
      context,
      named.filter((node) => !more.has(node as (typeof roots)[number]['node'])),
      'type',
      'the definitions',
    );
    for (const name of ['Query', 'Mutation']) {
      const fields = roots.flatMap(({ root, node }) => (root === name ? (node.fields ?? []) : []));
      unique(context, fields, 'field', name);
    }
    for (const node of named) {
      const isRoot = node.name.value === 'Query' || node.name.value === 'Mutation';
      if (!isRoot && 'fields' in node && node.fields) unique(context, node.fields, 'field', node.name.value);
      if ('values' in node && node.values) unique(context, node.values, 'value', node.name.value);
      if ('types' in node && node.types) unique(context, node.types, 'member', node.name.value);
      if ('interfaces' in node && node.interfaces) unique(context, node.interfaces, 'interface', node.name.value);
      for (const field of 'fields' in node && node.fields ? node.fields : []) {
        if ('arguments' in field && field.arguments) {
          unique(context, field.arguments, 'argument', `${node.name.value}.${field.name.value}`);
        }
      }
    }
  },
};

function unique({ report }: RuleContext, nodes: readonly Named[], what: string, where: string): void {
  const seen = new Set<string>();
  for (const node of nodes) {
    const name = node.name.value;
    if (seen.has(name)) {
      report({
        position: position(node),
        message: `the ${what} ${name} stands more than once in ${where}`,
        fix: EXTENSIONS.has(node.kind)
          ? 'Write its fields into the definition itself: "extend" is for types of other services.'
          : 'Give one of them another name, or remove it.',
      });
    }
    seen.add(name);
  }
}
