import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type DocumentNode,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  type InputObjectTypeDefinitionNode,
  type InterfaceTypeDefinitionNode,
  type InterfaceTypeExtensionNode,
  Kind,
  type NameNode,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  type TypeNode,
  type UnionTypeDefinitionNode,
} from 'graphql';
import type { Position } from '../base/index.js';

/** An object type or interface as written, `extend type` included. */
export type ObjectNode =
  | ObjectTypeDefinitionNode
  | ObjectTypeExtensionNode
  | InterfaceTypeDefinitionNode
  | InterfaceTypeExtensionNode;

/** A field with the definition that introduced it. */
export interface FieldDefinition {
  readonly node: FieldDefinitionNode;
  readonly name: string;
  /** the type whose definition holds the node */
  readonly owner: ObjectDefinition;
}

export interface ObjectDefinition {
  readonly kind: 'object' | 'interface';
  readonly name: string;
  readonly node: ObjectNode;
  /** of the node and, for interfaces, nothing inherited */
  readonly directives: readonly ConstDirectiveNode[];
  /** every interface, the inherited ones of interfaces included, each once, in order */
  readonly interfaces: readonly string[];
  /** `extend type` or @extends */
  readonly extended: boolean;
  readonly own: readonly FieldDefinition[];
  /** interface fields first; a field that the type repeats is the interface's, but for a mark that it is never null */
  readonly fields: readonly FieldDefinition[];
}

/** The definitions of a document by name, before any rule has passed: lookups never throw. */
export interface Definitions {
  readonly text: string;
  readonly document: DocumentNode;
  /** object types and interfaces, without Query, Mutation and Subscription; extended ones last */
  readonly objects: ReadonlyMap<string, ObjectDefinition>;
  readonly enums: ReadonlyMap<string, EnumTypeDefinitionNode>;
  readonly unions: ReadonlyMap<string, UnionTypeDefinitionNode>;
  readonly inputs: ReadonlyMap<string, InputObjectTypeDefinitionNode>;
  readonly roots: readonly { readonly root: 'Query' | 'Mutation'; readonly node: ObjectNode }[];
  /** names of secrets that the comments declare */
  readonly secrets: ReadonlySet<string>;
}

const isRoot = (name: string): name is 'Query' | 'Mutation' => name === 'Query' || name === 'Mutation';

const isObjectNode = (node: { readonly kind: Kind }): node is ObjectNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION ||
  node.kind === Kind.OBJECT_TYPE_EXTENSION ||
  node.kind === Kind.INTERFACE_TYPE_DEFINITION ||
  node.kind === Kind.INTERFACE_TYPE_EXTENSION;

const isExtension = (node: ObjectNode): boolean =>
  node.kind === Kind.OBJECT_TYPE_EXTENSION || node.kind === Kind.INTERFACE_TYPE_EXTENSION;

const isExtended = (node: ObjectNode): boolean => isExtension(node) || directive(node, 'extends') !== undefined;

/** Groups a document's definitions. Of definitions with one name the first counts; a rule reports the others. */
export function readDefinitions(text: string, document: DocumentNode, secrets: ReadonlySet<string>): Definitions {
  const nodes = new Map<string, ObjectNode>();
  const enums = new Map<string, EnumTypeDefinitionNode>();
  const unions = new Map<string, UnionTypeDefinitionNode>();
  const inputs = new Map<string, InputObjectTypeDefinitionNode>();
  const roots: { root: 'Query' | 'Mutation'; node: ObjectNode }[] = [];
  const putNew = <V>(map: Map<string, V>, name: string, value: V): void => {
    if (!map.has(name)) map.set(name, value);
  };
  for (const node of document.definitions) {
    if (isObjectNode(node)) {
      const name = node.name.value;
      const object = node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.OBJECT_TYPE_EXTENSION;
      if (isRoot(name) && object) roots.push({ root: name, node });
      else putNew(nodes, name, node);
    } else if (node.kind === Kind.ENUM_TYPE_DEFINITION) putNew(enums, node.name.value, node);
    else if (node.kind === Kind.UNION_TYPE_DEFINITION) putNew(unions, node.name.value, node);
    else if (node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) putNew(inputs, node.name.value, node);
  }
  return { text, document, objects: readObjects(nodes), enums, unions, inputs, roots, secrets };
}

function readObjects(nodes: ReadonlyMap<string, ObjectNode>): Map<string, ObjectDefinition> {
  const own = new Map<string, ObjectDefinition>();
  for (const [name, node] of nodes) own.set(name, ownDefinition(name, node, allInterfaces(node, nodes)));
  const objects = new Map<string, ObjectDefinition>();
  const ordered = [...own.values()];
  for (const object of [...ordered.filter((o) => !o.extended), ...ordered.filter((o) => o.extended)]) {
    objects.set(object.name, { ...object, fields: allFields(object, own) });
  }
  return objects;
}

