import { argument, directive, type FieldDefinition, mapping, type ObjectDefinition, text } from './definition.js';
import type { Password, Storage } from './model.js';

/** The value of `service.type` of a type's nodes: its name, or what @dgraph(type:) says. */
export function storedName(object: ObjectDefinition): string {
  return text(argument(mapping(object), 'type')) || object.name;
}

/** Where a field's value lies: `Type.field` of the type that introduced it, or what @dgraph(pred:) says. */
export function storageOf(field: FieldDefinition): Storage {
  const pred = text(argument(mapping(field.node), 'pred'));
  if (!pred) return { predicate: `${storedName(field.owner)}.${field.name}`, reverse: false };
  const bare = pred.replace(/^<(.*)>$/, '$1');
  const reverse = bare.startsWith('~');
  const name = (reverse ? bare.slice(1) : bare).replace(/^<([^>]*)>/, '$1');
  const at = name.indexOf('@');
  if (at === -1) return { predicate: name, reverse };
  return { predicate: name.slice(0, at), reverse, languages: name.slice(at + 1).split(':') };
}

/** The predicate that holds a type's password; undefined where the definition has no @secret of its own. */
export function passwordOf(object: ObjectDefinition): Password | undefined {
  const secret = directive(object, 'secret');
  const field = text(argument(secret, 'field'));
  if (!field) return undefined;
  return { field, predicate: text(argument(secret, 'pred')) || `${storedName(object)}.${field}` };
}
