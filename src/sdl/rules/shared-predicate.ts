import { directive, type FieldDefinition, looseText, type ObjectDefinition, position } from '../definition.js';
import { isCustom, isIdType, isRemote } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';
import { passwordOf, storageOf } from '../storage.js';

/** Fields that share a predicate agree on its type and on @id, and never share one with a password. */
export const sharedPredicate: Rule = {
  name: 'shared-predicate',
  check(context) {
    const first = new Map<string, FieldDefinition>();
    const passwords = new Map<string, ObjectDefinition>();
    const objects = [...context.definitions.objects.values()].filter((object) => !isRemote(object));
    for (const object of objects) {
      const password = passwordOf(object);
      if (password) passwords.set(password.predicate, object);
    }
    for (const object of objects) {
      withinType(context, object);
      if (!context.lax) writtenOnce(context, object);
      for (const field of object.own) if (isStored(field)) compare(context, first, passwords, field);
    }
  },
};

/** One name for two fields is a mistake that is told by itself. */
const isTwice = (field: FieldDefinition, other: FieldDefinition): boolean =>
  field.owner === other.owner && field.name === other.name;

const isStored = (field: FieldDefinition): boolean =>
  !isIdType(field.node.type) && !isCustom(field) && !storageOf(field).reverse;

function compare(
  { report }: RuleContext,
  first: Map<string, FieldDefinition>,
  passwords: ReadonlyMap<string, ObjectDefinition>,
  field: FieldDefinition,
): void {
  const { predicate } = storageOf(field);
  const where = `${field.owner.name}.${field.name}`;
  const refuse = (message: string, fix: string): void => report({ position: position(field.node), message, fix });
  const password = passwords.get(predicate);
  if (password) {
    refuse(
      `${where} is stored as ${predicate}, which holds the password of ${password.name}`,
      'Use another predicate.',
    );
  }
  const other = first.get(predicate);
  if (!other) first.set(predicate, field);
  if (!other || isTwice(field, other)) return;
  const types = [looseText(field.node.type), looseText(other.node.type)];
  const otherName = `${other.owner.name}.${other.name}`;
  if (types[0] !== types[1]) {
    refuse(
      `${where} is ${types[0]} and ${otherName} is ${types[1]}, but both are stored as ${predicate}`,
      'Give both the same type, or different predicates.',
    );
    return;
  }
  const tagged = storageOf(field).languages ?? storageOf(other).languages;
  const ids = [field, other].map((f) => directive(f.node, 'id') !== undefined);
  if (!tagged && ids[0] !== ids[1]) {
    refuse(
      `${where} and ${otherName} are both stored as ${predicate}, but only one of them has @id`,
      'Put @id on both or on neither, or use different predicates.',
    );
  }
}

/** Of two fields that are written to one place a mutation keeps the value of the last: the peer takes such types. */
function writtenOnce({ report }: RuleContext, object: ObjectDefinition): void {
  const written = new Map<string, FieldDefinition>();
  for (const field of object.own) {
    const storage = storageOf(field);
    if (!isStored(field) || (storage.languages && !isOneLanguage(storage.languages))) continue;
    const key = JSON.stringify(storage);
    const other = written.get(key);
    if (!other) written.set(key, field);
    else if (!isTwice(field, other)) {
      report({
        position: position(field.node),
        message: `${object.name}.${field.name} and ${object.name}.${other.name} are both stored as ${storage.predicate}: one value would take the place of the other`,
        fix: 'Remove one of them, or use different predicates.',
      });
    }
  }
}

/** Fields of several languages, or of any, are read only. */
const isOneLanguage = (languages: readonly string[]): boolean => languages.length === 1 && languages[0] !== '.';

/** A type's own fields and those of each of its interfaces need predicates of their own. */
function withinType({ definitions, report }: RuleContext, object: ObjectDefinition): void {
  const from = new Map<string, FieldDefinition>();
  for (const name of object.interfaces) {
    for (const field of definitions.objects.get(name)?.own ?? []) {
      if (!isStored(field)) continue;
      const key = JSON.stringify(storageOf(field));
      const other = from.get(key);
      if (other && other.owner !== field.owner && other.name !== field.name) {
        report({
          position: position(object.node),
          message: `${object.name} implements ${other.owner.name} and ${name}, and both store a field as ${storageOf(field).predicate}`,
          fix: 'Use different predicates in the two interfaces.',
        });
      } else from.set(key, field);
    }
  }
  for (const field of object.own) {
    const other = isStored(field) ? from.get(JSON.stringify(storageOf(field))) : undefined;
    if (!other || other.name === field.name) continue;
    report({
      position: position(field.node),
      message: `${object.name}.${field.name} is stored as ${storageOf(field).predicate}, as ${other.owner.name}.${other.name} is, which it inherits`,
      fix: 'Use another predicate.',
    });
  }
}
