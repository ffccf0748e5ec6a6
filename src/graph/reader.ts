import { chain, GraphsteadError, latin1, type MaybePromise } from '../base/index.js';
import type { IndexKind, ScalarType, StoredValue } from '../values/index.js';
import type {
  Facets,
  GraphReader,
  LangValue,
  Predicate,
  ReadMetrics,
  Schema,
  TokenPostings,
  TokenRange,
  UidList,
  UidMatrix,
  SimilarOptions,
} from './contract.js';
import { decodeEntries, entryCount, keyText, textKey } from './entry-map.js';
import { decodeFacets } from './facet.js';
import type { IndexCache } from './hnsw/cache.js';
import { countOfKey, countRange, FAMILY, type Family, tokenKey } from './key.js';
import { memberEntry, membersOf } from './member.js';
import { rootCount } from './posting-list.js';
import { scanUids } from './read/block-scan.js';
import { facetsOfReverse, facetsOfRows, inTurns } from './read/edge-facets.js';
import { readFirst, readKeyed, readLists } from './read/list-reader.js';
import { type Payloads, readColumn, readPresence, readSlots } from './read/slot-reader.js';
import { nearest } from './read/similar.js';
import { scanTokens } from './read/token-scan.js';
import { retyped } from './retype.js';
import { isSettling, type PredicateRecord } from './schema.js';
import { readRange, type Source } from './source.js';
import { StoredColumn } from './stored-column.js';
import { EMPTY_UIDS, union } from './uid-list.js';

/** What a reader tells its transaction. */
interface ReaderHooks {
  /** a predicate is read for the first time */
  readonly reads?: (predicate: Predicate) => void;
  readonly released?: () => void;
  /** what searches have read of indexes of vectors */
  readonly indexes?: IndexCache;
}

/** The graph over any source; see GraphReader for what each method answers. */
export class SourceReader implements GraphReader {
  readonly metrics: ReadMetrics = { keysRead: 0, uidsRead: 0 };
  readonly #source: Source;
  readonly #hooks: ReaderHooks;
  readonly #seen = new Set<number>();
  #released = false;

  constructor(
    source: Source,
    readonly schema: Schema,
    readonly version: number,
    hooks: ReaderHooks = {},
  ) {
    this.#source = source;
    this.#hooks = hooks;
  }

