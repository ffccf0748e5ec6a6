import { Kind, type NameNode } from 'graphql';
import { isObject, position } from '../definition.js';
import { SCALARS } from '../scalar.js';
import type { Rule, RuleContext } from '../rule.js';

const RESERVED: ReadonlySet<string> = new Set([...SCALARS, 'uid', 'Query', 'Mutation', 'Subscription', 'PointList']);

/** What an enum cannot list; the names of a type's fields are listed by those of its orders and of `has`. */
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);

/** Why a name cannot be used; undefined where it can. */
function reason(name: string): string | undefined {
  if (RESERVED.has(name) || LITERALS.has(name) || name.toLowerCase() === 'as') return `${name} is a reserved word`;
  if (name.startsWith('__')) return `${name} begins with "__", which introspection keeps for itself`;
  if (/Aggregate$/.test(name)) return `${name} ends in Aggregate, as generated fields do`;
  return undefined;
}

const isObjectType = (node: { readonly kind: Kind }): boolean =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;

/** Names of built-in types and words that the generated API needs for itself. */
export const reservedName: Rule = {
  name: 'reserved-name',
  check(context) {
    for (const node of context.definitions.document.definitions) {
      if (!('name' in node) || !node.name) continue;
      const root = isObjectType(node) && (node.name.value === 'Query' || node.name.value === 'Mutation');
      if (!root) refuse(context, node.name, 'type');
      if (isObject(node)) for (const field of node.fields ?? []) refuse(context, field.name, 'field');
    }
  },
};

function refuse({ report }: RuleContext, name: NameNode, what: string): void {
  const why = reason(name.value);
  if (why === undefined) return;
  report({
    position: position({ name }),
    message: `${why}: a ${what} cannot have this name`,
    fix: 'Pick another name.',
  });
}
