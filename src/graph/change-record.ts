import { JsonWriter, type Names } from '../base/index.js';
import { encodeValue, storedType, type StoredValue, writeValue } from '../values/index.js';
import type { AlterPart, Declaration } from './alter/part.js';
import type { BulkPart } from './bulk/part.js';
import { type ChangesPart, type NewPredicate, OP, payloadOf } from './delta.js';
import { decodeFacets } from './facet.js';
import type { GraphPart } from './part.js';
import { PLAIN } from './schema.js';
import { printPredicate, printType } from './text/print.js';

/** Which list of a public change record an entry stands in. */
export type EntryList = 'changes' | 'schema' | 'drops';

/** One entry of a public change record, as JSON text. */
interface ChangeEntry {
  readonly list: EntryList;
  readonly json: string;
}

/**
 * What one commit did to the graph, as the public may see it. Entries are decoded one at a time, by their number: a
 * commit may hold millions, and a reader that goes on in its middle pays for the rest only.
 */
export interface ChangeRecord {
  /** 0 for commits that show nothing: leased uids, steps of an index build, agents alone */
  readonly count: number;
  /** @param i from 0 to count - 1, in the order in which they took effect */
  entry(i: number): ChangeEntry;
  /** set when the commit did more than its record holds: the predicates that it did it to, as they are shown */
  readonly untold?: readonly string[];
}

const NOTHING: ChangeRecord = {
  count: 0,
  entry: (i) => {
    throw new RangeError(`no entry ${i}`);
  },
};

/**
 * The graph's part of a commit record as public changes; `undefined` is a commit without one. Names are shown as
 * `names` has them. Passwords (which are stored hashed) are told as changed and never shown.
 */
export function changeRecord(part: GraphPart | undefined, names: Names): ChangeRecord {
  switch (part?.kind) {
    case 'changes':
      return changesRecord(part, names);
    case 'alter': {
      const entries = [...alterEntries(part, names), ...(part.document ? [documentEntry(part.document.name)] : [])];
      return { count: entries.length, entry: (i) => entries[i] };
    }
    case 'document':
      return { count: 1, entry: () => documentEntry(part.name) };
    case 'bulk':
      return bulkRecord(part, names);
    default:
      return NOTHING;
  }
}

/** The text is served by GET /admin/schema; that it changed is what a follower must know. */
function documentEntry(name: string): ChangeEntry {
  return entry('schema', { op: 'document', name });
}

/** What a bulk load writes travels beside the records, and is seen by nobody before its last step. */
function bulkRecord(part: BulkPart, names: Names): ChangeRecord {
  if (part.step !== 'finish') return NOTHING;
  return { ...NOTHING, untold: part.loaded.map(({ record }) => names.shown(record.name)) };
}

function entry(list: EntryList, value: Readonly<Record<string, unknown>>): ChangeEntry {
  return { list, json: JSON.stringify(value) };
}

function changesRecord(part: ChangesPart, names: Names): ChangeRecord {
  const created = part.create.length;
  return {
    count: created + part.ops.length,
    entry: (i) =>
      i < created
        ? impliedPredicate(part.create[i], names)
        : { list: 'changes', json: change(part, i - created, names) },
  };
}

/** A mutation of an unknown predicate declares it; another transaction may have done so a moment before. */
function impliedPredicate(predicate: NewPredicate, names: Names): ChangeEntry {
  return predicateEntry({ ...PLAIN, ...predicate, indexes: [] }, names, { ifAbsent: true });
}

function predicateEntry(declaration: Declaration, names: Names, more: { readonly ifAbsent?: true } = {}): ChangeEntry {
  const indexes = declaration.indexes.map((index) => ({ ...index, ready: true }));
  const schema = printPredicate({ ...declaration, id: 0, indexes }, names);
  return entry('schema', { op: 'predicate', predicate: names.shown(declaration.name), schema, ...more });
}

function* alterEntries(part: AlterPart, names: Names): Iterable<ChangeEntry> {
  if (part.drop !== 'none') {
    yield entry('drops', { op: part.drop === 'all' ? 'drop_all' : 'drop_data' });
    return;
  }
  for (const declaration of part.declare) yield predicateEntry(declaration, names);
  for (const name of part.dropPredicates) yield entry('drops', { op: 'drop_attr', predicate: names.shown(name) });
  for (const type of part.types) {
    yield entry('schema', { op: 'type', type: names.shown(type.name), schema: printType(type, names) });
  }
  for (const name of part.dropTypes) yield entry('drops', { op: 'drop_type', type: names.shown(name) });
}

function change(part: ChangesPart, i: number, names: Names): string {
  const op = part.ops[i];
  const { value, facets } = payloadOf(part, i);
  const out = new JsonWriter(undefined, 256 + value.length + facets.length);
  out.ascii(op === OP.setValue || op === OP.setEdge ? '{"op":"set","uid":"0x' : '{"op":"delete","uid":"0x');
  out.ascii(part.uids[i].toString(16));
  out.ascii('","predicate":');
  out.string(names.shown(part.names[part.predicates[i]]));
  const lang = part.langs[part.langOf[i]];
  if (op === OP.setEdge || op === OP.deleteEdge) {
    out.ascii(`,"object":"0x${part.objects[i].toString(16)}"`);
  } else if (op === OP.setValue || op === OP.deleteValue) {
    writeShown(value, out);
    if (lang !== '') writeLang(lang, out);
  } else {
    out.ascii(',"all":true');
    if (op === OP.deleteLang) writeLang(lang, out);
  }
  if (facets.length > 0) writeFacets(facets, out);
  out.byte(0x7d);
  return out.view().toString('utf8');
}

function writeShown(value: StoredValue, out: JsonWriter): void {
  if (storedType(value) === 'password') {
    out.ascii(',"hidden":true');
    return;
  }
  out.ascii(',"value":');
  writeValue(value, out);
}

function writeLang(lang: string, out: JsonWriter): void {
  out.ascii(',"lang":');
  out.string(lang);
}

function writeFacets(bytes: Uint8Array, out: JsonWriter): void {
  let before = ',"facets":{';
  for (const { key, value } of decodeFacets(bytes)) {
    out.ascii(before);
    out.string(key);
    out.byte(0x3a);
    writeValue(encodeValue(value), out);
    before = ',';
  }
  out.byte(0x7d);
}
