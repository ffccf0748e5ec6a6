import type { NameNode } from 'graphql';
import { position } from '../definition.js';
import type { Rule, RuleContext } from '../rule.js';

interface Named {
  readonly name: NameNode;
}

/** A name is defined once: types in the document, fields in a type, arguments in a field, values in an enum. */
export const uniqueName: Rule = {
  name: 'unique-name',
  check(context) {
    const named = context.definitions.document.definitions.filter(
      (d): d is typeof d & Named => 'name' in d && !!d.name,
    );
    unique(context, named, 'type', 'the definitions');
    for (const node of named) {
      if ('fields' in node && node.fields) unique(context, node.fields, 'field', node.name.value);
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
        fix: 'Give one of them another name, or remove it.',
      });
    }
    seen.add(name);
  }
}
