import { type Names, table } from '../base/index.js';
import { tokenizer } from '../values/index.js';
import type { Field, Model, Search } from './model.js';

/** What a predicate is declared with beside its type and its indexes. */
const FLAGS = ['lang', 'upsert', 'reverse', 'count', 'unique', 'noconflict'] as const;

type Flag = (typeof FLAGS)[number];
type IndexKind = Parameters<typeof tokenizer>[0];

interface Line {
  readonly type: string;
  /** as they are written, by their kinds */
  readonly indexes: Map<IndexKind, string>;
  readonly flags: Set<Flag>;
}

/** A predicate as the graph has it. */
interface Declared extends Readonly<Record<Flag, boolean>> {
  readonly type: string;
  readonly list: boolean;
  readonly indexes: readonly { readonly kind: IndexKind; readonly options: Readonly<Record<string, string>> }[];
}

/** What the graph has of the names that definitions take. */
interface Standing {
  predicate(name: string): Declared | undefined;
  type(name: string): { readonly fields: readonly string[] } | undefined;
}

/** What was declared in the graph language beside the definitions is to stay. */
export interface Kept {
  readonly schema: Standing;
  /** the definitions that were served until now: what is only theirs goes with them */
  readonly before: Model | undefined;
}

interface Derived {
  readonly lines: Map<string, Line>;
  readonly types: Map<string, Set<string>>;
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
 * @param kept absent: the lines take the place of whatever was declared before, as with the peer
 */
export function derivedSchema(model: Model, names: Names, kept?: Kept): string {
  const derived = derive(model, names);
  if (kept) keep(derived, kept.schema, kept.before && derive(kept.before, names));
  const { types, lines } = derived;
  return [...types].map(([name, fields]) => typeText(name, fields)).join('') + [...lines].map(lineText).join('');
}

function derive(model: Model, names: Names): Derived {
  const lines = new Map<string, Line>();
  const types = new Map<string, Set<string>>();
  for (const object of model.objects) {
    if (object.remote) continue;
    const listed = types.get(object.storedName) ?? new Set<string>();
    types.set(object.storedName, listed);
    for (const field of object.fields) addField(lines, listed, field, !names.dgraph);
    if (object.password) {
      listed.add(object.password.predicate);
      line(lines, object.password.predicate, 'password');
    }
  }
  return { lines, types };
}

function addField(lines: Map<string, Line>, listed: Set<string>, field: Field, reverse: boolean): void {
  if (!field.storage) return;
  const { predicate } = field.storage;
  if (field.storage.reverse) {
    // the forward edge belongs to the other type; this field needs its reverse
    line(lines, predicate, '[uid]').flags.add('reverse');
    return;
  }
  listed.add(predicate);
  const { flags, indexes } = line(lines, predicate, storedType(field));
  if (reverse && field.role === 'edge') flags.add('reverse');
  if (field.storage.languages !== undefined) flags.add('lang');
  if (isKey(field)) flags.add('upsert');
  for (const [kind, text] of indexesOf(field)) indexes.set(kind, text);
}

function line(lines: Map<string, Line>, predicate: string, type: string): Line {
  const known = lines.get(predicate);
  if (known && (known.type === type || type === '[uid]')) return known;
  const entry: Line = known ? { ...known, type } : { type, indexes: new Map(), flags: new Set() };
  lines.set(predicate, entry);
  return entry;
}

function keep({ lines, types }: Derived, schema: Standing, before: Derived | undefined): void {
  for (const [name, entry] of lines) {
    const declared = schema.predicate(name);
    if (declared) keepLine(entry, declared, before?.lines.get(name));
  }
  for (const [name, listed] of types) {
    const gone = before?.types.get(name);
    for (const field of schema.type(name)?.fields ?? []) {
      // a predicate that was dropped may still be named
      const isStored = schema.predicate(field.replace(/^~/, '')) !== undefined;
      if (isStored && !gone?.has(field)) listed.add(field);
    }
  }
}

/** A predicate of another type is another one, for which nothing of before was meant. */
function keepLine(entry: Line, declared: Declared, before: Line | undefined): void {
  const type = declared.list ? `[${declared.type}]` : declared.type;
  if (type !== entry.type.toLowerCase()) return;
  // texts in languages stay with their predicate, and have no name without @lang
  const own = FLAGS.filter((flag) => declared[flag] && (flag === 'lang' || !before?.flags.has(flag)));
  for (const flag of own) entry.flags.add(flag);
  // these two stand on an index, be it one that the definitions had
  const stands = own.includes('upsert') || own.includes('unique');
  const isSorted = [...entry.indexes.keys()].some((kind) => tokenizer(kind).sortable);
  for (const { kind, options } of declared.indexes) {
    if (entry.indexes.has(kind) || (!stands && before?.indexes.has(kind))) continue;
    if (isSorted && tokenizer(kind).sortable) continue;
    entry.indexes.set(kind, written(kind, options));
  }
}

/** A value that names its node: by @id, or as the key of another service's entity. */
const isKey = (field: Field): boolean =>
  field.xid !== undefined || (field.role === 'scalar' && field.type.name === 'ID');

function storedType(field: Field): string {
  if (field.embedding) return 'float32vector';
  const base = field.role === 'edge' ? 'uid' : (TYPES[field.type.name] ?? 'string');
  return field.type.list ? `[${base}]` : base;
}

function indexesOf(field: Field): (readonly [kind: IndexKind, text: string])[] {
  const kinds = field.search.map(indexOf);
  const isHashed =
    field.type.kind === 'enum' ? kinds.length === 0 : field.role === 'scalar' && field.type.name === 'ID';
  return isHashed ? [['hash', 'hash']] : kinds;
}

function indexOf({ kind: search, options }: Search): readonly [kind: IndexKind, text: string] {
  const kind = (INDEX[search] ?? search) as IndexKind;
  return [kind, written(kind, options)];
}

function written(kind: IndexKind, options: Readonly<Record<string, string>>): string {
  const given = Object.entries(options).map(([name, value]) => `${name}:"${value}"`);
  return given.length > 0 ? `${kind}(${given.join(', ')})` : kind;
}

/** A dot at the end would end the declaration. */
const quoted = (name: string): string => (/^~?[A-Za-z_](?:[\w.]*\w)?$/.test(name) ? name : `<${name}>`);

function typeText(name: string, fields: ReadonlySet<string>): string {
  return `type ${quoted(name)} {\n${[...fields].map((field) => `  ${quoted(field)}\n`).join('')}}\n`;
}

function lineText([predicate, { type, indexes, flags }]: readonly [string, Line]): string {
  const directives = [
    ...(indexes.size > 0 ? [`@index(${[...indexes.values()].sort().join(', ')})`] : []),
    ...FLAGS.filter((flag) => flags.has(flag)).map((flag) => `@${flag}`),
  ];
  return `${quoted(predicate)}: ${[type, ...directives].join(' ')} .\n`;
}
