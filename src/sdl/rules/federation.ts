import { baseName, directive, type FieldDefinition, type ObjectDefinition, position } from '../definition.js';
import { fieldSet, isExternal, isIdType, isRemote, keyFields, providedFields } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** @key, @extends, @external, @requires and @provides fit together, as a federation's gateway needs them. */
export const federation: Rule = {
  name: 'federation',
  check(context) {
    const provided = providedFields(context.definitions);
    for (const object of context.definitions.objects.values()) {
      key(context, object);
      if (!context.lax) foreignKey(context, object);
      if (!context.lax) notStored(context, object, provided.get(object.name));
      for (const field of object.own) {
        external(context, object, field);
        requires(context, object, field);
        provides(context, object, field);
      }
    }
  },
};

function key({ report }: RuleContext, object: ObjectDefinition): void {
  const node = directive(object, 'key');
  if (!node) {
    if (!object.extended) return;
    report({
      position: position(object.node),
      message: `${object.name} extends a type of another service but has no @key`,
      fix: 'Add @key(fields: "id"), with the field that both services know.',
    });
    return;
  }
  const refuse = (message: string, fix: string): void => report({ position: position(node), message, fix });
  const names = keyFields(object) ?? [];
  if (names.length !== 1) refuse(`@key on ${object.name} needs exactly one field`, 'Write @key(fields: "id").');
  if (isRemote(object)) refuse(`${object.name} is remote: it cannot be an entity here`, 'Remove @key or @remote.');
  for (const name of names) {
    const field = object.fields.find((f) => f.name === name);
    if (!field) refuse(`@key on ${object.name}: there is no field ${name}`, 'Name a field of the type.');
    else if (!isIdType(field.node.type) && !directive(field.node, 'id')) {
      refuse(`@key on ${object.name}: ${name} does not name a node`, `Make ${name} an ID, or give it @id.`);
    }
  }
}

/** The key of another service's entity is its value, not a uid of ours. */
function foreignKey({ report }: RuleContext, object: ObjectDefinition): void {
  for (const name of object.extended ? (keyFields(object) ?? []) : []) {
    const field = object.fields.find((f) => f.name === name);
    if (!field || isExternal(field)) continue;
    report({
      position: position(field.node),
      message: `${object.name} is of another service, so its key ${name} is given there and not here`,
      fix: `Mark ${name} with @external.`,
    });
  }
}

/** Directives that say how a field is stored here. */
const OF_STORED = ['search', 'id', 'default', 'dgraph', 'service', 'hasInverse', 'embedding'];

/** What another service owns, and nothing here provides, is not stored here. */
function notStored({ report }: RuleContext, object: ObjectDefinition, provided: ReadonlySet<string> | undefined): void {
  const keys = keyFields(object) ?? [];
  for (const field of object.extended ? object.own : []) {
    if (!isExternal(field) || keys.includes(field.name) || provided?.has(field.name)) continue;
    for (const name of OF_STORED) {
      const node = directive(field.node, name);
      if (!node) continue;
      report({
        position: position(node),
        message: `@${name} on ${object.name}.${field.name} says nothing: another service owns the field, and it is not stored here`,
        fix: `Remove it, or @external if ${object.name}.${field.name} is of this service.`,
      });
    }
  }
}

function external({ report }: RuleContext, object: ObjectDefinition, field: FieldDefinition): void {
  const node = directive(field.node, 'external');
  if (!node || object.extended) return;
  report({
    position: position(node),
    message: `@external on ${object.name}.${field.name}, but ${object.name} is not of another service`,
    fix: `Write "extend type ${object.name}" or add @extends.`,
  });
}

function requires({ report }: RuleContext, object: ObjectDefinition, field: FieldDefinition): void {
  const node = directive(field.node, 'requires');
  if (!node) return;
  const refuse = (message: string, fix: string): void => report({ position: position(node), message, fix });
  if (!object.extended) {
    refuse(
      `@requires on ${object.name}.${field.name}, but ${object.name} is not of another service`,
      'Remove @requires.',
    );
  }
  const names = fieldSet(node.arguments?.[0]);
  if (names.length === 0)
    refuse(`@requires on ${object.name}.${field.name} names no field`, 'Name what the field needs.');
  for (const name of names) {
    const other = object.fields.find((f) => f.name === name);
    if (!other)
      refuse(`@requires on ${object.name}.${field.name}: there is no field ${name}`, `Declare ${name} @external.`);
    else if (!isExternal(other)) {
      refuse(`@requires on ${object.name}.${field.name}: ${name} is stored here`, `Mark ${name} with @external.`);
    }
  }
}

function provides({ definitions, report }: RuleContext, object: ObjectDefinition, field: FieldDefinition): void {
  const node = directive(field.node, 'provides');
  if (!node) return;
  const refuse = (message: string, fix: string): void => report({ position: position(node), message, fix });
  const target = definitions.objects.get(baseName(field.node.type));
  if (!target || !directive(target, 'key')) {
    refuse(
      `@provides on ${object.name}.${field.name}: ${baseName(field.node.type)} has no @key`,
      'Point it to an entity, or remove @provides.',
    );
    return;
  }
  const names = fieldSet(node.arguments?.[0]);
  if (names.length === 0)
    refuse(`@provides on ${object.name}.${field.name} names no field`, 'Name what is answered here.');
  for (const name of names) {
    if (target.fields.some((f) => f.name === name)) continue;
    refuse(`@provides on ${object.name}.${field.name}: ${target.name} has no field ${name}`, `Declare ${name} there.`);
  }
}
