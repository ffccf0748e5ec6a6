import { baseName, directive, position } from '../definition.js';
import { isDirective } from '../directive-definition.js';
import { isRemoteName } from '../lookup.js';
import type { Rule } from '../rule.js';

const QUERIES: readonly ((type: string) => string)[] = [
  (type) => `get${type}`,
  (type) => `query${type}`,
  (type) => `aggregate${type}`,
  (type) => `check${type}Password`,
  (type) => `querySimilar${type}ById`,
  (type) => `querySimilar${type}ByEmbedding`,
];
const MUTATIONS: readonly ((type: string) => string)[] = [
  (type) => `add${type}`,
  (type) => `update${type}`,
  (type) => `delete${type}`,
];

const ALLOWED = new Set(['custom', 'lambda', 'withSubscription', 'deprecated']);

/** Fields of Query and Mutation are custom, and none has the name of a generated one. */
export const rootField: Rule = {
  name: 'root-field',
  check({ definitions, report }) {
    const generated = new Map<string, string>();
    for (const name of definitions.objects.keys()) {
      if (isRemoteName(definitions, name)) continue;
      for (const of of QUERIES) generated.set(`Query.${of(name)}`, name);
      for (const of of MUTATIONS) generated.set(`Mutation.${of(name)}`, name);
    }
    for (const { root, node } of definitions.roots) {
      for (const field of node.fields ?? []) {
        const where = `${root}.${field.name.value}`;
        const refuse = (message: string, fix: string): void => report({ position: position(field), message, fix });
        if (!directive(field, 'custom', 'lambda')) {
          const type = baseName(field.type);
          if (definitions.objects.has(type)) {
            refuse(
              `${where} has no @custom: the fields for ${type} are generated`,
              'Remove it, or resolve it with @custom.',
            );
          } else {
            const fix = 'Resolve it with @custom, or remove it and write a function of its name in the app.';
            refuse(`${where} has no @custom, and nothing else answers it`, fix);
          }
        }
        for (const node of field.directives ?? []) {
          if (ALLOWED.has(node.name.value) || !isDirective(node.name.value)) continue;
          report({
            position: position(node),
            message: `@${node.name.value} cannot stand on ${where}, which is not stored`,
            fix: 'Remove it.',
          });
        }
        const owner = generated.get(where);
        if (owner !== undefined)
          refuse(`${where} is a reserved name: it is generated for ${owner}`, 'Pick another name.');
        if (/^_(entities|service)$/.test(field.name.value)) refuse(`${where} is a reserved name`, 'Pick another name.');
      }
    }
  },
};
