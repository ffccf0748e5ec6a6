import {
  atOnce,
  defaultNames,
  inSteps,
  JsonWriter,
  type MaybePromise,
  type Names,
  type Steps,
} from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { ResultGroup, ResultPath, RunResult } from '../contract.js';
import type { GroupBy, PredicateSelection, Selection } from '../syntax/index.js';
import { ObjectMembers, separate, writeComputed, writeFacets, writePrefix, writeScalar, writeUid } from './field.js';
import { answerKey, shownFacets } from './key.js';
import { isNamed, type Layout, layoutOf, positionOf, prefixOf } from './layout.js';
import { edgeRecords, type FlatRecord, flatten } from './normalize.js';

export interface WriteOptions {
  /** how stored names are shown */
  readonly names?: Names;
  /** every node that shows anything shows its uid too */
  readonly debug?: boolean;
  /** bytes of the answer; growing past it throws RangeError */
  readonly limit?: number;
}

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const COMMA = 0x2c;
const UID = prefixOf('uid');
const GROUPS = prefixOf('@groupby');

/** The `data` object of a query as JSON bytes: empty objects left out, keys in the order of the selections. */
export function writeJson(result: RunResult, options: WriteOptions = {}): Buffer {
  const writer = new AnswerWriter(options);
  atOnce(writer.steps(result));
  return writer.finish();
}

/**
 * The same, for answers that may be long: `pause` is awaited every few hundred nodes, and may throw to end the writing
 * (a deadline, a cancelled request).
 */
export async function writeJsonInSteps(
  result: RunResult,
  options: WriteOptions,
  pause: () => MaybePromise<void>,
): Promise<Buffer> {
  const writer = new AnswerWriter(options);
  await inSteps(writer.steps(result), pause);
  return writer.finish();
}

/** Nodes, groups and records written between two pauses. */
const SLICE = 512;

class AnswerWriter {
  readonly #out: JsonWriter;
  readonly #members: ObjectMembers;
  readonly #names: Names;
  readonly #debug: boolean;
  /** rows that are being written, each inside a node of the one before: no recursion, so that it can pause anywhere */
  readonly #rows: Row[] = [];
  #depth = -1;
  /** how many may be written before the next pause */
  #left = SLICE;
  /** what stands before the rows, or between the fields, of the node that is open: written first */
  #part: Steps<void> | undefined;

  constructor(options: WriteOptions) {
    this.#out = new JsonWriter(options.limit);
    this.#members = new ObjectMembers(this.#out);
    this.#names = options.names ?? defaultNames;
    this.#debug = options.debug ?? false;
  }

  finish(): Buffer {
    return this.#out.take();
  }

  *steps(result: RunResult): Steps<void> {
    const out = this.#out;
    const paths: ResultPath[] = [];
    out.byte(OPEN);
    for (const root of result.roots) {
      if (root.paths) for (const path of root.paths) paths.push(path);
      else if (root.syntax.kind === 'block' && !root.syntax.isVar) yield* this.#block(layoutOf(root, this.#names));
    }
    if (paths.length > 0) this.#paths(paths);
    out.byte(CLOSE);
  }

