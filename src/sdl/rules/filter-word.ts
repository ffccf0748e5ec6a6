import { directive, position } from '../definition.js';
import { isIdType, isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** What stands in every filter beside the fields of its type. */
export const FILTER_WORDS: ReadonlySet<string> = new Set(['has', 'and', 'or', 'not']);

/** A searched field cannot have a name that its filter needs for itself. */
export const filterWord: Rule = {
  name: 'filter-word',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      if (isRemote(object)) continue;
      for (const field of object.own) {
        if (!FILTER_WORDS.has(field.name)) continue;
        if (!directive(field.node, 'search', 'id') && !isIdType(field.node.type)) continue;
        report({
          position: position(field.node),
          message: `${object.name}.${field.name} is searched, but "${field.name}" is a word of every filter`,
          fix: 'Rename the field; @dgraph(pred:) keeps its stored name.',
        });
      }
    }
  },
};
