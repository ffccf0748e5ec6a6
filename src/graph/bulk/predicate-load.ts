import { GraphsteadError } from '../../base/index.js';
import { encodeValue } from '../../values/index.js';
import type { GraphChange } from '../contract.js';
import { encodeFacets, edgeKey } from '../facet.js';
import { textKey } from '../entry-map.js';
import { FAMILY } from '../key.js';
import { memberEntry } from '../member.js';
import { growsIntoList, mayHaveLanguages, type PredicateRecord } from '../schema.js';
import { checkIndexed, convertFor, type KeepTerms, mismatch, noLang } from '../stage.js';
import type { Cursor } from './cursor.js';
import { NO_BYTES } from './cursor.js';
import { mergeCounts, mergeEdges, mergeTokens } from './list-merge.js';
import type { PutSink } from './put-sink.js';
import { Sorter, type SorterBudget } from './sorter.js';
import {
  CLEAR_RECORD,
  checkClaims,
  entryRecord,
  hasSeveral,
  mergeEntries,
  mergeMembers,
  mergeScalars,
  type ValueTargets,
} from './value-merge.js';

type SetValue = Extract<GraphChange, { op: 'setValue' }>;
type SetEdge = Extract<GraphChange, { op: 'setEdge' }>;

/** Everything that a load gives one predicate: gathered change by change, then written in the order of keys. */
export class PredicateLoad {
  readonly #terms: KeepTerms;
  readonly #budget: SorterBudget;
  readonly #edges: Sorter;
  readonly #plain: Sorter;
  readonly #tagged: Sorter;
  readonly #members: Sorter;
  readonly #facets: Sorter;
  /** those of values under the keys of members, while it may still come to hold lists */
  readonly #memberFacets: Sorter;
  /** whether nobody declared it, and it may come to hold lists */
  readonly #mayGrow: boolean;
  #isListed = false;
  /** as it will be in the schema; its id is still the one from before, 0 for a new one */
  record: PredicateRecord;

  constructor(record: PredicateRecord, terms: KeepTerms, budget: SorterBudget, growLists: boolean) {
    this.#terms = terms;
    this.record = record;
    this.#mayGrow = growLists && record.id === 0 && growsIntoList(record.type);
    this.#budget = budget;
    this.#edges = new Sorter(record.list ? 'ab' : 'a', budget, false);
    this.#plain = new Sorter('a', budget);
    this.#tagged = new Sorter('a', budget);
    this.#members = new Sorter('a', budget);
    this.#facets = new Sorter('a', budget);
    this.#memberFacets = new Sorter('a', budget);
  }

  /** Records that were gathered, once for themselves and once for each index: what is to be sorted and written. */
  get work(): number {
    const { indexes, reverse, count } = this.record;
    const records = this.#edges.size + this.#plain.size + this.#tagged.size + this.#members.size;
    return records * (1 + indexes.length + Number(reverse) + Number(count));
  }

  /** Throws INVALID_VALUE and VALUE_TOO_LARGE, as staging in a transaction does; nothing of the change is kept then. */
  setValue({ uid, value, lang, facets, list }: SetValue): void {
    const { record } = this;
    if (list) this.#isListed = true;
    if (record.type === 'uid') throw mismatch(record, 'scalar');
    if (lang !== '' && !record.lang) {
      if (record.id !== 0 || !mayHaveLanguages(record)) throw noLang(record);
      this.record = { ...record, lang: true };
    }
    const converted = convertFor(record, value, this.#terms);
    if (converted.type === 'float32vector' && converted.value.length === 0) {
      this.#clearVector(uid);
      return;
    }
    const stored = encodeValue(converted);
    checkIndexed(record, converted, stored.length);
    if (lang !== '' && !record.hasLang) this.record = { ...this.record, hasLang: true };
    if (record.list) this.#members.addBytes(uid, stored);
    else if (lang === '') this.#plain.addBytes(uid, stored);
    else this.#tagged.addBytes(uid, entryRecord(textKey(lang), stored));
    if (!facets && !record.hasFacets) return;
    this.#facet(uid, record.list ? memberEntry(stored).key : textKey(lang), facets);
    if (this.#mayGrow) this.#facet(uid, memberEntry(stored).key, facets, this.#memberFacets);
  }

  /** A vector without dimensions says that there is none: it takes the place of the one before, and is not kept itself. */
  #clearVector(uid: number): void {
    if (this.record.list) return;
    this.#plain.addBytes(uid, NO_BYTES);
    if (this.record.hasFacets) this.#facets.addBytes(uid, CLEAR_RECORD);
  }

  setEdge({ uid, object, facets }: SetEdge): void {
    const { record } = this;
    if (record.type !== 'uid') throw mismatch(record, 'uid');
    this.#edges.add(uid, object);
    if (!facets && !record.hasFacets) return;
    if (!record.list) this.#facets.addBytes(uid, CLEAR_RECORD);
    this.#facet(uid, edgeKey(object), facets);
  }

  /** Before a predicate has facets there are none that a change without them could take away. */
  #facet(uid: number, key: string, facets: SetValue['facets'], into = this.#facets): void {
    const bytes = facets && facets.length > 0 ? encodeFacets(facets) : NO_BYTES;
    if (bytes.length > 0 && !this.record.hasFacets) this.record = { ...this.record, hasFacets: true };
    if (this.record.hasFacets) into.addBytes(uid, entryRecord(key, bytes));
  }

