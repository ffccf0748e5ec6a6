import type { ConstDirectiveNode, FieldDefinitionNode, TypeNode } from 'graphql';
import { type Definitions, directive, type FieldDefinition, type ObjectDefinition } from './definition.js';
import { isCustom, isRemote } from './lookup.js';

/** A name that a template may use: an argument of a root field, or a sibling of a type's field. */
interface TemplateName {
  readonly type: TypeNode;
  /** the sibling; undefined for an argument */
  readonly field?: FieldDefinition;
}

/** A place where @custom stands. */
export interface CustomSite {
  readonly node: ConstDirectiveNode;
  readonly field: FieldDefinitionNode;
  /** `Query.user` */
  readonly where: string;
  readonly root?: 'Query' | 'Mutation';
  /** the type of a type's field */
  readonly object?: ObjectDefinition;
  readonly names: ReadonlyMap<string, TemplateName>;
  /** "argument" or "field", for messages */
  readonly what: string;
}

/** Every @custom of the definitions, root fields first. Fields of remote types are left out: a rule refuses them. */
export function customSites(definitions: Definitions): CustomSite[] {
  const sites: CustomSite[] = [];
  for (const { root, node } of definitions.roots) {
    for (const field of node.fields ?? []) {
      const custom = directive(field, 'custom');
      if (!custom) continue;
      const names = new Map((field.arguments ?? []).map((a) => [a.name.value, { type: a.type }]));
      sites.push({ node: custom, field, where: `${root}.${field.name.value}`, root, names, what: 'argument' });
    }
  }
  for (const object of definitions.objects.values()) {
    if (isRemote(object)) continue;
    const names = new Map(object.fields.map((field) => [field.name, { type: field.node.type, field }]));
    for (const field of object.own) {
      const custom = directive(field.node, 'custom');
      if (!custom) continue;
      sites.push({
        node: custom,
        field: field.node,
        where: `${object.name}.${field.name}`,
        object,
        names,
        what: 'field',
      });
    }
  }
  return sites;
}

/** Why a template cannot use a name, as message and fix; undefined when it can. `place` is "graphql", "url" or "body". */
export function refusedName(site: CustomSite, name: string, place: string): readonly [string, string] | undefined {
  const own = site.field.name.value;
  const known = site.names.get(name);
  if (known === undefined) {
    const list = [...site.names.keys()].filter((one) => one !== own);
    const fix = list.length > 0 ? `Use one of ${list.join(', ')}.` : `Add the ${site.what} ${name}.`;
    return [`${place} uses $${name}, but there is no ${site.what} ${name}`, fix];
  }
  if (known.field === undefined) return undefined;
  if (name === own) return [`${place} uses $${name}, the field itself`, 'Use stored fields.'];
  if (!isCustom(known.field)) return undefined;
  return [`${place} uses $${name}, which @custom resolves as well`, 'Use stored fields.'];
}
