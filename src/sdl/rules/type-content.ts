import { directive, position } from '../definition.js';
import { isCustom, isExternal, isIdType, isRemote, keyFields } from '../lookup.js';
import type { Rule } from '../rule.js';

/** A stored type needs something to store beside its ID. */
export const typeContent: Rule = {
  name: 'type-content',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      const empty = !object.node.fields?.length && object.fields.length === 0;
      if (empty) {
        report({ position: position(object.node), message: `${object.name} has no fields`, fix: 'Give it one.' });
      }
      if (empty || object.kind === 'interface' || isRemote(object) || keyFields(object)) continue;
      const stored = object.fields.some((f) => !isIdType(f.node.type) && !isCustom(f) && !isExternal(f));
      if (stored || directive(object, 'secret')) continue;
      report({
        position: position(object.node),
        message: `${object.name} has nothing to store: its fields are its ID or are resolved elsewhere`,
        fix: 'Add a field that is neither ID nor @custom, or mark the type with @remote.',
      });
    }
  },
};
