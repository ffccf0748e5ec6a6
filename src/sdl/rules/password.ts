import { argument, directive, type ObjectDefinition, position, text } from '../definition.js';
import { isRemote } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** @secret names a password field that is no field of the type, once for a type and its interfaces. */
export const password: Rule = {
  name: 'password',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      own(context, object);
      inherited(context, object);
    }
  },
};

function own({ report }: RuleContext, object: ObjectDefinition): void {
  const node = directive(object, 'secret');
  if (!node) return;
  const refuse = (message: string, fix: string): void => report({ position: position(node), message, fix });
  const field = secretOf(object);
  if (isRemote(object)) refuse(`${object.name} is remote and cannot keep a password`, 'Remove @secret or @remote.');
  if (field === '') refuse(`@secret on ${object.name} has an empty field name`, 'Write @secret(field: "pwd").');
  else if (field !== undefined && !/^[_A-Za-z]\w*$/.test(field)) {
    refuse(`@secret on ${object.name}: "${field}" is not a name`, 'Write @secret(field: "pwd").');
  }
  if (object.fields.some((f) => f.name === field)) {
    refuse(`@secret on ${object.name}: ${field} is a field of the type already`, 'Remove the field, or rename one.');
  }
}

function inherited({ definitions, report }: RuleContext, object: ObjectDefinition): void {
  const [first, second] = object.interfaces.filter((name) => secretOf(definitions.objects.get(name)) !== undefined);
  if (first === undefined) return;
  const refuse = (message: string, fix: string): void => report({ position: position(object.node), message, fix });
  if (secretOf(object) !== undefined) {
    refuse(`${object.name} has @secret and inherits one from ${first}`, 'Keep the one of the interface.');
  }
  if (second !== undefined) {
    refuse(`${object.name} inherits @secret from both ${first} and ${second}`, 'Keep one of them.');
  }
  const field = secretOf(definitions.objects.get(first));
  if (object.own.some((f) => f.name === field)) {
    refuse(`${object.name}.${field} is the password that ${first} gives the type`, 'Remove the field, or rename one.');
  }
}

/** The field that @secret on the definition itself names. */
const secretOf = (object: ObjectDefinition | undefined): string | undefined =>
  object && text(argument(directive(object, 'secret'), 'field'))?.trim();
