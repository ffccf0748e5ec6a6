import { position } from '../definition.js';
import { isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** Arguments that edges get; one that is declared would be lost behind the generated one. */
const GENERATED: ReadonlySet<string> = new Set(['filter', 'order', 'first', 'offset']);

/** A stored type's fields declare no argument that the generated API gives them. */
export const reservedArgument: Rule = {
  name: 'reserved-argument',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      if (isRemote(object)) continue;
      for (const field of object.own) {
        for (const argument of field.node.arguments ?? []) {
          if (!GENERATED.has(argument.name.value)) continue;
          report({
            position: position(argument),
            message: `${object.name}.${field.name} cannot have the argument ${argument.name.value}: one of this name is generated`,
            fix: 'Pick another name, or remove the argument.',
          });
        }
      }
    }
  },
};
