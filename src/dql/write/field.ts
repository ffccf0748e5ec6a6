import type { JsonWriter } from '../../base/index.js';
import { type Facets, hexUid } from '../../graph/index.js';
import { encodeValue, type Value, writeValue } from '../../values/index.js';
import { GLOBAL_UID, valueAt } from '../run/index.js';
import { languageKey, shownFacets } from './key.js';
import { type Layout, prefixOf } from './layout.js';

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Writes `"key":` with a comma before all but the first member of an object or list. */
export function writePrefix(out: JsonWriter, prefix: Buffer): void {
  separate(out);
  out.bytes(prefix);
}

/** A comma, unless a list, an object or the value of a key has just begun. */
export function separate(out: JsonWriter): void {
  const { last } = out;
  if (last !== OPEN && last !== OPEN_LIST && last !== COLON) out.byte(COMMA);
}

/** A uid as clients see it; what stands for all nodes shows as the largest uid. */
export function uidText(uid: number): string {
  return uid === GLOBAL_UID ? '0xffffffffffffffff' : hexUid(uid);
}

const QUOTE = 0x22;
/** a uid in quotes, filled from its end */
const digits = new Uint8Array(24);

/** A uid as a JSON string, digit by digit: most answers are full of them. */
export function writeUid(out: JsonWriter, uid: number): void {
  if (uid === GLOBAL_UID) {
    out.ascii(`"${uidText(uid)}"`);
    return;
  }
  let at = digits.length;
  digits[--at] = QUOTE;
  let rest = uid;
  do {
    const low = rest >>> 0;
    const digit = low & 15;
    digits[--at] = digit < 10 ? 0x30 + digit : 0x57 + digit;
    rest = rest < 0x1_0000_0000 ? low >>> 4 : Math.floor(rest / 16);
  } while (rest > 0);
  digits[--at] = 0x78;
  digits[--at] = 0x30;
  digits[--at] = QUOTE;
  out.bytes(digits, at);
}

/** A computed value. What JSON has no number for is null. */
export function writeComputed(value: Value, out: JsonWriter): void {
  if (value.type === 'float' && !Number.isFinite(value.value)) out.ascii('null');
  else writeValue(encodeValue(value), out);
}

/** Where members go: `begin` is told the key of the next one and answers with the writer for its value. */
export interface MemberSink {
  begin(prefix: Buffer): JsonWriter;
}

/** Members of an object that is being written. */
export class ObjectMembers implements MemberSink {
  constructor(readonly out: JsonWriter) {}

  begin(prefix: Buffer): JsonWriter {
    writePrefix(this.out, prefix);
    return this.out;
  }
}

/** Gives everything a field says of the uid at `at` but its edges; nothing when it has nothing to say. */
export function writeScalar(field: Layout, uid: number, at: number, sink: MemberSink): void {
  const { node } = field;
  switch (field.kind) {
    case 'value':
      writeSingle(field, at, sink);
      break;
    case 'uid':
      writeUid(sink.begin(field.prefix), uid);
      break;
    case 'counts':
      sink.begin(field.prefix).integer(node.counts?.[at] ?? 0);
      break;
    case 'languages':
      writeLanguages(field, at, sink);
      break;
    case 'list':
      writeList(field, at, sink);
      break;
    case 'computed': {
      const value = valueAt(node.computed, uid);
      if (value !== undefined) writeComputed(value, sink.begin(field.prefix));
      break;
    }
    default:
      break;
  }
}

function writeSingle(field: Layout, at: number, sink: MemberSink): void {
  const { values, valueFacets } = field.node;
  if (!values?.seek(at)) return;
  if (valueFacets) writeFacets(field, valueFacets[at], sink);
  writeValue(values.bytes, sink.begin(field.prefix), values.start, values.end);
}

/** Facets of one value or edge, each a member of its own. */
export function writeFacets(field: Layout, facets: Facets | undefined, sink: MemberSink): void {
  if (field.syntax.kind !== 'predicate' || !facets) return;
  for (const { key, value } of shownFacets(field.syntax.facets, facets, field.key)) {
    writeComputed(value, sink.begin(prefixOf(key)));
  }
}

function writeList(field: Layout, at: number, sink: MemberSink): void {
  const list = field.node.valueLists?.[at] ?? [];
  if (list.length === 0) return;
  writeListFacets(field, at, sink);
  const out = sink.begin(field.prefix);
  out.byte(OPEN_LIST);
  for (let i = 0; i < list.length; i++) {
    if (i > 0) out.byte(COMMA);
    writeValue(list[i], out);
  }
  out.byte(CLOSE_LIST);
}

/** Facets of list members: for each facet an object from the member's place to its value. */
function writeListFacets(field: Layout, at: number, sink: MemberSink): void {
  const { syntax } = field;
  const members = field.node.listFacets?.[at];
  if (!members || syntax.kind !== 'predicate') return;
  const columns = new Map<string, { place: number; value: Value }[]>();
  members.forEach((facets, place) => {
    for (const { key, value } of shownFacets(syntax.facets, facets, field.key)) {
      const column = columns.get(key) ?? [];
      column.push({ place, value });
      columns.set(key, column);
    }
  });
  for (const [key, column] of columns) {
    const out = sink.begin(prefixOf(key));
    out.byte(OPEN);
    for (const { place, value } of column) {
      separate(out);
      out.ascii(`"${place}":`);
      writeComputed(value, out);
    }
    out.byte(CLOSE);
  }
}

function writeLanguages(field: Layout, at: number, sink: MemberSink): void {
  const { node, syntax } = field;
  if (syntax.kind !== 'predicate') return;
  const values = node.valueLists?.[at] ?? [];
  values.forEach((bytes, i) => {
    const key = languageKey(syntax, node.valueLangs?.[at]?.[i] ?? '');
    if (field.taken.has(key)) return;
    for (const facet of shownFacets(syntax.facets, node.listFacets?.[at]?.[i], key)) {
      writeComputed(facet.value, sink.begin(prefixOf(facet.key)));
    }
    writeValue(bytes, sink.begin(prefixOf(key)));
  });
}
