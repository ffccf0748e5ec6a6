import { position } from '../definition.js';
import { isCustom, isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** Arguments that edges get; one that is declared would be lost behind the generated one. */
const GENERATED: ReadonlySet<string> = new Set(['filter', 'order', 'first', 'offset']);

/** A stored field declares no argument that the generated API gives it; the peer takes others, which nothing reads. */
export const reservedArgument: Rule = {
  name: 'reserved-argument',
  check({ definitions, report, lax }) {
    for (const object of definitions.objects.values()) {
      if (isRemote(object)) continue;
      for (const field of object.own) {
        for (const argument of field.node.arguments ?? []) {
          const isGenerated = GENERATED.has(argument.name.value);
          if (!isGenerated && (lax || isCustom(field))) continue;
          if (!isGenerated) {
            report({
              position: position(argument),
              message: `${object.name}.${field.name} is stored, and nothing reads its argument ${argument.name.value}`,
              fix: 'Remove the argument, or make the field one of Query with @custom.',
            });
            continue;
          }
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
