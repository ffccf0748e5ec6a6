import { defaultNames, JsonWriter, type MaybePromise, type Names } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { ResultGroup, ResultPath, RunResult } from '../contract.js';
import type { GroupBy, Selection } from '../syntax/index.js';
import { ObjectMembers, separate, writeComputed, writeFacets, writePrefix, writeScalar, writeUid } from './field.js';
import { answerKey, shownFacets } from './key.js';
import { type Layout, layoutOf, positionOf, prefixOf } from './layout.js';
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
  const steps = writer.steps(result);
  while (!steps.next().done);
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
  const steps = writer.steps(result);
  while (!steps.next().done) await pause();
  return writer.finish();
}

/** Nodes written between two pauses. */
const SLICE = 512;

type Steps = Generator<void, void, void>;

class AnswerWriter {
  readonly #out: JsonWriter;
  readonly #members: ObjectMembers;
  readonly #names: Names;
  readonly #debug: boolean;
  #nodes = 0;

  constructor(options: WriteOptions) {
    this.#out = new JsonWriter(options.limit);
    this.#members = new ObjectMembers(this.#out);
    this.#names = options.names ?? defaultNames;
    this.#debug = options.debug ?? false;
  }

  finish(): Buffer {
    return this.#out.finish();
  }

  *steps(result: RunResult): Steps {
    const out = this.#out;
    const paths: ResultPath[] = [];
    out.byte(OPEN);
    for (const root of result.roots) {
      if (root.paths) paths.push(...root.paths);
      else if (root.syntax.kind === 'block' && !root.syntax.isVar) yield* this.#block(layoutOf(root, this.#names));
    }
    if (paths.length > 0) this.#paths(paths);
    out.byte(CLOSE);
  }

  *#block(layout: Layout): Steps {
    const { node, syntax } = layout;
    if (syntax.kind !== 'block') return;
    if (node.groups && node.groups[0]?.length === 0) return;
    const out = this.#out;
    writePrefix(out, layout.prefix);
    out.byte(OPEN_LIST);
    if (node.groups) this.#groups(node.groups[0], syntax.groupBy, syntax.children);
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

  *#roots(layout: Layout): Steps {
    const row = layout.node.rows?.[0] ?? new Float64Array(0);
    for (const count of layout.counts) {
      if (!layout.normalize || isNamed(count)) this.#count(count, row.length);
    }
    const { syntax } = layout;
    const seen = syntax.kind === 'block' && syntax.directives.ignoreReflex ? [] : undefined;
    if (!layout.normalize) {
      yield* this.#list(layout, row, undefined, seen);
      return;
    }
    for (const uid of row) {
      for (const record of flatten(layout, uid, seen)) this.#record(record);
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

  /** The nodes of a list, without those that have nothing to show. */
  *#list(
    layout: Layout,
    row: UidList,
    facets: readonly (Facets | undefined)[] | undefined,
    seen: readonly number[] | undefined,
  ): Steps {
    const out = this.#out;
    for (let i = 0; i < row.length; i++) {
      if (seen?.includes(row[i])) continue;
      const before = out.length;
      separate(out);
      out.byte(OPEN);
      if (layout.hasEdges) yield* this.#deepFields(layout, row[i], seen);
      else this.#flatFields(layout, row[i]);
      if (!this.#close(layout, row[i], facets?.[i])) out.truncate(before);
      if (++this.#nodes % SLICE === 0) yield;
    }
  }

  /** Ends the object of a node, with the facets of the edge that leads to it; false when there is nothing to show. */
  #close(layout: Layout, uid: number, facets: Facets | undefined): boolean {
    const out = this.#out;
    // An edge without selections below it can still show its facets.
    if (facets && (out.last !== OPEN || layout.fields.length === 0)) writeFacets(layout, facets, this.#members);
    if (out.last === OPEN) return false;
    if (this.#debug && !layout.hasUid) {
      writePrefix(out, UID);
      writeUid(out, uid);
    }
    out.byte(CLOSE);
    return true;
  }

  /** The most of all nodes have no edges below them: they are written without a pause. */
  #flatFields(layout: Layout, uid: number): void {
    const at = positionOf(layout, uid);
    if (at < 0) return;
    for (const field of layout.fields) writeScalar(field, uid, at, this.#members);
  }

  *#deepFields(layout: Layout, uid: number, seen: readonly number[] | undefined): Steps {
    const at = positionOf(layout, uid);
    if (at < 0) return;
    const below = seen && [...seen, uid];
    for (const field of layout.fields) {
      if (field.node.groups) this.#groupField(field, at);
      else if (field.node.rows) yield* this.#edge(field, at, below);
      else writeScalar(field, uid, at, this.#members);
    }
  }

  *#edge(field: Layout, at: number, seen: readonly number[] | undefined): Steps {
    const row = field.node.rows?.[at];
    if (!row || row.length === 0) return;
    const out = this.#out;
    const before = out.length;
    writePrefix(out, field.prefix);
    const single = field.single && !field.normalize && field.counts.length === 0;
    if (!single) out.byte(OPEN_LIST);
    const start = out.length;
    if (field.normalize) for (const record of edgeRecords(field, at, seen)) this.#record(record);
    else yield* this.#list(field, single ? row.subarray(0, 1) : row, field.node.rowFacets?.[at], seen);
    if (!single) for (const count of field.counts) this.#count(count, row.length);
    if (out.length === start) out.truncate(before);
    else if (!single) out.byte(CLOSE_LIST);
  }

  #groupField(field: Layout, at: number): void {
    const groups = field.node.groups?.[at] ?? [];
    if (groups.length === 0 || field.syntax.kind !== 'predicate') return;
    const out = this.#out;
    writePrefix(out, field.prefix);
    out.byte(OPEN_LIST);
    this.#groups(groups, field.syntax.groupBy, field.syntax.children);
    out.byte(CLOSE_LIST);
  }

  #groups(groups: readonly ResultGroup[], groupBy: GroupBy | undefined, selections: readonly Selection[]): void {
    const out = this.#out;
    const keys = (groupBy?.keys ?? []).map((key) => prefixOf(key.alias ?? groupKeyName(key, this.#names)));
    const results = selections.map((selection) => prefixOf(answerKey(selection)));
    out.byte(OPEN);
    out.bytes(GROUPS);
    out.byte(OPEN_LIST);
    for (const group of groups) {
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

function isNamed(field: Layout): boolean {
  return 'alias' in field.syntax && field.syntax.alias !== undefined;
}

function groupKeyName(key: GroupBy['keys'][number], names: Names): string {
  const langs = key.langs.length > 0 ? `@${key.langs.join(':')}` : '';
  return `${key.reverse ? '~' : ''}${names.shown(key.name)}${langs}`;
}
