import { getNullableType, type GraphQLOutputType, isListType } from 'graphql';
import { assert, atOnce, GraphsteadError, type JsonWriter, STEP, type Steps } from '../../base/index.js';
import { Places, placeOf, type ResultNode, type Selection, WrittenPlaces } from '../../dql/index.js';
import type { UidList } from '../../graph/index.js';
import { decodeValue, storedType, type StoredValue, valueText, writeValue } from '../../values/index.js';
import { Aggregate } from './aggregate.js';
import { complete, type CompletionScope, missing, tellCustomErrors } from './complete.js';
import { type CustomResult, isFailure } from './custom-logic.js';
import { geometryObject } from './geo.js';
import type { AggregatePlan, ConcretePlan, CustomPlan, FieldPlan, ObjectPlan } from './plan.js';
import type { ScalarWriter } from './scalar.js';

/** What writing stored results needs beyond completion. */
export interface WriteScope extends CompletionScope {
  /** results of @custom fields by parent */
  readonly custom: ReadonlyMap<CustomPlan, ReadonlyMap<number, CustomResult>>;
  /** errors of these are noted already */
  readonly told: Set<CustomResult>;
  /** for similarity queries */
  readonly distances?: ReadonlyMap<number, number>;
}

/** `absent`: there is no value; `failed`: there is none, and the reason is noted. */
type Outcome = 'written' | 'absent' | 'failed';

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;

/** The result columns of a level, in the order of the plan's selections. */
function columnsOf(selections: readonly Selection[], node: ResultNode): readonly ResultNode[] {
  return selections.map((selection, i) => {
    const same = node.children[i]?.syntax === selection ? node.children[i] : undefined;
    const found = same ?? node.children.find((child) => child.syntax === selection);
    assert(found, 'every selection has a result column');
    return found;
  });
}

/** One level of the answer: a plan with its columns, those of deeper levels bound when they are first met. */
export class Level {
  readonly columns: readonly ResultNode[];
  readonly #deeper: (Level | undefined)[];
  /** where nodes stand in the answer that several rows share: they read the same wherever they stand */
  readonly written: WrittenPlaces | undefined;
  /** the list that most columns are aligned with */
  readonly #source: UidList | undefined;
  readonly #places: Places | undefined;
  #place = -1;
  #uid = -1;
  #most: number | undefined;

  constructor(
    readonly plan: ObjectPlan,
    readonly node: ResultNode,
  ) {
    this.columns = columnsOf(plan.selections, node);
    this.#deeper = new Array<Level | undefined>(plan.selections.length);
    this.#source = this.columns[0]?.source;
    this.#places = this.#source && Places.of(this.#source);
    this.written = this.#source && WrittenPlaces.of(node, this.#source.length);
  }

  /** Place of a node in a column. Nodes come mostly in order, and columns mostly share one list. */
  placeIn(column: ResultNode, uid: number): number {
    return column.source === this.#source ? this.placeOf(uid) : placeOf(column.source, uid);
  }