  *#block(layout: Layout): Steps<void> {
    const { node, syntax } = layout;
    if (syntax.kind !== 'block') return;
    if (node.groups && node.groups[0]?.length === 0) return;
    const out = this.#out;
    writePrefix(out, layout.prefix);
    out.byte(OPEN_LIST);
    if (node.groups) yield* this.#groups(node.groups[0], syntax.groupBy, syntax.children);
    else if (!syntax.root) this.#alone(layout);
    else yield* this.#roots(layout);
    out.byte(CLOSE_LIST);
  }

  /** A block without root shows each aggregate in an object of its own. */
  #alone(layout: Layout): void {
    const out = this.#out;
    for (const field of layout.fields) {
      const { constant } = field.node;
      if (constant === undefined && field.syntax.kind !== 'aggregate') continue;
      if (layout.normalize && !isNamed(field)) continue;
      separate(out);
      out.byte(OPEN);
      out.bytes(field.prefix);
      if (constant === undefined) out.ascii('null');
      else writeComputed(constant, out);
      out.byte(CLOSE);
    }
  }

  *#roots(layout: Layout): Steps<void> {
    const row = layout.node.rows?.[0] ?? new Float64Array(0);
    for (const count of layout.counts) {
      if (!layout.normalize || isNamed(count)) this.#count(count, row.length);
    }
    const { syntax } = layout;
    const seen = syntax.kind === 'block' && syntax.directives.ignoreReflex ? [] : undefined;
    if (!layout.normalize) {
      this.#begin(layout, row, row.length, undefined, seen);
      while (!this.#advance()) yield;
      return;
    }
    for (const uid of row) {
      yield* this.#records(flatten(layout, uid, seen, this.#debug));
      yield;
    }
  }

  #count(field: Layout, total: number): void {
    const out = this.#out;
    separate(out);
    out.byte(OPEN);
    out.bytes(field.prefix);
    out.ascii(String(total));
    out.byte(CLOSE);
  }

  *#records(flat: Steps<readonly FlatRecord[]>): Steps<void> {
    for (const record of yield* flat) {
      if (this.#isSliceFull()) yield;
      this.#record(record);
    }
  }

  /** Counts one that is to be written; true where a pause is due before it. */
  #isSliceFull(): boolean {
    if (--this.#left >= 0) return false;
    this.#left = SLICE;
    return true;
  }

  #record(record: FlatRecord): void {
    const out = this.#out;
    separate(out);
    out.byte(OPEN);
    for (const [key, values] of record) {
      writePrefix(out, prefixOf(key));
      if (values.length > 1) out.byte(OPEN_LIST);
      values.forEach((value, i) => {
        if (i > 0) out.byte(COMMA);
        out.bytes(value);
      });
      if (values.length > 1) out.byte(CLOSE_LIST);
    }
    out.byte(CLOSE);
  }

  /** Puts a row on top: it is written next. */
  #begin(
    layout: Layout,
    uids: UidList,
    end: number,
    facets: readonly (Facets | undefined)[] | undefined,
    seen: readonly number[] | undefined,
  ): Row {
    this.#depth++;
    const row = this.#rows[this.#depth] ?? new Row();
    this.#rows[this.#depth] = row;
    row.layout = layout;
    row.uids = uids;
    row.end = end;
    row.facets = facets;
    row.seen = seen;
    row.next = 0;
    row.isOpen = false;
    row.isEdge = false;
    return row;
  }

  /** Writes on until all rows are done (true), or a slice of nodes was written (false). */
  #advance(): boolean {
    this.#left = SLICE;
    while (this.#depth >= 0) {
      if (this.#part) {
        if (!this.#part.next().done) return false;
        this.#part = undefined;
      }
      if (this.#left <= 0) return false;
      this.#left -= this.#goOn(this.#rows[this.#depth], this.#left);
    }
    return true;
  }

  /** The nodes of a row, without those that have nothing to show, until one has a row of its own. Answers how many. */
  #goOn(row: Row, most: number): number {
    let nodes = 0;
    for (;;) {
      if (!row.isOpen) {
        if (row.next === row.end) {
          this.#end(row);
          return nodes;
        }
        if (nodes === most) return nodes;
        nodes++;
        if (!this.#open(row)) continue;
      }
      if (this.#writeFields(row)) return nodes;
      this.#close(row);
    }
  }

  /** Begins the next node of a row; false when nothing of it is left to write. */
  #open(row: Row): boolean {
    const out = this.#out;
    const { layout } = row;
    const uid = row.uids[row.next];
    if (row.seen?.includes(uid)) {
      row.next++;
      return false;
    }
    const at = positionOf(layout, uid);
    row.before = out.length;
    separate(out);
    row.start = out.length;
    if (at >= 0 && row.isPlain && layout.written?.copy(at, out)) {
      row.next++;
      return false;
    }
    out.byte(OPEN);
    row.at = at;
    row.field = at < 0 ? layout.fields.length : 0;
    row.isOpen = true;
    return true;
  }

  /** Goes on with the fields of the node that is open; true when groups or a row below it are to be written first. */
  #writeFields(row: Row): boolean {
    const { layout, at } = row;
    const { fields } = layout;
    const uid = row.uids[row.next];
    while (row.field < fields.length) {
      const field = fields[row.field++];
      if (field.kind === 'groups') {
        if (this.#groupField(field, at)) return true;
      } else if (field.kind !== 'edges') writeScalar(field, uid, at, this.#members);
      else if (this.#edge(field, at, row.seen && [...row.seen, uid])) return true;
    }
    return false;
  }

  /** Ends the object of a node, with the facets of the edge that leads to it; it goes when there is nothing to show. */
  #close(row: Row): void {
    const out = this.#out;
    const { layout } = row;
    const facets = row.facets?.[row.next];
    row.isOpen = false;
    // An edge without selections below it can still show its facets.
    if (facets && (out.last !== OPEN || layout.fields.length === 0)) writeFacets(layout, facets, this.#members);
    const uid = row.uids[row.next++];
    if (out.last === OPEN) {
      out.truncate(row.before);
      return;
    }
    if (this.#debug && !layout.hasUid) {
      writePrefix(out, UID);
      writeUid(out, uid);
    }
    out.byte(CLOSE);
    // it is never taken back: an object or list with a node in it is not empty
    if (row.isPlain) layout.written?.note(row.at, row.start, out);
  }

  /** Begins the row of an edge; false when it leads nowhere, or was written at once. */
  #edge(field: Layout, at: number, seen: readonly number[] | undefined): boolean {
    const uids = field.node.rows?.[at];
    const groups = field.groups?.node.groups?.[at] ?? [];
    if (!uids || (uids.length === 0 && groups.length === 0)) return false;
    const out = this.#out;
    const key = out.length;
    writePrefix(out, field.prefix);
    const isSingle = field.single && !field.normalize && field.counts.length === 0 && groups.length === 0;
    if (!isSingle) out.byte(OPEN_LIST);
    const end = isSingle ? 1 : field.normalize ? 0 : uids.length;
    const first = out.length;
    if (groups.length > 0 || field.normalize) this.#part = this.#beforeRow(field, at, groups, seen);
    const row = this.#begin(field, uids, end, field.node.rowFacets?.[at], seen);
    row.isEdge = true;
    row.isSingle = isSingle;
    row.key = key;
    row.first = first;
    return true;
  }

  /** What an edge shows before its nodes: its groups, and their records under @normalize. */
  *#beforeRow(
    field: Layout,
    at: number,
    groups: readonly ResultGroup[],
    seen: readonly number[] | undefined,
  ): Steps<void> {
    if (field.groups?.syntax.kind === 'predicate' && groups.length > 0) {
      yield* this.#groups(groups, field.groups.syntax.groupBy, field.groups.syntax.children);
    }
    if (field.normalize) yield* this.#records(edgeRecords(field, at, seen, this.#debug));
  }

  /** Ends a row: an edge that shows nothing goes with its key. */
  #end(row: Row): void {
    this.#depth--;
    if (!row.isEdge) return;
    const out = this.#out;
    if (!row.isSingle) for (const count of row.layout.counts) this.#count(count, row.uids.length);
    if (out.length === row.first) out.truncate(row.key);
    else if (!row.isSingle) out.byte(CLOSE_LIST);
  }

  /** False when there are none. */
  #groupField(field: Layout, at: number): boolean {
    const groups = field.node.groups?.[at] ?? [];
    if (groups.length === 0 || field.syntax.kind !== 'predicate') return false;
    this.#part = this.#groupList(field.prefix, groups, field.syntax);
    return true;
  }

  *#groupList(prefix: Buffer, groups: readonly ResultGroup[], syntax: PredicateSelection): Steps<void> {
    writePrefix(this.#out, prefix);
    this.#out.byte(OPEN_LIST);
    yield* this.#groups(groups, syntax.groupBy, syntax.children);
    this.#out.byte(CLOSE_LIST);
  }

  *#groups(
    groups: readonly ResultGroup[],
    groupBy: GroupBy | undefined,
    selections: readonly Selection[],
  ): Steps<void> {
    const out = this.#out;
    const keys = (groupBy?.keys ?? []).map((key) => prefixOf(key.alias ?? groupKeyName(key, this.#names)));
    const results = selections.map((selection) => prefixOf(answerKey(selection)));
    out.byte(OPEN);
    out.bytes(GROUPS);
    out.byte(OPEN_LIST);
    for (const group of groups) {
      if (this.#isSliceFull()) yield;
      separate(out);
      out.byte(OPEN);
      group.keys.forEach((key, i) => {
        writePrefix(out, keys[i]);
        if (key.type === 'uid') writeUid(out, key.value);
        else writeComputed(key, out);
      });
      group.results.forEach((value, i) => {
        if (value === undefined) return;
        writePrefix(out, results[i]);
        writeComputed(value, out);
      });
      out.byte(CLOSE);
    }
    out.byte(CLOSE_LIST);
    out.byte(CLOSE);
  }

  #paths(paths: readonly ResultPath[]): void {
    const out = this.#out;
    writePrefix(out, prefixOf('_path_'));
    out.byte(OPEN_LIST);
    for (const path of paths) {
      separate(out);
      this.#path(path);
    }
    out.byte(CLOSE_LIST);
  }

  /** Each node of a path stands inside the one before it. */
  #path({ uids, edges, weight }: ResultPath): void {
    const out = this.#out;
    for (const edge of edges) {
      out.byte(OPEN);
      out.bytes(prefixOf(answerKey(edge.selection)));
    }
    out.byte(OPEN);
    for (let at = uids.length - 1; at >= 0; at--) {
      writePrefix(out, UID);
      writeUid(out, uids[at]);
      if (at === 0) out.ascii(`,"_weight_":${weight}`);
      else this.#stepFacets(edges[at - 1]);
      out.byte(CLOSE);
    }
  }

  #stepFacets({ selection, facets }: ResultPath['edges'][number]): void {
    if (selection.kind !== 'predicate') return;
    for (const { key, value } of shownFacets(selection.facets, facets, answerKey(selection))) {
      writePrefix(this.#out, prefixOf(key));
      writeComputed(value, this.#out);
    }
  }
}

/** A row of nodes that is being written. */
class Row {
  layout!: Layout;
  uids!: UidList;
  /** how many of the uids are shown */
  end = 0;
  facets: readonly (Facets | undefined)[] | undefined;
  /** uids on the way here, under @ignorereflex */
  seen: readonly number[] | undefined;
  /** the node that is open, or comes next */
  next = 0;
  isOpen = false;
  /** of the open node: its place in the columns, where it begins, with its comma and without, and the field that comes next */
  at = 0;
  before = 0;
  start = 0;
  field = 0;
  /** of an edge: an object instead of a list, where its key begins, and where its first node would */
  isEdge = false;
  isSingle = false;
  key = 0;
  first = 0;

  /** its nodes read as in every other row */
  get isPlain(): boolean {
    return !this.facets && !this.seen;
  }
}

function groupKeyName(key: GroupBy['keys'][number], names: Names): string {
  const langs = key.langs.length > 0 ? `@${key.langs.join(':')}` : '';
  return `${key.reverse ? '~' : ''}${names.shown(key.name)}${langs}`;
}
