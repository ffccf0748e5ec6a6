import { baseName, listDepth, position } from '../definition.js';
import { isCustom, isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** A stored field is one value or one list: a list of lists has no form in the graph, a list of Booleans neither. */
export const listDepthRule: Rule = {
  name: 'list-depth',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      if (isRemote(object)) continue;
      for (const field of object.own) {
        if (isCustom(field)) continue;
        if (listDepth(field.node.type) === 1 && baseName(field.node.type) === 'Boolean') {
          report({
            position: position(field.node),
            message: `${object.name}.${field.name} is a list of Boolean, which cannot be stored`,
            fix: 'Use [Int] or a list of an enum.',
          });
        }
        if (listDepth(field.node.type) < 2) continue;
        report({
          position: position(field.node),
          message: `${object.name}.${field.name} is a list of lists, which cannot be stored`,
          fix: 'Use one list, or a type of its own for the inner one.',
        });
      }
    }
  },
};
