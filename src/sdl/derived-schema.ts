import type { Names } from '../base/index.js';
import type { Field, Model, Search } from './model.js';
import { table } from '../base/index.js';

interface Line {
  readonly type: string;
  readonly indexes: Set<string>;
  reverse: boolean;
  lang: boolean;
  upsert: boolean;
}

const TYPES = table<string>({
  ID: 'string',
  Int: 'int',
  Int64: 'int',
  Float: 'float',
  String: 'string',
  Boolean: 'bool',
  DateTime: 'dateTime',
  Point: 'geo',
  Polygon: 'geo',
  MultiPolygon: 'geo',
});

/** Kinds of search whose index has another name. */
const INDEX: Readonly<Record<string, string>> = {
  int64: 'int',
  regexp: 'trigram',
  point: 'geo',
  polygon: 'geo',
  multiPolygon: 'geo',
};

/**
 * The graph's schema that a model needs, in the graph language: a line for each predicate and a definition for each
 * type. Names are stored names; fields that share a predicate share its line. In the default mode edges have @reverse,
 * which nested filters read; under `--compat dgraph` they have what the peer gives them.
 */
export function derivedSchema(model: Model, names: Names): string {
  const lines = new Map<string, Line>();
  const types = new Map<string, Set<string>>();
  for (const object of model.objects) {
    if (object.remote) continue;
    const listed = types.get(object.storedName) ?? new Set<string>();
    types.set(object.storedName, listed);
    for (const field of object.fields) addField(lines, listed, field, !names.dgraph);
    if (object.password) {
      listed.add(quoted(object.password.predicate));
      line(lines, object.password.predicate, 'password');
    }
  }
  return [...types].map(([name, fields]) => typeText(name, fields)).join('') + [...lines].map(lineText).join('');
}

function addField(lines: Map<string, Line>, listed: Set<string>, field: Field, reverse: boolean): void {
  if (!field.storage) return;
  const { predicate } = field.storage;
  if (field.storage.reverse) {
    // the forward edge belongs to the other type; this field needs its reverse
    line(lines, predicate, '[uid]').reverse = true;
    return;
  }
  listed.add(quoted(predicate));
  const entry = line(lines, predicate, storedType(field));
  entry.reverse ||= reverse && field.role === 'edge';
  entry.lang ||= field.storage.languages !== undefined;
  entry.upsert ||= isKey(field);
  for (const index of indexes(field)) entry.indexes.add(index);
}

function line(lines: Map<string, Line>, predicate: string, type: string): Line {
  const known = lines.get(predicate);
  if (known && (known.type === type || type === '[uid]')) return known;
  const entry: Line = known
    ? { ...known, type }
    : { type, indexes: new Set(), reverse: false, lang: false, upsert: false };
  lines.set(predicate, entry);
  return entry;
}

/** A value that names its node: by @id, or as the key of another service's entity. */
const isKey = (field: Field): boolean =>
  field.xid !== undefined || (field.role === 'scalar' && field.type.name === 'ID');

function storedType(field: Field): string {
  if (field.embedding) return 'float32vector';
  const base = field.role === 'edge' ? 'uid' : (TYPES[field.type.name] ?? 'string');
  return field.type.list ? `[${base}]` : base;
}

function indexes(field: Field): string[] {
  const kinds = field.search.map(indexText);
  if (field.type.kind === 'enum' && kinds.length === 0) return ['hash'];
  return field.role === 'scalar' && field.type.name === 'ID' ? ['hash'] : kinds;
}

function indexText({ kind, options }: Search): string {
  const given = Object.entries(options).map(([name, value]) => `${name}:"${value}"`);
  return given.length > 0 ? `${kind}(${given.join(', ')})` : (INDEX[kind] ?? kind);
}

/** A dot at the end would end the declaration. */
const quoted = (name: string): string => (/^~?[A-Za-z_](?:[\w.]*\w)?$/.test(name) ? name : `<${name}>`);

function typeText(name: string, fields: ReadonlySet<string>): string {
  return `type ${quoted(name)} {\n${[...fields].map((field) => `  ${field}\n`).join('')}}\n`;
}

function lineText([predicate, entry]: readonly [string, Line]): string {
  const directives = [
    ...(entry.indexes.size > 0 ? [`@index(${[...entry.indexes].sort().join(', ')})`] : []),
    ...(entry.lang ? ['@lang'] : []),
    ...(entry.upsert ? ['@upsert'] : []),
    ...(entry.reverse ? ['@reverse'] : []),
  ];
  return `${quoted(predicate)}: ${[entry.type, ...directives].join(' ')} .\n`;
}
