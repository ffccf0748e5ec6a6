import { GraphsteadError, JsonWriter } from '../../base/index.js';
import type { Facets } from '../../graph/index.js';
import { shownFacets } from './key.js';
import { writeComputed, writeScalar } from './field.js';
import { type Layout, positionOf, prefixOf } from './layout.js';

/** One flat object, in order: its keys, each with the bytes of the members that it gives (`"key":value`). */
export type FlatRecord = ReadonlyMap<string, Buffer>;

/** Records one @normalize may give: combinations of several edges multiply. */
const MOST = 1_000_000;

/**
 * A node under @normalize: only what has an alias, with the nodes below folded into it, one record for each
 * combination of them.
 * @param seen uids on the way here, under @ignorereflex
 */
export function flatten(layout: Layout, uid: number, seen: readonly number[] | undefined): readonly FlatRecord[] {
  const at = positionOf(layout, uid);
  if (at < 0) return [];
  const own = ownFields(layout, uid, at);
  let records: readonly FlatRecord[] = own.size > 0 ? [own] : [];
  const below = seen && [...seen, uid];
  for (const field of layout.fields) {
    if (field.node.rows) records = combine(records, edgeRecords(field, at, below));
  }
  return records;
}

/** Records of everything an edge leads to. */
export function edgeRecords(field: Layout, at: number, seen: readonly number[] | undefined): readonly FlatRecord[] {
  const { node } = field;
  const row = node.rows?.[at];
  if (!row) return [];
  const records: FlatRecord[] = [];
  for (let i = 0; i < row.length; i++) {
    if (seen?.includes(row[i])) continue;
    const facets = facetFields(field, node.rowFacets?.[at]?.[i]);
    for (const record of flatten(field, row[i], seen)) records.push(new Map([...record, ...facets]));
  }
  for (const count of field.counts) {
    if (isNamed(count) && row.length > 0)
      records.push(new Map([[count.key, member(count.prefix, String(row.length))]]));
  }
  return records;
}

function isNamed(field: Layout): boolean {
  return 'alias' in field.syntax && field.syntax.alias !== undefined;
}

function member(prefix: Buffer, json: string): Buffer {
  return Buffer.concat([prefix, Buffer.from(json)]);
}

const scratch = new JsonWriter();

function ownFields(layout: Layout, uid: number, at: number): FlatRecord {
  const record = new Map<string, Buffer>();
  for (const field of layout.fields) {
    if (field.node.rows || !isNamed(field)) continue;
    scratch.truncate(0);
    writeScalar(field, uid, at, scratch);
    if (scratch.length > 0) record.set(field.key, withoutComma(scratch.finish()));
  }
  return record;
}

/** The first member in an empty buffer has nothing before it that would say whether it needs a comma. */
function withoutComma(members: Buffer): Buffer {
  return members[0] === 0x2c ? members.subarray(1) : members;
}

function facetFields(field: Layout, facets: Facets | undefined): FlatRecord {
  const record = new Map<string, Buffer>();
  if (field.syntax.kind !== 'predicate') return record;
  for (const { key, value } of shownFacets(field.syntax.facets, facets, field.key)) {
    scratch.truncate(0);
    writeComputed(value, scratch);
    record.set(key, Buffer.concat([prefixOf(key), scratch.view()]));
  }
  return record;
}

/** Every record with every other; an empty side leaves the other as it is. */
function combine(left: readonly FlatRecord[], right: readonly FlatRecord[]): readonly FlatRecord[] {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  if (left.length * right.length > MOST) {
    throw new GraphsteadError('LIMIT_EXCEEDED', `@normalize would give more than ${MOST} records`, {
      fix: 'Give fewer edges an alias below the same @normalize.',
    });
  }
  return left.flatMap((a) => right.map((b) => new Map([...a, ...b])));
}
