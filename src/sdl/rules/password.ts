import { argument, directive, position, text } from '../definition.js';
import { isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** @secret names a password field that is no field of the type, once for a type and its interfaces. */
export const password: Rule = {
  name: 'password',
  check({ definitions, report }) {
    for (const object of definitions.objects.values()) {
      const node = directive(object, 'secret');
      if (!node) continue;
      const refuse = (message: string, fix: string): void => report({ position: position(node), message, fix });
      const field = text(argument(node, 'field'))?.trim();
      if (isRemote(object)) refuse(`${object.name} is remote and cannot keep a password`, 'Remove @secret or @remote.');
      if (field === '') refuse(`@secret on ${object.name} has an empty field name`, 'Write @secret(field: "pwd").');
      else if (field !== undefined && !/^[_A-Za-z]\w*$/.test(field)) {
        refuse(`@secret on ${object.name}: "${field}" is not a name`, 'Write @secret(field: "pwd").');
      }
      if (object.fields.some((f) => f.name === field)) {
        refuse(
          `@secret on ${object.name}: ${field} is a field of the type already`,
          'Remove the field, or rename one.',
        );
      }
      const inherited = object.interfaces.find((name) => {
        const parent = definitions.objects.get(name);
        return parent && directive(parent, 'secret');
      });
      if (inherited) {
        refuse(`${object.name} has @secret and inherits one from ${inherited}`, 'Keep the one of the interface.');
      }
    }
  },
};