  /** Writes everything under the id. Throws UNIQUE_VIOLATION. */
  async write(id: number, sink: PutSink): Promise<void> {
    const isEdges = this.record.type === 'uid';
    const isGrown = this.#growsIntoList();
    if (isGrown) this.record = { ...this.record, list: true };
    const [kept, others] = isGrown ? [this.#memberFacets, this.#facets] : [this.#facets, this.#memberFacets];
    await this.#drain(others, async () => undefined);
    await this.#drain(kept, (facets) => mergeEntries(id, isEdges ? FAMILY.edgeFacet : FAMILY.valueFacet, facets, sink));
    await (isEdges ? this.#writeEdges(id, sink) : this.#writeValues(id, sink));
  }

  /** Throws INVALID_VALUE where it also has languages, which no list has: all values but the last would be lost. */
  #growsIntoList(): boolean {
    if (!this.#mayGrow || this.record.list) return false;
    if (!this.#isListed && !hasSeveral(this.#plain.look())) return false;
    if (this.record.lang) throw listWithLanguages(this.record.name);
    return true;
  }

  async #writeEdges(id: number, sink: PutSink): Promise<void> {
    const { list, reverse, count } = this.record;
    const backward = reverse ? this.#derived('a', false) : undefined;
    const counts = count ? this.#derived('a', false) : undefined;
    await this.#drain(this.#edges, (edges) =>
      mergeEdges(id, FAMILY.edge, edges, sink, { single: !list, reverse: backward, counts }),
    );
    if (counts) await this.#drain(counts, (cursor) => mergeCounts(id, false, cursor, sink));
    if (!backward) return;
    const backwardCounts = count ? this.#derived('a', false) : undefined;
    await this.#drain(backward, (edges) =>
      mergeEdges(id, FAMILY.reverse, edges, sink, { single: false, reverse: undefined, counts: backwardCounts }),
    );
    if (backwardCounts) await this.#drain(backwardCounts, (cursor) => mergeCounts(id, true, cursor, sink));
  }

  async #writeValues(id: number, sink: PutSink): Promise<void> {
    const { list, count, unique, indexes, name } = this.record;
    const kinds = indexes.map(({ kind }) => kind).filter((kind) => kind !== 'hnsw');
    const targets: ValueTargets = {
      tokens: kinds.map((kind) => ({ kind, sorter: this.#derived('bytes') })),
      counts: count ? this.#derived('a', false) : undefined,
      claims: unique ? this.#derived('bytes') : undefined,
    };
    const members = this.#plain.size > 0 ? this.#plain : this.#members;
    if (list) await this.#drain(members, (members) => mergeMembers(id, members, sink, targets));
    else {
      await this.#drain(this.#plain, (plain) =>
        this.#drain(this.#tagged, (tagged) => mergeScalars(id, plain, tagged, sink, targets)),
      );
    }
    if (targets.claims) await this.#drain(targets.claims, async (claims) => checkClaims(name, claims));
    for (const { kind, sorter } of targets.tokens) {
      await this.#drain(sorter, (tokens) => mergeTokens(id, kind, tokens, sink));
    }
    if (targets.counts) await this.#drain(targets.counts, (cursor) => mergeCounts(id, false, cursor, sink));
  }

  #derived(by: 'a' | 'bytes', hasBytes = true): Sorter {
    return new Sorter(by, this.#budget, hasBytes);
  }

  async #drain(sorter: Sorter, use: (records: Cursor) => Promise<void>): Promise<void> {
    const { cursor, done } = sorter.sorted();
    await use(cursor);
    done();
  }
}

function listWithLanguages(name: string): GraphsteadError {
  return new GraphsteadError(
    'INVALID_VALUE',
    `${name}, which nobody declared, has several values of one node without a language, and others with one: a list has no languages`,
    {
      fix: `Leave one of them at each node, or the languages out. To keep the last one, declare ${name}: string @lang in the schema.`,
    },
  );
}