  edges(
    predicate: Predicate,
    uids: UidList,
    options: { readonly reverse?: boolean; readonly facets?: boolean } = {},
  ): MaybePromise<UidMatrix> {
    const family = this.#edgeFamily(predicate, options.reverse);
    if (predicate.type !== 'uid') return { rows: Array.from(uids, () => EMPTY_UIDS) };
    this.#read(predicate);
    return chain(readLists(this.#source, { predicate: predicate.id, family, uids }, this.metrics), (rows) => {
      if (!options.facets || !this.#record(predicate).hasFacets) return { rows };
      const found = options.reverse ? this.#reverseFacets(predicate, uids, rows) : this.#facets(predicate, uids, rows);
      return chain(found, (facets) => ({ rows, facets }));
    });
  }

  values(predicate: Predicate, uids: UidList, lang = ''): MaybePromise<StoredColumn> {
    if (predicate.type === 'uid') return new StoredColumn(uids.length);
    if (isSettling(this.#record(predicate))) {
      return chain(this.allValues(predicate, uids), (all) => StoredColumn.of(all.map((values) => values[0]?.value)));
    }
    if (predicate.list) {
      return chain(this.#slots(predicate, FAMILY.member, uids), (payloads) =>
        StoredColumn.of(payloads.map(firstMember)),
      );
    }
    if (lang === '') {
      return chain(this.#column(predicate, FAMILY.value, uids), (values) => this.#typed(predicate, values));
    }
    if (!this.#record(predicate).hasLang) return new StoredColumn(uids.length);
    const key = textKey(lang);
    return chain(this.#slots(predicate, FAMILY.lang, uids), (payloads) =>
      this.#typed(predicate, StoredColumn.of(payloads.map((payload) => payload && decodeEntries(payload).get(key)))),
    );
  }

  /** Values in the type of now, where some were written under another. */
  #typed(predicate: Predicate, values: StoredColumn): StoredColumn {
    if (!this.#record(predicate).retyped) return values;
    const type = predicate.type as ScalarType;
    return StoredColumn.of(values.map((value) => value && retyped(value, type)));
  }

  allValues(
    predicate: Predicate,
    uids: UidList,
    options: { readonly facets?: boolean } = {},
  ): MaybePromise<readonly (readonly LangValue[])[]> {
    const { hasLang, hasFacets } = this.#record(predicate);
    const none: Payloads = [];
    const settling = isSettling(this.#record(predicate));
    const single = !predicate.list || settling;
    return chain(single ? this.#slots(predicate, FAMILY.value, uids) : none, (values) =>
      chain(hasLang && single ? this.#slots(predicate, FAMILY.lang, uids) : none, (langs) =>
        chain(predicate.list ? this.#slots(predicate, FAMILY.member, uids) : none, (members) =>
          chain(options.facets && hasFacets ? this.#slots(predicate, FAMILY.valueFacet, uids) : none, (facets) =>
            Array.from(uids, (_, i) => {
              const all = langValues(values[i], langs[i], members[i], facets[i]);
              if (settling) return settled(all, predicate.type as ScalarType);
              return this.#record(predicate).retyped ? retypedAll(all, predicate.type as ScalarType) : all;
            }),
          ),
        ),
      ),
    );
  }

  counts(
    predicate: Predicate,
    uids: UidList,
    options: { readonly reverse?: boolean } = {},
  ): MaybePromise<readonly number[]> {
    if (predicate.type === 'uid') {
      return chain(this.#slots(predicate, this.#edgeFamily(predicate, options.reverse), uids), (roots) =>
        roots.map(rootCount),
      );
    }
    if (predicate.list && !isSettling(this.#record(predicate))) {
      return chain(this.#slots(predicate, FAMILY.member, uids), (payloads) =>
        payloads.map((payload) => (payload ? entryCount(payload) : 0)),
      );
    }
    return chain(this.allValues(predicate, uids), (all) => all.map((values) => values.length));
  }

  postings(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): MaybePromise<readonly UidList[]> {
    this.#index(predicate, kind);
    return readKeyed(
      this.#source,
      tokens.map((token) => tokenKey(predicate.id, kind, token)),
      this.metrics,
    );
  }

  postingCounts(predicate: Predicate, kind: IndexKind, tokens: readonly Uint8Array[]): MaybePromise<readonly number[]> {
    this.#index(predicate, kind);
    this.metrics.keysRead += tokens.length;
    const keys = tokens.map((token) => tokenKey(predicate.id, kind, token));
    return chain(this.#source.getMany(keys), (roots) => roots.map((root) => rootCount(root)));
  }

  firstPostings(
    predicate: Predicate,
    kind: IndexKind,
    token: Uint8Array,
    { after, count }: { readonly after: number; readonly count: number },
  ): MaybePromise<UidList> {
    this.#index(predicate, kind);
    return readFirst(this.#source, tokenKey(predicate.id, kind, token), after, count, this.metrics);
  }

  tokens(predicate: Predicate, kind: IndexKind, range: TokenRange): AsyncIterable<readonly TokenPostings[]> {
    this.#index(predicate, kind);
    return scanTokens(this.#source, predicate.id, kind, range, this.metrics);
  }

  byCount(
    predicate: Predicate,
    min: number,
    max: number,
    options: { readonly reverse?: boolean } = {},
  ): MaybePromise<UidList> {
    this.#read(predicate);
    if (!predicate.count) throw missing(predicate, '@count');
    if (options.reverse && !predicate.reverse) throw missing(predicate, '@reverse');
    this.#checkBuilt(predicate, 'count');
    if (options.reverse) this.#checkBuilt(predicate, 'reverse');
    if (max < min) return EMPTY_UIDS;
    const range = { ...countRange(predicate.id, options.reverse ?? false, Math.max(0, min), max), keysOnly: true };
    return chain(readRange(this.#source, range), ({ keys }) => {
      const roots = keys.filter((key) => countOfKey(key).root);
      return chain(readKeyed(this.#source, roots, this.metrics), (lists) => union(lists));
    });
  }

  having(
    predicate: Predicate,
    options: { readonly reverse?: boolean; readonly after?: number } = {},
  ): AsyncIterable<UidList> {
    const families = this.#families(predicate, options.reverse);
    return scanUids(this.#source, predicate.id, families, options.after ?? 0, this.metrics);
  }

  filterHaving(
    predicate: Predicate,
    uids: UidList,
    options: { readonly reverse?: boolean } = {},
  ): MaybePromise<UidList> {
    return this.#presentIn(this.#families(predicate, options.reverse), predicate, uids);
  }

  /** Those of the uids that have a slot in one of the families. */
  #presentIn([family, ...others]: readonly Family[], predicate: Predicate, uids: UidList): MaybePromise<UidList> {
    return chain(this.#presence(predicate, family, uids), (present) => {
      const missing = others.length === 0 ? EMPTY_UIDS : uids.filter((_, i) => present[i] === 0);
      const held = uids.filter((_, i) => present[i] === 1);
      if (missing.length === 0) return held;
      return chain(this.#presentIn(others, predicate, missing), (also) => union([held, also]));
    });
  }

  similar(
    predicate: Predicate,
    vector: Float32Array,
    k: number,
    options: SimilarOptions = {},
  ): MaybePromise<readonly { readonly uid: number; readonly distance: number }[]> {
    const index = this.#index(predicate, 'hnsw');
    return nearest(this, this.#source, predicate, index, vector, k, options, this.#hooks.indexes);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#hooks.released?.();
  }

  #record(predicate: Predicate): PredicateRecord {
    return predicate as PredicateRecord;
  }

  #read(predicate: Predicate): void {
    if (this.#seen.has(predicate.id)) return;
    this.#seen.add(predicate.id);
    this.#hooks.reads?.(predicate);
  }

  #slots(predicate: Predicate, family: Family, uids: UidList): MaybePromise<Payloads> {
    this.#read(predicate);
    return readSlots(this.#source, { predicate: predicate.id, family, uids }, this.metrics);
  }

  #column(predicate: Predicate, family: Family, uids: UidList): MaybePromise<StoredColumn> {
    this.#read(predicate);
    return readColumn(this.#source, { predicate: predicate.id, family, uids }, this.metrics);
  }

  #presence(predicate: Predicate, family: Family, uids: UidList): MaybePromise<Uint8Array> {
    this.#read(predicate);
    return readPresence(this.#source, { predicate: predicate.id, family, uids }, this.metrics);
  }

  #edgeFamily(predicate: Predicate, reverse: boolean | undefined): Family {
    if (!reverse) return FAMILY.edge;
    if (!predicate.reverse) throw missing(predicate, '@reverse');
    this.#checkBuilt(predicate, 'reverse');
    return FAMILY.reverse;
  }

  #families(predicate: Predicate, reverse: boolean | undefined): Family[] {
    this.#read(predicate);
    if (predicate.type === 'uid') return [this.#edgeFamily(predicate, reverse)];
    if (isSettling(this.#record(predicate))) return [FAMILY.member, FAMILY.value, FAMILY.lang];
    if (predicate.list) return [FAMILY.member];
    return this.#record(predicate).hasLang ? [FAMILY.value, FAMILY.lang] : [FAMILY.value];
  }

  #index(predicate: Predicate, kind: IndexKind) {
    this.#read(predicate);
    const index = predicate.indexes.find((spec) => spec.kind === kind);
    if (!index) throw missing(predicate, `@index(${kind})`);
    if (index.ready) return index;
    throw stillBuilding(predicate, `index ${kind}`);
  }

  #checkBuilt(predicate: Predicate, part: 'reverse' | 'count'): void {
    if (this.#record(predicate).building.includes(part)) throw stillBuilding(predicate, `@${part}`);
  }

  #facets(predicate: Predicate, uids: UidList, rows: readonly UidList[]): MaybePromise<(Facets | undefined)[][]> {
    return chain(this.#column(predicate, FAMILY.edgeFacet, uids), (payloads) =>
      inTurns(rows, facetsOfRows(rows, payloads)),
    );
  }

  /** Facets lie with the subject: for reverse edges they are read from every subject of the row. */
  #reverseFacets(
    predicate: Predicate,
    uids: UidList,
    rows: readonly UidList[],
  ): MaybePromise<(Facets | undefined)[][]> {
    const subjects = union(rows);
    return chain(this.#column(predicate, FAMILY.edgeFacet, subjects), (payloads) => {
      return inTurns(rows, facetsOfReverse(uids, rows, subjects, payloads));
    });
  }
}

function stillBuilding(predicate: Predicate, what: string): GraphsteadError {
  return new GraphsteadError('INDEX_BUILDING', `the ${what} of predicate ${predicate.name} is being built`, {
    fix: 'Ask again when it is ready; /health shows the progress.',
  });
}

function missing(predicate: Predicate, what: string): GraphsteadError {
  return new GraphsteadError('MISSING_INDEX', `predicate ${predicate.name} has no ${what}`, {
    fix: `Add ${what} to ${predicate.name} in the schema.`,
  });
}

function retypedAll(values: readonly LangValue[], type: ScalarType): LangValue[] {
  return values.flatMap((one) => {
    const value = retyped(one.value, type);
    return value ? [{ ...one, value }] : [];
  });
}

/** Values of a list that an alter has not come to: as they will be. */
function settled(values: readonly LangValue[], type: ScalarType): LangValue[] {
  const members = new Map<string, LangValue>();
  for (const one of retypedAll(values, type)) members.set(latin1(one.value), { ...one, lang: '' });
  return [...members.values()];
}

function firstMember(payload: Uint8Array | undefined): StoredValue | undefined {
  return payload && membersOf(payload, 1)[0];
}

function langValues(
  value: Uint8Array | undefined,
  langs: Uint8Array | undefined,
  members: Uint8Array | undefined,
  facets: Uint8Array | undefined,
): LangValue[] {
  const entries = facets && decodeEntries(facets);
  const withFacets = (lang: string, key: string, stored: StoredValue): LangValue => {
    const bytes = entries?.get(key);
    return bytes ? { lang, value: stored, facets: decodeFacets(bytes) } : { lang, value: stored };
  };
  const all: LangValue[] = [];
  if (value) all.push(withFacets('', '', value));
  if (langs) {
    const tagged = [...decodeEntries(langs)].map(([key, bytes]) => withFacets(keyText(key), key, bytes));
    all.push(...tagged.sort((a, b) => (a.lang < b.lang ? -1 : 1)));
  }
  for (const member of members ? membersOf(members) : []) {
    all.push(entries ? withFacets('', memberEntry(member).key, member) : { lang: '', value: member });
  }
  return all;
}
