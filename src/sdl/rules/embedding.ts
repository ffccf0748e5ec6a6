import { print } from 'graphql';
import { directive, position } from '../definition.js';
import type { Rule } from '../rule.js';

/** @embedding marks vectors: lists of floats without gaps. */
export const embedding: Rule = {
  name: 'embedding',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      for (const field of object.own) {
        const node = directive(field.node, 'embedding');
        if (!node) continue;
        const type = print(field.node.type);
        if (/^\[Float!\]!?$/.test(type)) continue;
        report({
          position: position(node),
          message: `@embedding on ${object.name}.${field.name} needs the type [Float!], not ${type}`,
          fix: 'Make the field [Float!], or remove @embedding.',
        });
      }
    }
  },
};
