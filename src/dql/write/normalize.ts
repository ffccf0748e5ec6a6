import { GraphsteadError, JsonWriter, STEP, type Steps } from '../../base/index.js';
import type { Facets } from '../../graph/index.js';
import { type MemberSink, uidText, writeFacets, writeScalar } from './field.js';
import { isNamed, type Layout, positionOf } from './layout.js';

/** One flat object: its keys in order, each with its values as JSON; several where nodes above and below share a key. */
export type FlatRecord = ReadonlyMap<string, readonly Buffer[]>;

/** Records one @normalize may give: combinations of several edges multiply. */
const MOST = 1_000_000;

/**
 * A node under @normalize: only what has an alias, with the nodes below folded into it, one record for each
 * combination of them.
 * @param seen uids on the way here, under @ignorereflex
 * @param debug also the uids of the nodes that a record is made of
 */
export function* flatten(
  layout: Layout,
  uid: number,
  seen: readonly number[] | undefined,
  debug: boolean,
): Steps<readonly FlatRecord[]> {
  const at = positionOf(layout, uid);
  if (at < 0) return [];
  const own = ownFields(layout, uid, at);
  const first = debug && !own.has('uid') ? merge(uidField(uid), own) : own;
  let records: readonly FlatRecord[] = first.size > 0 ? [first] : [];
  let shows = own.size > 0;
  const below = seen && [...seen, uid];
  for (const field of layout.fields) {
    if (!field.node.rows) continue;
    const found = yield* edgeRecords(field, at, below, debug);
    shows ||= found.length > 0;
    records = yield* combine(records, found);
  }
  return shows ? records : [];
}

function uidField(uid: number): FlatRecord {
  return new Map([['uid', [Buffer.from(`"${uidText(uid)}"`)]]]);
}

/** Records of everything an edge leads to. */
export function* edgeRecords(
  field: Layout,
  at: number,
  seen: readonly number[] | undefined,
  debug: boolean,
): Steps<readonly FlatRecord[]> {
  const { node } = field;
  const row = node.rows?.[at];
  if (!row) return [];
  const records: FlatRecord[] = [];
  for (let i = 0; i < row.length; i++) {
    if (i % STEP === 0) yield;
    if (seen?.includes(row[i])) continue;
    const facets = facetFields(field, node.rowFacets?.[at]?.[i]);
    for (const record of yield* flatten(field, row[i], seen, debug)) records.push(merge(record, facets));
  }
  for (const count of field.counts) {
    if (isNamed(count) && row.length > 0) records.push(new Map([[count.key, [Buffer.from(String(row.length))]]]));
  }
  return records;
}

/** Collects members, each value as the bytes of its JSON. */
class RecordMembers implements MemberSink {
  readonly record = new Map<string, readonly Buffer[]>();
  readonly #out = new JsonWriter(undefined, 256);
  #key: string | undefined;

  begin(prefix: Buffer): JsonWriter {
    this.end();
    this.#key = JSON.parse(prefix.subarray(0, -1).toString()) as string;
    return this.#out;
  }

  end(): void {
    if (this.#key !== undefined) this.record.set(this.#key, [this.#out.finish()]);
    this.#key = undefined;
    this.#out.truncate(0);
  }
}

function ownFields(layout: Layout, uid: number, at: number): FlatRecord {
  const members = new RecordMembers();
  for (const field of layout.fields) {
    if (!field.node.rows && isNamed(field)) writeScalar(field, uid, at, members);
  }
  members.end();
  return members.record;
}

function facetFields(field: Layout, facets: Facets | undefined): FlatRecord {
  const members = new RecordMembers();
  writeFacets(field, facets, members);
  members.end();
  return members.record;
}

function merge(a: FlatRecord, b: FlatRecord): FlatRecord {
  const merged = new Map(a);
  for (const [key, values] of b) merged.set(key, [...(merged.get(key) ?? []), ...values]);
  return merged;
}

/** Every record with every other; an empty side leaves the other as it is. */
function* combine(left: readonly FlatRecord[], right: readonly FlatRecord[]): Steps<readonly FlatRecord[]> {
  if (left.length === 0) return right;
  if (right.length === 0) return left;
  if (left.length * right.length > MOST) {
    throw new GraphsteadError('LIMIT_EXCEEDED', `@normalize would give more than ${MOST} records`, {
      fix: 'Give fewer edges an alias below the same @normalize.',
    });
  }
  const records: FlatRecord[] = [];
  for (const a of left) {
    for (const b of right) {
      if (records.length % STEP === STEP - 1) yield;
      records.push(merge(a, b));
    }
  }
  return records;
}
