import { directive, position } from '../definition.js';
import { customSites } from '../custom-site.js';
import { idField, isForeignKey, isIdType, xidFields } from '../lookup.js';
import type { Rule } from '../rule.js';

/** A type whose field @custom resolves can name its nodes, by another field; such a field takes no arguments. */
export const customField: Rule = {
  name: 'custom-field',
  check({ definitions, report }) {
    for (const { object, field, node, where } of customSites(definitions)) {
      if (!object) continue;
      const named = idField(object) || xidFields(object).length > 0 || object.fields.some(isForeignKey);
      if (!named) {
        report({
          position: position(node),
          message: `@custom on ${where}: ${object.name} has neither a field of type ID nor one with @id`,
          fix: `Add "id: ID!" to ${object.name}, or @id to the field that names its nodes.`,
        });
      }
      if (isIdType(field.type)) {
        report({
          position: position(node),
          message: `@custom on ${where}: a field of type ID is the node itself, which nothing else resolves`,
          fix: 'Remove @custom, or make the field a String.',
        });
      }
      if (directive(field, 'lambda')) {
        report({
          position: position(node),
          message: `${where} has both @custom and @lambda: one of them resolves the field`,
          fix: 'Remove one of them.',
        });
      }
      if (!field.arguments?.length) continue;
      report({
        position: position(field.arguments[0]),
        message: `@custom on ${where}: a custom field cannot take arguments`,
        fix: 'Remove them, or make it a custom query.',
      });
    }
  },
};
