import { defaultNames, JsonWriter, type Names } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { ResultGroup, ResultPath, RunResult } from '../contract.js';
import type { GroupBy, Selection } from '../syntax/index.js';
import {
  ObjectMembers,
  separate,
  uidText,
  writeComputed,
  writeFacets,
  writePrefix,
  writeScalar,
  writeUid,
} from './field.js';
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
  return new AnswerWriter(options).write(result);
}

class AnswerWriter {
  readonly #out: JsonWriter;
  readonly #members: ObjectMembers;
  readonly #names: Names;
  readonly #debug: boolean;

  constructor(options: WriteOptions) {
    this.#out = new JsonWriter(options.limit);
    this.#members = new ObjectMembers(this.#out);
    this.#names = options.names ?? defaultNames;
    this.#debug = options.debug ?? false;
  }

  write(result: RunResult): Buffer {
    const out = this.#out;
    const paths: ResultPath[] = [];
    out.byte(OPEN);
    for (const root of result.roots) {
      if (root.paths) paths.push(...root.paths);
      else if (root.syntax.kind === 'block' && !root.syntax.isVar) this.#block(layoutOf(root, this.#names));
    }
    if (paths.length > 0) this.#paths(paths);
    out.byte(CLOSE);
    return out.finish();
  }

  #block(layout: Layout): void {
    const { node, syntax } = layout;
    if (syntax.kind !== 'block') return;
    if (node.groups && node.groups[0]?.length === 0) return;
    const out = this.#out;
    writePrefix(out, layout.prefix);
    out.byte(OPEN_LIST);
    if (node.groups) this.#groups(node.groups[0], syntax.groupBy, syntax.children);
    else if (!syntax.root) this.#alone(layout);
    else this.#roots(layout);
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

  #roots(layout: Layout): void {
    const row = layout.node.rows?.[0] ?? new Float64Array(0);
    for (const count of layout.counts) {
      if (!layout.normalize || isNamed(count)) this.#count(count, row.length);
    }
    const { syntax } = layout;
    const seen = syntax.kind === 'block' && syntax.directives.ignoreReflex ? [] : undefined;
    for (const uid of row) {
      if (layout.normalize) for (const record of flatten(layout, uid, seen)) this.#record(record);
      else this.#node(layout, uid, seen);
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

  /** The object of a node in a list; nothing when there is nothing to show. */
  #node(layout: Layout, uid: number, seen: readonly number[] | undefined): void {
    const before = this.#out.length;
    separate(this.#out);
    if (!this.#object(layout, uid, seen, undefined)) this.#out.truncate(before);
  }

  /** The object of a node, with the facets of the edge that leads to it; false when there is nothing to show. */
  #object(layout: Layout, uid: number, seen: readonly number[] | undefined, facets: Facets | undefined): boolean {
    const out = this.#out;
    out.byte(OPEN);
    const at = positionOf(layout, uid);
    if (at >= 0) this.#fields(layout, uid, at, seen && [...seen, uid]);
    // An edge without selections below it can still show its facets.
    if (out.last !== OPEN || layout.fields.length === 0) writeFacets(layout, facets, this.#members);
    if (out.last === OPEN) return false;
    if (this.#debug && !layout.hasUid) {
      writePrefix(out, UID);
      writeUid(out, uid);
    }
    out.byte(CLOSE);
    return true;
  }

  #fields(layout: Layout, uid: number, at: number, seen: readonly number[] | undefined): void {
    for (const field of layout.fields) {
      if (field.node.groups) this.#groupField(field, at);
      else if (field.node.rows) this.#edge(field, at, seen);
      else writeScalar(field, uid, at, this.#members);
    }
  }

  #edge(field: Layout, at: number, seen: readonly number[] | undefined): void {
    const row = field.node.rows?.[at];
    if (!row || row.length === 0) return;
    const out = this.#out;
    const before = out.length;
    writePrefix(out, field.prefix);
    if (field.single && !field.normalize && field.counts.length === 0) {
      const hidden = seen?.includes(row[0]);
      if (hidden || !this.#object(field, row[0], seen, field.node.rowFacets?.[at]?.[0])) out.truncate(before);
      return;
    }
    out.byte(OPEN_LIST);
    if (field.normalize) for (const record of edgeRecords(field, at, seen)) this.#record(record);
    else this.#targets(field, at, row, seen);
    if (out.last === OPEN_LIST) out.truncate(before);
    else out.byte(CLOSE_LIST);
  }

  #targets(field: Layout, at: number, row: UidList, seen: readonly number[] | undefined): void {
    const out = this.#out;
    const facets = field.node.rowFacets?.[at];
    for (let i = 0; i < row.length; i++) {
      if (seen?.includes(row[i])) continue;
      const before = out.length;
      separate(out);
      if (!this.#object(field, row[i], seen, facets?.[i])) out.truncate(before);
    }
    for (const count of field.counts) this.#count(count, row.length);
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
      this.#step(path, 0);
    }
    out.byte(CLOSE_LIST);
  }

  #step(path: ResultPath, at: number): void {
    const out = this.#out;
    out.byte(OPEN);
    const edge = path.edges[at];
    if (edge) {
      out.bytes(prefixOf(answerKey(edge.selection)));
      this.#step(path, at + 1);
      out.byte(COMMA);
    }
    out.bytes(UID);
    out.ascii(`"${uidText(path.uids[at])}"`);
    if (at === 0) out.ascii(`,"_weight_":${path.weight}`);
    else {
      const { selection, facets } = path.edges[at - 1];
      if (selection.kind === 'predicate') {
        for (const { key, value } of shownFacets(selection.facets, facets, answerKey(selection))) {
          writePrefix(out, prefixOf(key));
          writeComputed(value, out);
        }
      }
    }
    out.byte(CLOSE);
  }
}

function isNamed(field: Layout): boolean {
  return 'alias' in field.syntax && field.syntax.alias !== undefined;
}

function groupKeyName(key: GroupBy['keys'][number], names: Names): string {
  const langs = key.langs.length > 0 ? `@${key.langs.join(':')}` : '';
  return `${key.reverse ? '~' : ''}${names.shown(key.name)}${langs}`;
}
