import { Kind, print, type TypeNode } from 'graphql';
import { readCustom } from './custom.js';
import {
  argument,
  baseName,
  type Definitions,
  directive,
  type FieldDefinition,
  flag,
  member,
  type ObjectDefinition,
  position,
  text,
  texts,
} from './definition.js';
import type { InverseEnd } from './inverse-map.js';
import { fieldSet, isCustom, isExternal, isForeignKey, isIdType, isRemote, keyFields, kindOf } from './lookup.js';
import type { Custom, DefaultValue, Field, Search, SearchKind, TypeRef } from './model.js';
import { ENUM_SEARCHES, readSearch, SEARCHES } from './scalar.js';
import { storageOf } from './storage.js';

/** What building fields needs to know of all definitions. */
export interface BuildContext {
  readonly definitions: Definitions;
  readonly inverses: ReadonlyMap<string, InverseEnd>;
  /** fields of extended types that some @provides answers, by type */
  readonly provided: ReadonlyMap<string, ReadonlySet<string>>;
}

export function typeRef(definitions: Definitions, node: TypeNode): TypeRef {
  const name = baseName(node);
  const nonNull = node.kind === Kind.NON_NULL_TYPE;
  return {
    name,
    kind: kindOf(definitions, name) ?? 'scalar',
    list: (nonNull ? node.type : node).kind === Kind.LIST_TYPE,
    nonNull,
    text: print(node),
    node,
  };
}

/** A field as `object` has it; its definition may be an interface's. The definitions have passed every rule. */
export function buildField(context: BuildContext, object: ObjectDefinition, field: FieldDefinition): Field {
  const { node, name } = field;
  const type = typeRef(context.definitions, node.type);
  const role = roleOf(context, object, field, type);
  const stored = role === 'scalar' || role === 'edge';
  const id = directive(node, 'id');
  const deprecated = directive(node, 'deprecated');
  const inverse = context.inverses.get(`${object.name}.${name}`);
  const defaults = stored ? defaultsOf(field) : undefined;
  const response = text(argument(directive(node, 'remoteResponse'), 'name'));
  const custom = role === 'custom' ? customOf(node, `${field.owner.name}.${name}`) : undefined;
  return {
    name,
    ...(node.description ? { description: node.description.value } : {}),
    position: position(node),
    owner: field.owner.name,
    type,
    arguments: node.arguments ?? [],
    role,
    ...(stored ? { storage: storageOf(field) } : {}),
    ...(id && stored ? { xid: { interface: flag(argument(id, 'interface')) ?? false } } : {}),
    ...(inverse && role === 'edge' ? { inverse } : {}),
    restrict: directive(node, 'restrict') !== undefined,
    search: role === 'scalar' ? searchOf(field, type) : [],
    ...(defaults ? { default: defaults } : {}),
    embedding: directive(node, 'embedding') !== undefined,
    ...(custom ? { custom } : {}),
    ...(response ? { responseName: response } : {}),
    ...(deprecated ? { deprecated: text(argument(deprecated, 'reason')) ?? 'No longer supported' } : {}),
    requires: fieldSet(directive(node, 'requires')?.arguments?.[0]),
  };
}

function roleOf(context: BuildContext, object: ObjectDefinition, field: FieldDefinition, type: TypeRef): Field['role'] {
  if (isRemote(object)) return 'remote';
  if (isCustom(field)) return 'custom';
  if (isExternal(field)) {
    const here = keyFields(object)?.includes(field.name) || context.provided.get(object.name)?.has(field.name);
    if (!here) return 'external';
  } else if (isIdType(field.node.type)) return 'id';
  return type.kind === 'object' || type.kind === 'interface' || type.kind === 'union' ? 'edge' : 'scalar';
}

/** The directive that resolves a field outside the store, parsed. */
export function customOf(node: FieldDefinition['node'], where: string): Custom | undefined {
  const lambda = directive(node, 'lambda');
  if (lambda) return { kind: 'lambda' };
  const custom = directive(node, 'custom');
  return custom && readCustom(custom, where, () => {});
}

function defaultsOf(field: FieldDefinition): Field['default'] {
  const node = directive(field.node, 'default');
  if (!node) return undefined;
  const read = (action: string): DefaultValue | undefined => {
    const value = text(member(argument(node, action), 'value'));
    if (value === undefined) return undefined;
    return value === '$now' ? { kind: 'now' } : { kind: 'literal', text: value };
  };
  const add = read('add');
  const update = read('update');
  return { ...(add ? { add } : {}), ...(update ? { update } : {}) };
}

const bare = (kind: SearchKind): Search => ({ kind, options: {} });

/** An embedding without options is searched by euclidean distance. */
const EMBEDDING: Search = { kind: 'hnsw', options: { metric: 'euclidean', exponent: '4' } };

function searchOf(field: FieldDefinition, type: TypeRef): Search[] {
  const node = directive(field.node, 'search');
  const entries = texts(argument(node, 'by')).map(readSearch);
  const written = entries.map(({ kind, options }) => ({ kind: kind as SearchKind, options }));
  if (directive(field.node, 'embedding')) return written.length > 0 ? written : [EMBEDDING];
  if (isForeignKey(field)) return [];
  const searches = node && written.length === 0 ? [bare(defaultSearch(type))] : written;
  if (!directive(field.node, 'id')) return searches;
  if (type.name !== 'String') return searches.length > 0 ? searches : [bare(defaultSearch(type))];
  const exact = searches.some(({ kind }) => kind === 'hash' || kind === 'exact');
  return exact ? searches : [...searches, bare('hash')];
}

const defaultSearch = (type: TypeRef): SearchKind =>
  type.kind === 'enum' ? ENUM_SEARCHES[0] : (SEARCHES[type.name]?.[0] ?? 'term');
