import { directive, position } from '../definition.js';
import { isRemote, kindOf } from '../lookup.js';
import type { Rule } from '../rule.js';

/** A union's members are object types, and there is at least one. A stored union has no remote ones. */
export const unionMember: Rule = {
  name: 'union-member',
  check({ definitions, report }) {
    for (const [name, node] of definitions.unions) {
      const remote = directive(node, 'remote') !== undefined;
      if (!node.types?.length) {
        report({ position: position(node), message: `union ${name} has no members`, fix: 'Name its object types.' });
      }
      for (const member of node.types ?? []) {
        const object = definitions.objects.get(member.name.value);
        if (object?.kind !== 'object') {
          const named = member.name.value;
          const isDefined = kindOf(definitions, named) !== undefined;
          report({
            position: position(member),
            message: `${named} is a member of union ${name}, but it is not ${isDefined ? 'an object type' : 'defined'}`,
            fix: isDefined ? 'Name object types only.' : `Define type ${named}, or correct the name.`,
          });
        } else if (!remote && isRemote(object)) {
          report({
            position: position(member),
            message: `union ${name} is stored, but its member ${object.name} is remote`,
            fix: `Mark the union with @remote, or store ${object.name}.`,
          });
        }
      }
    }
  },
};
