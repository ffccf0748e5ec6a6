import { Kind } from 'graphql';
import { argument, baseName, directive, listDepth, looseText, type ObjectDefinition, position } from '../definition.js';
import { isForeignKey, isRemote } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

const KEY_TYPES = new Set(['String', 'Int', 'Int64']);

/** A type has at most one ID, and @id stands on single strings and whole numbers. */
export const identifier: Rule = {
  name: 'identifier',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      if (!isRemote(object)) {
        oneId(context, object);
        idLists(context, object);
      }
      keys(context, object);
    }
  },
};

function oneId({ report }: RuleContext, object: ObjectDefinition): void {
  const ids = object.fields.filter((f) => baseName(f.node.type) === 'ID' && !isForeignKey(f));
  if (ids.length < 2) return;
  const at = ids.find((f) => f.owner === object) ?? undefined;
  report({
    position: position(at?.node ?? object.node),
    message: `${object.name} has the fields ${ids.map((f) => f.name).join(', ')} of type ID, and a node has one ID`,
    fix: 'Keep one field of type ID; make the others String, with @id if they name the node too.',
  });
}

function idLists({ report }: RuleContext, object: ObjectDefinition): void {
  for (const field of object.own) {
    if (baseName(field.node.type) !== 'ID' || listDepth(field.node.type) === 0) continue;
    report({
      position: position(field.node),
      message: `${object.name}.${field.name} is a list of ID, and a node has one ID`,
      fix: 'Use [String], or an edge to the type whose nodes are meant.',
    });
  }
}

function keys({ report }: RuleContext, object: ObjectDefinition): void {
  for (const field of object.own) {
    const id = directive(field.node, 'id');
    if (!id) continue;
    const where = `${object.name}.${field.name}`;
    if (listDepth(field.node.type) > 0 || !KEY_TYPES.has(baseName(field.node.type))) {
      report({
        position: position(id),
        message: `@id on ${where} needs the type String, Int or Int64, not ${looseText(field.node.type)}`,
        fix: 'Change the type, or remove @id.',
      });
    }
    const over = argument(id, 'interface');
    if (over && object.kind !== 'interface' && over.kind === Kind.BOOLEAN && over.value) {
      report({
        position: position(id),
        message: `@id(interface:) on ${where} has no meaning: ${object.name} is not an interface`,
        fix: 'Write @id alone.',
      });
    }
  }
}