  /** Place of a node in most columns. */
  placeOf(uid: number): number {
    const source = this.#source;
    if (this.#uid === uid) return this.#place;
    this.#uid = uid;
    if (!source) return -1;
    if (source[this.#place + 1] === uid) return ++this.#place;
    this.#place = this.#places ? this.#places.place(uid) : placeOf(source, uid);
    return this.#place;
  }

  deeper(slot: number, plan: ObjectPlan): Level {
    let level = this.#deeper[slot];
    if (!level) {
      level = new Level(plan, this.columns[slot]);
      this.#deeper[slot] = level;
    }
    return level;
  }

  /** Nodes that are written for each of its own, at most. */
  get most(): number {
    this.#most ??= mostNodes(this.node);
    return this.#most;
  }

  /** What stands under one of its nodes takes long to write. */
  get isDeep(): boolean {
    return this.most > STEP;
  }

  /** The concrete type of a node; undefined when it is none that the plan knows. */
  concrete(uid: number): ConcretePlan | undefined {
    const { plan } = this;
    if (plan.typeSlot === -1) return plan.types.get('');
    const column = this.columns[plan.typeSlot];
    const at = this.placeIn(column, uid);
    const stored = at === -1 ? [] : (column.valueLists?.[at] ?? []);
    for (const bytes of stored) {
      const type = plan.types.get(valueText(decodeValue(bytes)));
      if (type) return type;
    }
    return plan.fallback;
  }
}

type DeepSource = Extract<FieldPlan['source'], { kind: 'edge' | 'aggregate' }>;

function isDeep(source: FieldPlan['source']): source is DeepSource {
  return source.kind === 'edge' || source.kind === 'aggregate';
}

/** How many nodes are written for each root of a result, at most: as if every row were as long as the longest. */
function mostNodes({ children }: ResultNode): number {
  let most = 1;
  for (const child of children) {
    if (!child.rows) continue;
    let longest = 0;
    for (const { length } of child.rows) if (length > longest) longest = length;
    if (longest > 0) most += longest * mostNodes(child);
  }
  return most;
}

/**
 * Writes a list of nodes as `type` (a list type, nullable or not). False as in `complete`.
 * @param isLong what stands under each node may be long too
 */
export function* nodesInSteps(
  scope: WriteScope,
  level: Level,
  uids: UidList,
  type: GraphQLOutputType,
  out: JsonWriter,
  isLong: boolean,
): Steps<boolean> {
  const list = getNullableType(type);
  assert(isListType(list), 'nodes are written as a list');
  const itemNonNull = list.ofType !== getNullableType(list.ofType);
  return (yield* rowInSteps(scope, level, uids, itemNonNull, out, isLong && level.isDeep)) === 'written';
}

/**
 * As `writeRow`.
 * @param isDeep there is a pause before each node and in what stands under it
 */
function* rowInSteps(
  scope: WriteScope,
  level: Level,
  row: UidList,
  itemNonNull: boolean,
  out: JsonWriter,
  isDeep = level.isDeep,
): Steps<Outcome> {
  const before = scope.errors.list.length;
  const every = isDeep ? 1 : Math.max(1, Math.floor(STEP / level.most));
  out.byte(OPEN_LIST);
  for (let i = 0; i < row.length; i++) {
    if (i % every === every - 1) yield;
    const at = beginItem(scope, level, row, i, out);
    if (at === COPIED) continue;
    const start = out.length;
    const ok = isDeep ? yield* nodeInSteps(scope, level, row[i], out) : writeNode(scope, level, row[i], out);
    if (!endItem(scope, level, at, start, ok, itemNonNull, before, out)) return 'failed';
  }
  out.byte(CLOSE_LIST);
  return 'written';
}

function writeRow(scope: WriteScope, level: Level, row: UidList, itemNonNull: boolean, out: JsonWriter): Outcome {
  const before = scope.errors.list.length;
  out.byte(OPEN_LIST);
  for (let i = 0; i < row.length; i++) {
    const at = beginItem(scope, level, row, i, out);
    if (at === COPIED) continue;
    const start = out.length;
    const ok = writeNode(scope, level, row[i], out);
    if (!endItem(scope, level, at, start, ok, itemNonNull, before, out)) return 'failed';
  }
  out.byte(CLOSE_LIST);
  return 'written';
}

const COPIED = -2;

/** The place of an item among those that are written alike; COPIED when it is written already. */
function beginItem(scope: WriteScope, level: Level, row: UidList, i: number, out: JsonWriter): number {
  const { written } = level;
  if (i > 0) out.byte(COMMA);
  const at = written ? level.placeOf(row[i]) : -1;
  if (at >= 0 && written?.copy(at, out, out.cuts)) return COPIED;
  scope.path.push(i);
  return at;
}

/**
 * False where the list fails with its item.
 * @param before how many errors there were when the list began
 */
function endItem(
  scope: WriteScope,
  level: Level,
  at: number,
  start: number,
  ok: boolean,
  itemNonNull: boolean,
  before: number,
  out: JsonWriter,
): boolean {
  scope.path.pop();
  // errors name their place, and what was taken back may be what was noted
  if (ok && at >= 0 && scope.errors.list.length === before) level.written?.note(at, start, out, out.cuts);
  if (ok) return true;
  if (itemNonNull) return false;
  out.truncate(start);
  out.ascii('null');
  return true;
}

/** Writes one node. False when a non-null field of it is missing; the error is noted. */
export function writeNode(scope: WriteScope, level: Level, uid: number, out: JsonWriter): boolean {
  const concrete = level.concrete(uid);
  if (!concrete) return false;
  out.byte(OPEN_OBJECT);
  const { fields } = concrete;
  for (let i = 0; i < fields.length; i++) {
    if (i > 0) out.byte(COMMA);
    if (!writeMember(scope, level, concrete, fields[i], uid, out)) return false;
  }
  out.byte(CLOSE_OBJECT);
  return true;
}

/** The same for a node of a deep level. */
export function* nodeInSteps(scope: WriteScope, level: Level, uid: number, out: JsonWriter): Steps<boolean> {
  const concrete = level.concrete(uid);
  if (!concrete) return false;
  out.byte(OPEN_OBJECT);
  const { fields } = concrete;
  for (let i = 0; i < fields.length; i++) {
    if (i > 0) out.byte(COMMA);
    const field = fields[i];
    const ok = isDeep(field.source)
      ? yield* deepInSteps(scope, level, field, field.source, uid, out)
      : writeMember(scope, level, concrete, field, uid, out);
    if (!ok) return false;
  }
  out.byte(CLOSE_OBJECT);
  return true;
}

function* deepInSteps(
  scope: WriteScope,
  level: Level,
  field: FieldPlan,
  source: DeepSource,
  uid: number,
  out: JsonWriter,
): Steps<boolean> {
  out.bytes(field.prefix);
  scope.path.push(field.key);
  const start = out.length;
  const column = level.columns[source.slot];
  const row = column.rows?.[level.placeIn(column, uid)] ?? NO_UIDS;
  let outcome: Outcome = 'written';
  if (source.kind === 'aggregate') yield* aggregatesInSteps(source.aggregate, column, row, out);
  else outcome = yield* edgeInSteps(scope, level.deeper(source.slot, source.object), field, row, out);
  const ok = outcome === 'written' || settled(scope, field, start, outcome, out);
  scope.path.pop();
  return ok;
}

function* edgeInSteps(
  scope: WriteScope,
  deeper: Level,
  field: FieldPlan,
  row: UidList,
  out: JsonWriter,
): Steps<Outcome> {
  if (row.length === 0) return 'absent';
  if (field.shape.list) return yield* rowInSteps(scope, deeper, row, field.shape.itemNonNull, out);
  return (yield* nodeInSteps(scope, deeper, row[0], out)) ? 'written' : 'failed';
}

function writeMember(
  scope: WriteScope,
  level: Level,
  concrete: ConcretePlan,
  field: FieldPlan,
  uid: number,
  out: JsonWriter,
): boolean {
  out.bytes(field.prefix);
  if (field.source.kind === 'typename') {
    out.string(concrete.name);
    return true;
  }
  if (field.source.kind === 'value' && writePlain(level, field.source, uid, out)) return true;
  scope.path.push(field.key);
  const ok = writeField(scope, level, field, uid, out);
  scope.path.pop();
  return ok;
}

/** Most fields are one value that is there and of its type: no error to place, nothing to take back. */
function writePlain(level: Level, source: ValueSource, uid: number, out: JsonWriter): boolean {
  const column = level.columns[source.slot];
  const { values } = column;
  if (!values) return false;
  const at = level.placeIn(column, uid);
  return at >= 0 && values.seek(at) && source.write(values.bytes, values.start, values.end, out);
}

type ValueSource = Extract<FieldPlan['source'], { kind: 'value' }>;

function writeField(scope: WriteScope, level: Level, field: FieldPlan, uid: number, out: JsonWriter): boolean {
  if (field.source.kind === 'custom') return writeCustom(scope, field, field.source.custom, uid, out);
  const start = out.length;
  const outcome = writeSource(scope, level, field, uid, out);
  return outcome === 'written' || settled(scope, field, start, outcome, out);
}

/** What stands for a field that has no value; false where it must have one. */
function settled(scope: WriteScope, field: FieldPlan, start: number, outcome: Outcome, out: JsonWriter): boolean {
  out.truncate(start);
  if (outcome === 'absent' && field.shape.list) {
    out.ascii('[]');
    return true;
  }
  if (!field.shape.nonNull) {
    out.ascii('null');
    return true;
  }
  if (outcome === 'absent') missing(scope, field.type, field.nodes);
  return false;
}

function writeSource(scope: WriteScope, level: Level, field: FieldPlan, uid: number, out: JsonWriter): Outcome {
  const { source } = field;
  switch (source.kind) {
    case 'id':
      out.ascii(`"0x${uid.toString(16)}"`);
      return 'written';
    case 'value': {
      const column = level.columns[source.slot];
      return writeSingle(scope, field, source.write, column, level.placeIn(column, uid), out);
    }
    case 'values':
      return writeValues(scope, field, source.write, valuesAt(level, source.slot, uid), out);
    case 'geo':
      return writeGeo(scope, field, valuesAt(level, source.slot, uid), out);
    case 'vector':
      return writeVector(valueAt(level.columns[source.slot], uid), out);
    case 'edge': {
      const column = level.columns[source.slot];
      const row = column.rows?.[level.placeIn(column, uid)];
      if (!row || row.length === 0) return 'absent';
      const deeper = level.deeper(source.slot, source.object);
      if (field.shape.list) return writeRow(scope, deeper, row, field.shape.itemNonNull, out);
      return writeNode(scope, deeper, row[0], out) ? 'written' : 'failed';
    }
    case 'aggregate': {
      const column = level.columns[source.slot];
      writeAggregates(source.aggregate, column, column.rows?.[level.placeIn(column, uid)] ?? NO_UIDS, out);
      return 'written';
    }
    case 'hiddenAggregate':
      writeHidden(source.aggregate, out);
      return 'written';
    case 'distance': {
      const distance = scope.distances?.get(uid);
      if (distance === undefined) return 'absent';
      out.raw(JSON.stringify(distance));
      return 'written';
    }
    default:
      return 'absent';
  }
}

const NO_UIDS: UidList = new Float64Array(0);

export function valueAt(column: ResultNode, uid: number): StoredValue | undefined {
  return valueIn(column, placeOf(column.source, uid));
}

function valueIn(column: ResultNode, at: number): StoredValue | undefined {
  if (at === -1) return undefined;
  return column.values ? column.values.at(at) : column.valueLists?.[at]?.[0];
}

function valuesAt(level: Level, slot: number, uid: number): readonly StoredValue[] {
  const column = level.columns[slot];
  const at = level.placeIn(column, uid);
  if (at === -1) return [];
  const single = column.values?.at(at);
  return column.valueLists?.[at] ?? (single ? [single] : []);
}

function writeSingle(
  scope: WriteScope,
  field: FieldPlan,
  write: ScalarWriter,
  column: ResultNode,
  at: number,
  out: JsonWriter,
): Outcome {
  if (at === -1) return 'absent';
  const { values } = column;
  if (!values) {
    const first = column.valueLists?.[at]?.[0];
    return first ? writeScalar(scope, field, write, first, out) : 'absent';
  }
  if (!values.seek(at)) return 'absent';
  if (write(values.bytes, values.start, values.end, out)) return 'written';
  return notOfType(scope, field, values.bytes.subarray(values.start, values.end));
}

function writeScalar(
  scope: WriteScope,
  field: FieldPlan,
  write: ScalarWriter,
  bytes: StoredValue,
  out: JsonWriter,
): Outcome {
  return write(bytes, 0, bytes.length, out) ? 'written' : notOfType(scope, field, bytes);
}

function notOfType(scope: WriteScope, field: FieldPlan, bytes: StoredValue): Outcome {
  const shown = valueText(decodeValue(bytes));
  const name = field.nodes[0].name.value;
  const type = String(field.type).replace(/[[\]!]/g, '');
  const error = new GraphsteadError(
    'INVALID_VALUE',
    `Error coercing value '${shown}' for field '${name}' to type ${type}.`,
    { fix: `Store a value of ${type}, or define the field by the type of what is stored.` },
  );
  scope.errors.at(field.nodes, scope.path, error);
  return 'failed';
}

function writeValues(
  scope: WriteScope,
  field: FieldPlan,
  write: ScalarWriter,
  values: readonly StoredValue[],
  out: JsonWriter,
): Outcome {
  if (values.length === 0) return 'absent';
  out.byte(OPEN_LIST);
  for (let i = 0; i < values.length; i++) {
    if (i > 0) out.byte(COMMA);
    scope.path.push(i);
    const start = out.length;
    const outcome = writeScalar(scope, field, write, values[i], out);
    scope.path.pop();
    if (outcome === 'written') continue;
    if (field.shape.itemNonNull) return 'failed';
    out.truncate(start);
    out.ascii('null');
  }
  out.byte(CLOSE_LIST);
  return 'written';
}

function writeGeo(scope: WriteScope, field: FieldPlan, values: readonly StoredValue[], out: JsonWriter): Outcome {
  const objects: unknown[] = [];
  for (const bytes of values) {
    const value = decodeValue(bytes);
    const object = value.type === 'geo' ? geometryObject(value.value) : undefined;
    if (object) objects.push(object);
  }
  if (objects.length === 0) return 'absent';
  const nullable = getNullableType(field.type) as GraphQLOutputType;
  const whole = field.shape.list ? objects : objects[0];
  return complete(scope, nullable, field.nodes, whole, out) ? 'written' : 'failed';
}

/** Numbers as short as 32 bits tell them: `0.9`, not what 64 bits make of it. */
function writeVector(bytes: StoredValue | undefined, out: JsonWriter): Outcome {
  if (!bytes || storedType(bytes) !== 'float32vector') return 'absent';
  writeValue(bytes, out);
  return 'written';
}

function writeCustom(scope: WriteScope, field: FieldPlan, plan: CustomPlan, uid: number, out: JsonWriter): boolean {
  const result = scope.custom.get(plan)?.get(uid);
  if (result && !scope.told.has(result)) {
    scope.told.add(result);
    tellCustomErrors(scope, field.nodes, result);
  }
  if (!result || !isFailure(result)) return complete(scope, field.type, field.nodes, result?.value, out);
  if (field.shape.nonNull) return false;
  out.ascii('null');
  return true;
}

function writeHidden(plan: AggregatePlan, out: JsonWriter): void {
  out.byte(OPEN_OBJECT);
  plan.fields.forEach(({ prefix, of }, i) => {
    if (i > 0) out.byte(COMMA);
    out.bytes(prefix);
    if (of.kind === 'typename') out.string(plan.typeName);
    else out.ascii('null');
  });
  out.byte(CLOSE_OBJECT);
}

/** An aggregate object over a row of nodes. */
function writeAggregates(plan: AggregatePlan, node: ResultNode, row: UidList, out: JsonWriter): void {
  atOnce(aggregatesInSteps(plan, node, row, out));
}

/** The same for a row that may be long. */
export function* aggregatesInSteps(plan: AggregatePlan, node: ResultNode, row: UidList, out: JsonWriter): Steps<void> {
  const columns = columnsOf(plan.selections, node);
  out.byte(OPEN_OBJECT);
  for (let i = 0; i < plan.fields.length; i++) {
    if (i > 0) out.byte(COMMA);
    const { prefix, of } = plan.fields[i];
    out.bytes(prefix);
    if (of.kind === 'typename') out.string(plan.typeName);
    else if (of.kind === 'count') out.ascii(String(row.length));
    else {
      const aggregate = new Aggregate(of.fn, of.scalar);
      yield* addInSteps(aggregate, columns[of.slot], row);
      out.raw(aggregate.json);
    }
  }
  out.byte(CLOSE_OBJECT);
}

function* addInSteps(aggregate: Aggregate, column: ResultNode, row: UidList): Steps<void> {
  for (let i = 0; i < row.length; i++) {
    if (i % STEP === STEP - 1) yield;
    // a row that is the column's own list has its nodes where they are
    const value = valueIn(column, column.source[i] === row[i] ? i : placeOf(column.source, row[i]));
    if (value !== undefined) aggregate.add(value);
  }
}
