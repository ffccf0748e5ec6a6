import type { TypeNode } from 'graphql';
import {
  baseName,
  type Definitions,
  directive,
  type FieldDefinition,
  listDepth,
  type ObjectDefinition,
} from './definition.js';
import type { TypeKind } from './model.js';
import { isScalar } from './scalar.js';

/** What a type name stands for; undefined where nothing defines it. */
export function kindOf(definitions: Definitions, name: string): TypeKind | undefined {
  if (isScalar(name)) return 'scalar';
  if (definitions.enums.has(name)) return 'enum';
  if (definitions.unions.has(name)) return 'union';
  if (definitions.inputs.has(name)) return 'input';
  return definitions.objects.get(name)?.kind;
}

/** Stored as one value, and an object for clients. */
export const isGeo = (name: string): boolean => /^(Point|Polygon|MultiPolygon)$/.test(name);

export const isComposite = (kind: TypeKind | undefined): boolean =>
  kind === 'object' || kind === 'interface' || kind === 'union';

export const isRemote = (object: ObjectDefinition): boolean => directive(object, 'remote') !== undefined;

/** A type, interface or union that is not stored. */
export function isRemoteName(definitions: Definitions, name: string): boolean {
  const node = definitions.objects.get(name)?.node ?? definitions.unions.get(name);
  return node !== undefined && directive(node, 'remote') !== undefined;
}

/** Resolved outside the store: @custom, or the peer's @lambda. */
export const isCustom = (field: FieldDefinition): boolean => directive(field.node, 'custom', 'lambda') !== undefined;

export const isExternal = (field: FieldDefinition): boolean => directive(field.node, 'external') !== undefined;

/** Field names of an object's @key; undefined without one. */
export function keyFields(object: ObjectDefinition): string[] | undefined {
  const key = directive(object, 'key');
  return key && fieldSet(key.arguments?.[0]);
}

/** The names of a `fields:` argument of a federation directive. */
export function fieldSet(
  node: { readonly value: { readonly kind: string; readonly value?: unknown } } | undefined,
): string[] {
  const value = node?.value.value;
  return typeof value === 'string' ? value.split(/[\s,]+/).filter((name) => name !== '') : [];
}

/** Fields of an extended type that another service owns but some @provides here answers. */
export function providedFields(definitions: Definitions): Map<string, Set<string>> {
  const provided = new Map<string, Set<string>>();
  for (const object of definitions.objects.values()) {
    for (const field of object.fields) {
      const provides = directive(field.node, 'provides');
      if (!provides) continue;
      const type = baseName(field.node.type);
      const names = provided.get(type) ?? new Set<string>();
      for (const name of fieldSet(provides.arguments?.[0])) names.add(name);
      provided.set(type, names);
    }
  }
  return provided;
}

/** The field that is the node's uid: of type ID, and not kept as a value for another service's key. */
export function idField(object: ObjectDefinition): FieldDefinition | undefined {
  return object.fields.find((f) => isIdType(f.node.type) && !isForeignKey(f));
}

export const isIdType = (type: TypeNode): boolean => baseName(type) === 'ID' && listDepth(type) === 0;

/** An ID that another service issues: kept as a value with an index, since it is no uid of ours. */
export function isForeignKey(field: FieldDefinition): boolean {
  return isIdType(field.node.type) && isExternal(field);
}

export const xidFields = (object: ObjectDefinition): FieldDefinition[] =>
  object.fields.filter((f) => directive(f.node, 'id') !== undefined);
