import { baseName, type FieldDefinition, type ObjectDefinition, position } from '../definition.js';
import { print } from 'graphql';
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
function repeated({ lax, report }: RuleContext, object: ObjectDefinition): void {
  for (const field of object.own) {
    const inherited = object.fields.find((f) => f.name === field.name);
    if (!inherited || inherited.owner === object) continue;
    const [is, wanted] = [print(field.node.type), print(inherited.node.type)];
    if (is === wanted || (!lax && is === `${wanted}!`)) continue;
    report({
      position: position(field.node),
      message: `${object.name}.${field.name} is ${is}, but interface ${inherited.owner.name} has it as ${wanted}`,
      fix: `Give it the type ${wanted}, or leave it to the interface.`,
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
