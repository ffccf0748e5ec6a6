import { addTo } from '../base/index.js';
import { argument, baseName, type Definitions, directive, text } from './definition.js';

export interface InverseEnd {
  readonly type: string;
  readonly field: string;
}

/**
 * The other end of every edge that has one, by `Type.field` of each type that has the field: a type that inherits an
 * edge pairs it for itself. One side's @hasInverse is enough for both.
 */
export function inverseMap(definitions: Definitions): ReadonlyMap<string, InverseEnd> {
  const map = new Map<string, InverseEnd>();
  const implied = new Map<string, InverseEnd>();
  const implementers = implementersOf(definitions);
  for (const object of definitions.objects.values()) {
    for (const field of object.fields) {
      const name = text(argument(directive(field.node, 'hasInverse'), 'field'));
      if (name === undefined) continue;
      const type = baseName(field.node.type);
      map.set(`${object.name}.${field.name}`, { type, field: name });
      if (field.owner.name !== object.name) continue;
      for (const other of [type, ...(implementers.get(type) ?? [])]) {
        implied.set(`${other}.${name}`, { type: object.name, field: field.name });
      }
    }
  }
  for (const [key, end] of implied) if (!map.has(key)) map.set(key, end);
  return map;
}

/** Types that implement each interface, in order of definition. */
export function implementersOf(definitions: Definitions): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const object of definitions.objects.values()) {
    for (const name of object.interfaces) addTo(map, name, object.name);
  }
  return map;
}