function ownDefinition(name: string, node: ObjectNode, interfaces: readonly string[]): ObjectDefinition {
  const isInterface = node.kind === Kind.INTERFACE_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_EXTENSION;
  const own: FieldDefinition[] = [];
  const definition: ObjectDefinition = {
    kind: isInterface ? 'interface' : 'object',
    name,
    node,
    directives: node.directives ?? [],
    interfaces,
    extended: isExtended(node),
    own,
    fields: own,
  };
  for (const field of node.fields ?? []) own.push({ node: field, name: field.name.value, owner: definition });
  return definition;
}

/** The interfaces of a definition with those that they implement in turn; a circle ends where it meets itself. */
function allInterfaces(node: ObjectNode, nodes: ReadonlyMap<string, ObjectNode>): string[] {
  const found = new Set<string>();
  const met = new Set([node.name.value]);
  const visit = (of: ObjectNode): void => {
    for (const named of of.interfaces ?? []) {
      const name = named.name.value;
      if (met.has(name)) continue;
      met.add(name);
      const next = nodes.get(name);
      if (next) visit(next);
      found.add(name);
    }
  };
  visit(node);
  return [...found];
}

function allFields(object: ObjectDefinition, own: ReadonlyMap<string, ObjectDefinition>): FieldDefinition[] {
  const byName = new Map<string, FieldDefinition>();
  const inherited = object.interfaces.flatMap((name) => own.get(name)?.own ?? []);
  for (const field of [...inherited, ...object.own]) {
    const known = byName.get(field.name);
    byName.set(field.name, known ? marked(known, field.node.type) : field);
  }
  return [...byName.values()];
}

/** The field, never null where `again` is not. */
function marked(field: FieldDefinition, again: TypeNode): FieldDefinition {
  const { type } = field.node;
  if (again.kind !== Kind.NON_NULL_TYPE || type.kind === Kind.NON_NULL_TYPE) return field;
  return { ...field, node: { ...field.node, type: { kind: Kind.NON_NULL_TYPE, type, loc: again.loc } } };
}

interface Directed {
  readonly directives?: readonly ConstDirectiveNode[];
}

/** The directive with one of the names; undefined where it does not stand. */
export function directive(node: Directed, ...names: string[]): ConstDirectiveNode | undefined {
  return node.directives?.find((d) => names.includes(d.name.value));
}

/** @dgraph, or its other spelling @service. */
export const mapping = (node: Directed): ConstDirectiveNode | undefined => directive(node, 'dgraph', 'service');

/** An argument's value as written. */
export function argument(node: ConstDirectiveNode | undefined, name: string): ConstValueNode | undefined {
  return node?.arguments?.find((a) => a.name.value === name)?.value;
}

/** A string argument, an enum value taken as its name; undefined where it is absent or something else. */
export function text(value: ConstValueNode | undefined): string | undefined {
  return value?.kind === Kind.STRING || value?.kind === Kind.ENUM ? value.value : undefined;
}

/** A Boolean, also as "true" or "false" in quotes. */
export function flag(value: ConstValueNode | undefined): boolean | undefined {
  if (value?.kind === Kind.BOOLEAN) return value.value;
  const word = text(value);
  return word === 'true' ? true : word === 'false' ? false : undefined;
}

/** The items of a list of strings; a single string counts as a list of one. */
export function texts(value: ConstValueNode | undefined): string[] {
  if (value?.kind === Kind.LIST) return value.values.flatMap((item) => text(item) ?? []);
  const one = text(value);
  return one === undefined ? [] : [one];
}

/** A field of an object value. */
export function member(value: ConstValueNode | undefined, name: string): ConstValueNode | undefined {
  return value?.kind === Kind.OBJECT ? value.fields.find((f) => f.name.value === name)?.value : undefined;
}

/** The name under all lists and exclamation marks. */
export function baseName(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : baseName(type.type);
}

export function listDepth(type: TypeNode): number {
  if (type.kind === Kind.NAMED_TYPE) return 0;
  return listDepth(type.type) + (type.kind === Kind.LIST_TYPE ? 1 : 0);
}

/** The type as text without exclamation marks: what two definitions of one predicate are compared by. */
export function looseText(type: TypeNode): string {
  if (type.kind === Kind.NAMED_TYPE) return type.name.value;
  return type.kind === Kind.LIST_TYPE ? `[${looseText(type.type)}]` : looseText(type.type);
}

interface Located {
  readonly loc?: { readonly startToken: { readonly line: number; readonly column: number } };
}

/** Where a node starts; a directive's position is that of its name. */
export function position(node: Located & { readonly name?: NameNode }): Position {
  const token = (node.name?.loc ?? node.loc)?.startToken;
  return { line: token?.line ?? 1, column: token?.column ?? 1 };
}

/** A definition of an object type or interface, or an extension of one. */
export const isObject = isObjectNode;
