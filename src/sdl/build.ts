import type { Steps } from '../base/index.js';
import { argument, type Definitions, directive, flag, member, type ObjectDefinition, position } from './definition.js';
import { type ConstDirectiveNode, Kind } from 'graphql';
import { readAuthRule } from './auth-rule.js';
import { type BuildContext, buildField, customOf, typeRef } from './build-field.js';
import type { Declarations } from './comment.js';
import { implementersOf, inverseMap } from './inverse-map.js';
import { isRemote, keyFields, providedFields } from './lookup.js';
import type {
  AuthAction,
  AuthRule,
  AuthRules,
  EnumType,
  Field,
  Generate,
  InputType,
  Model,
  NamedType,
  ObjectType,
  Password,
  RootField,
  UnionType,
} from './model.js';
import { passwordOf, storedName } from './storage.js';

/** The model of definitions that have passed every rule. */
export function* buildModel(definitions: Definitions, declarations: Declarations): Steps<Model> {
  const context: BuildContext = {
    definitions,
    inverses: inverseMap(definitions),
    provided: providedFields(definitions),
  };
  const implementers = implementersOf(definitions);
  const objects = new Map<string, ObjectType>();
  for (const object of definitions.objects.values()) {
    objects.set(object.name, deepFreeze(buildObject(context, object, implementers.get(object.name) ?? [])));
    yield;
  }
  const unions = [...definitions.unions.values()].map(buildUnion);
  const enums = [...definitions.enums.values()].map(buildEnum);
  const inputs = [...definitions.inputs.values()].map(buildInput);
  const roots = definitions.roots.flatMap(({ root, node }) =>
    (node.fields ?? []).map((field) => buildRoot(definitions, root, field)),
  );
  return deepFreeze({
    text: definitions.text,
    types: inOrder(definitions, objects, [...unions, ...enums, ...inputs]),
    objects: [...objects.values()],
    unions,
    enums,
    inputs,
    object: (name: string) => objects.get(name),
    queries: roots.filter((field) => field.root === 'Query'),
    mutations: roots.filter((field) => field.root === 'Mutation'),
    secrets: declarations.secrets,
    ...(declarations.authorization ? { authorization: declarations.authorization } : {}),
    allowedOrigins: declarations.allowedOrigins,
    federated: [...objects.values()].some((object) => object.federation.key !== undefined),
  });
}

/** Every type in the order of its definition; extended ones last. */
function inOrder(
  definitions: Definitions,
  objects: ReadonlyMap<string, ObjectType>,
  others: readonly NamedType[],
): Map<string, NamedType> {
  const byName = new Map<string, NamedType>([...objects, ...others.map((type) => [type.name, type] as const)]);
  const names = definitions.document.definitions.flatMap((node) =>
    'name' in node && node.name ? node.name.value : [],
  );
  const extended = (name: string): boolean => objects.get(name)?.federation.extended === true;
  const ordered = [...names.filter((name) => !extended(name)), ...names.filter(extended)];
  return new Map(ordered.flatMap((name) => (byName.has(name) ? [[name, byName.get(name)!] as const] : [])));
}

function buildObject(context: BuildContext, object: ObjectDefinition, implementers: readonly string[]): ObjectType {
  const { definitions } = context;
  const fields = object.fields.map((field) => buildField(context, object, field));
  const byName = new Map(fields.map((field) => [field.name, field]));
  const remote = isRemote(object);
  const password = remote ? undefined : buildPassword(definitions, object);
  const auth = buildAuth(object);
  const key = keyFields(object);
  const { description } = object.node as { readonly description?: { readonly value: string } };
  const isObject = (name: string): boolean => definitions.objects.get(name)?.kind === 'object';
  return {
    kind: object.kind,
    name: object.name,
    ...(description ? { description: description.value } : {}),
    storedName: storedName(object),
    interfaces: object.interfaces,
    members: object.kind === 'object' ? [object.name] : implementers.filter(isObject),
    fields,
    field: (name: string): Field | undefined => byName.get(name),
    ...idOf(fields),
    xids: fields.filter((field) => field.xid !== undefined),
    ...(password ? { password } : {}),
    ...(auth ? { auth } : {}),
    remote,
    generate: buildGenerate(object, remote),
    federation: { ...(key ? { key } : {}), extended: object.extended },
  };
}

