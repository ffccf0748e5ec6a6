import { readAuthRule } from '../auth-rule.js';
import { directive, position } from '../definition.js';
import { isRemote } from '../lookup.js';
import type { Rule } from '../rule.js';

/** Rules of @auth are well formed; a rule for passwords needs a password. */
export const auth: Rule = {
  name: 'auth',
  check({ definitions, report, lax }) {
    for (const object of definitions.objects.values()) {
      const node = directive(object, 'auth');
      if (!node || isRemote(object)) continue;
      for (const { name, value } of node.arguments ?? []) {
        readAuthRule(value, object.name, report);
        const secret = [object, ...object.interfaces.map((i) => definitions.objects.get(i))].some(
          (o) => o && directive(o, 'secret'),
        );
        if (lax || name.value !== 'password' || secret) continue;
        report({
          position: position(node),
          message: `@auth on ${object.name} has a rule for passwords, but the type has no @secret`,
          fix: 'Add @secret(field: "pwd"), or remove the rule.',
        });
      }
    }
  },
};
