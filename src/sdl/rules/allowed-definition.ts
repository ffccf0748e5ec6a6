import { Kind } from 'graphql';
import { position } from '../definition.js';
import type { Rule } from '../rule.js';

const EXTENDED: Readonly<Record<string, string>> = {
  [Kind.ENUM_TYPE_EXTENSION]: 'an enum',
  [Kind.UNION_TYPE_EXTENSION]: 'a union',
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: 'an input',
};

const REFUSED: Readonly<Record<string, string>> = {
  [Kind.SCALAR_TYPE_DEFINITION]: 'a scalar',
  [Kind.SCALAR_TYPE_EXTENSION]: 'an extension of a scalar',
  [Kind.DIRECTIVE_DEFINITION]: 'a directive',
  [Kind.SCHEMA_DEFINITION]: 'a schema block',
  [Kind.SCHEMA_EXTENSION]: 'an extension of the schema block',
  [Kind.OPERATION_DEFINITION]: 'an operation',
  [Kind.FRAGMENT_DEFINITION]: 'a fragment',
};

/** That it repeats a name only follows from what it is. */
export const isRefusedExtension = ({ kind }: { readonly kind: string }): boolean => Object.hasOwn(EXTENDED, kind);

/** Only types, interfaces, unions, enums and inputs are defined by the user; the rest is generated. */
export const allowedDefinition: Rule = {
  name: 'allowed-definition',
  check({ definitions, report, lax }) {
    for (const node of definitions.document.definitions) {
      const at = position('name' in node && node.name ? { name: node.name } : { loc: node.loc });
      if (isRefusedExtension(node)) {
        report({
          position: at,
          message: `${EXTENDED[node.kind]} cannot be extended: "extend" is for types of other services`,
          fix: 'Write what it adds into the definition itself.',
        });
        continue;
      }
      const what = REFUSED[node.kind];
      if (what === undefined || (lax && node.kind === Kind.DIRECTIVE_DEFINITION)) continue;
      report({
        position: at,
        message: `${what} cannot be defined here: scalars, directives and the schema block are built in`,
        fix: 'Keep type, interface, union, enum and input definitions only.',
      });
    }
  },
};