function idOf(fields: readonly Field[]): { readonly id?: Field } {
  const id = fields.find((field) => field.role === 'id');
  return id ? { id } : {};
}

function buildPassword(definitions: Definitions, object: ObjectDefinition): Password | undefined {
  for (const name of [...object.interfaces, object.name]) {
    const owner = definitions.objects.get(name);
    const own = owner && passwordOf(owner);
    if (own) return own;
  }
  return undefined;
}

function buildAuth(object: ObjectDefinition): AuthRules | undefined {
  const node = directive(object, 'auth');
  if (!node) return undefined;
  const rules: { [A in AuthAction]?: AuthRule } = {};
  for (const { name, value } of node.arguments ?? []) {
    const rule = readAuthRule(value, object.name, () => {});
    if (rule) rules[name.value as AuthAction] = rule;
  }
  return rules;
}

function buildGenerate(object: ObjectDefinition, remote: boolean): Generate {
  const withSubscription = directive(object, 'withSubscription') !== undefined;
  const node: ConstDirectiveNode | undefined = directive(object, 'generate');
  const on = (part: string, name: string): boolean => !remote && (flag(member(argument(node, part), name)) ?? true);
  return {
    get: on('query', 'get'),
    query: on('query', 'query'),
    password: on('query', 'password'),
    aggregate: on('query', 'aggregate'),
    add: object.kind === 'object' && on('mutation', 'add'),
    update: on('mutation', 'update'),
    delete: on('mutation', 'delete'),
    subscription: !remote && (withSubscription || flag(argument(node, 'subscription')) === true),
  };
}

type UnionNode = Definitions['unions'] extends ReadonlyMap<string, infer N> ? N : never;
type EnumNode = Definitions['enums'] extends ReadonlyMap<string, infer N> ? N : never;
type InputNode = Definitions['inputs'] extends ReadonlyMap<string, infer N> ? N : never;
type RootNode = NonNullable<Definitions['roots'][number]['node']['fields']>[number];

const described = (node: { readonly description?: { readonly value: string } }): { readonly description?: string } =>
  node.description ? { description: node.description.value } : {};

function buildUnion(node: UnionNode): UnionType {
  return {
    kind: 'union',
    name: node.name.value,
    ...described(node),
    members: (node.types ?? []).map((member) => member.name.value),
    remote: directive(node, 'remote') !== undefined,
  };
}

function buildEnum(node: EnumNode): EnumType {
  const values = (node.values ?? []).map((value) => {
    const deprecated = directive(value, 'deprecated');
    const reason = argument(deprecated, 'reason');
    return {
      name: value.name.value,
      ...described(value),
      ...(deprecated ? { deprecated: reason?.kind === Kind.STRING ? reason.value : 'No longer supported' } : {}),
    };
  });
  return { kind: 'enum', name: node.name.value, ...described(node), values };
}

const buildInput = (node: InputNode): InputType => ({
  kind: 'input',
  name: node.name.value,
  ...described(node),
  fields: node.fields ?? [],
});

function buildRoot(definitions: Definitions, root: 'Query' | 'Mutation', node: RootNode): RootField {
  const where = `${root}.${node.name.value}`;
  const deprecated = directive(node, 'deprecated');
  const reason = argument(deprecated, 'reason');
  return {
    name: node.name.value,
    ...described(node),
    position: position(node),
    owner: root,
    root,
    type: typeRef(definitions, node.type),
    arguments: node.arguments ?? [],
    role: 'custom',
    restrict: false,
    search: [],
    embedding: false,
    custom: customOf(node, where)!,
    withSubscription: directive(node, 'withSubscription') !== undefined,
    ...(deprecated ? { deprecated: reason?.kind === Kind.STRING ? reason.value : 'No longer supported' } : {}),
    requires: [],
  };
}

/** Freezes plain objects and lists, not the syntax nodes and secrets they point to. */
function deepFreeze<T>(value: T): T {
  const plain = Array.isArray(value) || (typeof value === 'object' && value && isPlain(value));
  if (!plain || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value as object)) deepFreeze(part);
  return value;
}

const isPlain = (value: object): boolean =>
  Object.getPrototypeOf(value) === Object.prototype && !('loc' in value && 'kind' in value);
