import { Kind, print } from 'graphql';
import { baseName, type Definitions, type FieldDefinition, type ObjectDefinition, position } from '../definition.js';
import type { Rule, RuleContext } from '../rule.js';

/** What `implements` names are interfaces, and fields come from one of them with one type. */
export const interfaceField: Rule = {
  name: 'interface-field',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      areInterfaces(context, object);
      repeated(context, object);
      shared(context, object);
    }
  },
};

function areInterfaces({ definitions, report }: RuleContext, object: ObjectDefinition): void {
  for (const node of object.node.interfaces ?? []) {
    const name = node.name.value;
    const circle = definitions.objects.get(name)?.interfaces.includes(object.name) || name === object.name;
    if (definitions.objects.get(name)?.kind === 'interface' && !circle) continue;
    report({
      position: position(node),
      message: circle
        ? `${object.name} implements ${name}, which implements ${object.name}`
        : `${object.name} implements ${name}, which is not an interface here`,
      fix: circle ? 'Break the circle.' : `Define interface ${name}, or correct the name.`,
    });
  }
}

/** A field that a type repeats has the interface's type; that it is never null may be added, though the peer refuses it. */
function repeated(context: RuleContext, object: ObjectDefinition): void {
  const { definitions, lax, report } = context;
  for (const field of object.own) {
    const [first, ...others] = ofInterfaces(definitions, object, field.name);
    if (!first) continue;
    if (!lax) ownDirectives(context, field, first);
    const inherited = [first, ...others].find(({ node }) => node.type.kind === Kind.NON_NULL_TYPE) ?? first;
    const [is, wanted] = [print(field.node.type), print(inherited.node.type)];
    if (is === wanted || (!lax && is === `${wanted}!`)) continue;
    report({
      position: position(field.node),
      message: `${object.name}.${field.name} is ${is}, but interface ${inherited.owner.name} has it as ${wanted}`,
      fix: `Give it the type ${wanted}, or leave it to the interface.`,
    });
  }
}

/** The one that the field comes from first; interfaces that implement it may repeat it. */
function ofInterfaces({ objects }: Definitions, object: ObjectDefinition, name: string): FieldDefinition[] {
  return object.interfaces.flatMap((of) => objects.get(of)?.own ?? []).filter((field) => field.name === name);
}

/** The field is stored, searched and resolved as the interface has it: the peer passes over what else is written. */
function ownDirectives({ report }: RuleContext, field: FieldDefinition, inherited: FieldDefinition): void {
  const known = new Set(inherited.node.directives?.map(print));
  for (const node of field.node.directives ?? []) {
    if (known.has(print(node))) continue;
    const where = `${inherited.owner.name}.${field.name}`;
    report({
      position: position(node),
      message: `@${node.name.value} on ${field.owner.name}.${field.name} says nothing: the field is ${where}`,
      fix: `Move it to ${where}, or rename the field.`,
    });
  }
}

/** Two interfaces of one type with a field of the same name: the type would need two predicates for it. An ID has none. */
function shared({ definitions, report }: RuleContext, object: ObjectDefinition): void {
  const from = new Map<string, FieldDefinition>();
  for (const name of object.interfaces) {
    for (const field of definitions.objects.get(name)?.own ?? []) {
      const first = from.get(field.name);
      if (!first) from.set(field.name, field);
      else if (!sameId(first, field) && !inherits(definitions.objects.get(name), first.owner)) {
        report({
          position: position(object.node),
          message: `${object.name} has the field ${field.name} from both ${first.owner.name} and ${name}`,
          fix: `Rename the field in one of the interfaces, or move it to an interface that both implement.`,
        });
      }
    }
  }
}

/** Both are the node's ID, and may be null alike. */
function sameId(one: FieldDefinition, other: FieldDefinition): boolean {
  return baseName(one.node.type) === 'ID' && print(one.node.type) === print(other.node.type);
}

const inherits = (object: ObjectDefinition | undefined, owner: ObjectDefinition): boolean =>
  object?.interfaces.includes(owner.name) === true;
