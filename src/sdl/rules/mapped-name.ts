import { type ConstDirectiveNode, Kind } from 'graphql';
import {
  argument,
  baseName,
  directive,
  type FieldDefinition,
  listDepth,
  mapping,
  type ObjectDefinition,
  position,
  text,
} from '../definition.js';
import { isIdType, kindOf } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';
import { storageOf, storedName } from '../storage.js';

/** @dgraph (also written @service) gives a type or a field another stored name; `~` and language tags have their own terms. */
export const mappedName: Rule = {
  name: 'mapped-name',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      const node = mapping(object);
      if (node && named(context, node, 'type', object.name)) storable(context, node, storedName(object), object.name);
      password(context, object);
      for (const field of object.own) one(context, object, field);
    }
  },
};

function named({ report }: RuleContext, node: ConstDirectiveNode, wanted: 'type' | 'pred', where: string): boolean {
  const value = argument(node, wanted);
  const spelled = `@${node.name.value}`;
  const fix = `Write ${spelled}(${wanted}: "name").`;
  if (value && value.kind !== Kind.STRING) {
    report({ position: position(node), message: `${spelled} on ${where}: ${wanted} must be a string`, fix });
    return false;
  }
  if (value?.kind === Kind.STRING && value.value.trim() !== '') return true;
  report({
    position: position(node),
    message: `${spelled} on ${where} needs ${wanted}, and it must not be empty`,
    fix,
  });
  return false;
}

/** What the graph language can write between < and >. */
const STORABLE = /^[^<>"{}|^`\\\s]+$/;

function storable({ report }: RuleContext, node: ConstDirectiveNode, name: string, where: string): void {
  const wrong = [...name].find((character) => !STORABLE.test(character));
  if (wrong === undefined) return;
  report({
    position: position(node),
    message: `${where} is stored as ${JSON.stringify(name)}, and no stored name has ${JSON.stringify(wrong)} in it`,
    fix: 'Use a name without spaces, and without any of < > " { } | ^ ` \\.',
  });
}

function password(context: RuleContext, object: ObjectDefinition): void {
  const node = directive(object, 'secret');
  const pred = text(argument(node, 'pred'));
  if (node && pred) storable(context, node, pred, `the password of ${object.name}`);
}

function one(context: RuleContext, object: ObjectDefinition, field: FieldDefinition): void {
  const node = mapping(field.node);
  if (!node) return;
  const where = `${object.name}.${field.name}`;
  const refuse = (message: string, fix: string): void => context.report({ position: position(node), message, fix });
  if (isIdType(field.node.type)) {
    refuse(`${where} is an ID, which has no predicate to name`, `Remove @${node.name.value}.`);
    return;
  }
  if (!named(context, node, 'pred', where)) return;
  const storage = storageOf(field);
  if (storage.predicate === '') refuse(`${where} names no predicate`, `Write @${node.name.value}(pred: "name").`);
  else storable(context, node, storage.predicate, where);
  if (storage.reverse) reverse(context, object, field, refuse);
  languages(field, where, refuse);
}

type Refuse = (message: string, fix: string) => void;

function languages(field: FieldDefinition, where: string, refuse: Refuse): void {
  const { languages } = storageOf(field);
  if (!languages) return;
  if (languages.some((language) => !/^(\.|[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*)$/.test(language))) {
    refuse(`${where}: after "@" stand languages, or "." for any`, 'Write them like name@hi:en.');
  }
  if (baseName(field.node.type) !== 'String' || listDepth(field.node.type) > 0) {
    refuse(`${where} has a language tag, and only String values have languages`, 'Make it a String.');
  }
  if (directive(field.node, 'id')) refuse(`${where}: a value with a language tag cannot be @id`, 'Remove @id.');
  if (directive(field.node, 'search') && languages.length > 1) {
    refuse(`${where}: a field of several languages cannot have @search`, 'Search the fields of single languages.');
  }
}

/** A reverse edge reads an edge of the other type that leads here. */
function reverse(context: RuleContext, object: ObjectDefinition, field: FieldDefinition, refuse: Refuse): void {
  const where = `${object.name}.${field.name}`;
  const { definitions } = context;
  const target = definitions.objects.get(baseName(field.node.type));
  if (!target) {
    if (kindOf(definitions, baseName(field.node.type))) {
      refuse(`${where}: "~" reads an edge backwards, and ${baseName(field.node.type)} has no edges`, 'Remove the "~".');
    }
    return;
  }
  if (directive(field.node, 'hasInverse')) {
    refuse(`${where}: a reverse edge is an inverse already`, 'Remove @hasInverse or the "~".');
  }
  const { predicate } = storageOf(field);
  const forward = target.fields.find((f) => storageOf(f).predicate === predicate && !storageOf(f).reverse);
  if (!forward) {
    refuse(
      `${where}: ${target.name} has no field stored as ${predicate}`,
      `Add one with @dgraph(pred: "${predicate}").`,
    );
    return;
  }
  const leads = baseName(forward.node.type);
  const here = leads === object.name || object.interfaces.includes(leads);
  if (here || definitions.objects.get(leads)?.interfaces.includes(object.name)) return;
  refuse(
    `${where}: ${target.name}.${forward.name} leads to ${leads}, not to ${object.name}`,
    `Give ${target.name}.${forward.name} the type ${object.name}.`,
  );
}
