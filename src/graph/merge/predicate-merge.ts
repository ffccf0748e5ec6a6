import { atOnce, inSteps, latin1, STEP, type Steps, type Yielder } from '../../base/index.js';
import { decodeValue, type IndexKind, type ScalarType, tokenPieces, tokenTexts } from '../../values/index.js';
import { blockOf, slotOf } from '../block.js';
import { countKey, FAMILY, tokenKey } from '../key.js';
import { LONG_VALUE } from '../long-value.js';
import { type ListChange, rootCount } from '../posting-list.js';
import { retyped } from '../retype.js';
import { isSettling, type PredicateRecord } from '../schema.js';
import type { PutKey, Source } from '../source.js';
import { Hnsw } from '../hnsw/hnsw.js';
import { HnswStore } from '../hnsw/store.js';
import { hnswOptions } from '../read/similar.js';
import { BytesFamily } from './bytes-family.js';
import { TokenEdits } from './token-edit.js';
import { UidFamily } from './uid-family.js';
import { type TaggedValue, taggedValues } from './value-list.js';

/** Everything that a group changes under one predicate. */
export class PredicateMerge {
  readonly value: BytesFamily;
  readonly lang: BytesFamily;
  readonly member: BytesFamily;
  readonly valueFacet: BytesFamily;
  readonly edgeFacet: BytesFamily;
  readonly edge: UidFamily;
  readonly reverse: UidFamily;
  readonly #tokens = new Map<IndexKind, TokenEdits>();
  readonly #counts: TokenEdits;
  readonly #reverseCounts: TokenEdits;
  /** uids whose counts, and tokens of these indexes, are written whether or not they changed */
  readonly #rebuilt = new Map<number, readonly IndexKind[]>();
  readonly #recounted = new Set<number>();
  readonly #reverseRecounted = new Set<number>();
  /** the newest declaration in the group */
  record: PredicateRecord;

  constructor(record: PredicateRecord) {
    this.record = record;
    const { id } = record;
    this.value = new BytesFamily(id, FAMILY.value);
    this.lang = new BytesFamily(id, FAMILY.lang);
    this.member = new BytesFamily(id, FAMILY.member);
    this.valueFacet = new BytesFamily(id, FAMILY.valueFacet);
    this.edgeFacet = new BytesFamily(id, FAMILY.edgeFacet);
    this.edge = new UidFamily(id, FAMILY.edge);
    this.reverse = new UidFamily(id, FAMILY.reverse);
    this.#counts = new TokenEdits((count) => countKey(id, false, Number(count)));
    this.#reverseCounts = new TokenEdits((count) => countKey(id, true, Number(count)));
  }

  get #bytesFamilies(): readonly BytesFamily[] {
    return [this.value, this.lang, this.member, this.valueFacet, this.edgeFacet];
  }

  /** Notes the value families of a uid that a change of its values needs. */
  needValues(uid: number, tagged: boolean): void {
    if (this.record.list) {
      this.member.need(uid);
      if (!isSettling(this.record)) return;
      this.value.need(uid);
      this.lang.need(uid);
      return;
    }
    const derived = this.record.indexes.length > 0 || this.record.count;
    if (!tagged || derived) this.value.need(uid);
    if (tagged || (derived && this.record.hasLang)) this.lang.need(uid);
  }

  async load(source: Source): Promise<void> {
    for (const family of this.#bytesFamilies) {
      const loading = family.load(source);
      if (loading instanceof Promise) await loading;
    }
  }

  tokens(kind: IndexKind): TokenEdits {
    let edits = this.#tokens.get(kind);
    if (!edits) {
      edits = new TokenEdits((token) => tokenKey(this.record.id, kind, Buffer.from(token, 'latin1')));
      this.#tokens.set(kind, edits);
    }
    return edits;
  }

  counts(reverse: boolean): TokenEdits {
    return reverse ? this.#reverseCounts : this.#counts;
  }

  #typed(...payloads: Parameters<typeof taggedValues>): TaggedValue[] {
    const values = taggedValues(...payloads);
    if (!this.record.retyped) return values;
    const type = this.record.type as ScalarType;
    return values.flatMap(({ lang, value }) => {
      const typed = retyped(value, type);
      return typed ? [{ lang, value: typed }] : [];
    });
  }

  /**
   * Current values of a uid whose families were loaded. Languages that were not loaded did not exist when the uid was:
   * the first of them came later in the group.
   */
  current(uid: number): TaggedValue[] {
    return this.#valuesBy(uid, (family) => family.get(uid));
  }

  #valuesBy(uid: number, payload: (family: BytesFamily) => Uint8Array | undefined): TaggedValue[] {
    const { list, hasLang } = this.record;
    // of a list, where an alter has not come to the uid yet
    const single = !list || (isSettling(this.record) && this.value.has(uid));
    return this.#typed(
      single ? payload(this.value) : undefined,
      single && hasLang && this.lang.has(uid) ? payload(this.lang) : undefined,
      list ? payload(this.member) : undefined,
    );
  }

  /** Bytes of the values of a uid whose families were loaded. */
  bytesOf(uid: number): number {
    return [this.value, this.lang, this.member].reduce((sum, family) => {
      return sum + (family.has(uid) ? (family.get(uid)?.length ?? 0) : 0);
    }, 0);
  }

  /**
   * A build of these indexes reached the uid, whose value families were loaded: its tokens in them, and its count, are
   * written. Other indexes of the predicate have theirs: to read their lists again would cost more than the build.
   */
  rebuild(uid: number, kinds: readonly IndexKind[]): void {
    this.#rebuilt.set(uid, [...(this.#rebuilt.get(uid) ?? []), ...kinds]);
  }

  #isRebuilt(kind: IndexKind, uid: number): boolean {
    return this.#rebuilt.get(uid)?.includes(kind) ?? false;
  }

  /** A build of @count reached the uid: the number of its edges is written. */
  recount(uid: number, reverse: boolean): void {
    (reverse ? this.#reverseRecounted : this.#recounted).add(uid);
    (reverse ? this.reverse : this.edge).table.need(blockOf(uid));
  }

  #writeCounts(uids: ReadonlySet<number>, family: UidFamily, reverse: boolean): void {
    for (const uid of uids) {
      const count = rootCount(family.table.block(blockOf(uid)).payloads[slotOf(uid)]);
      if (count > 0) this.counts(reverse).add(String(count), uid);
    }
  }

  /** Writes everything; derived data (reverse edges, counts, tokens) follows from what really changed. */
  async flush(source: Source, put: PutKey, yielder: Yielder, stamp: number | undefined): Promise<void> {
    await this.edge.flush(source, put, yielder, (uid, change) => {
      if (this.record.count) this.#countChanged(false, uid, change.before, change.after);
      if (!this.record.reverse) return;
      const turning = this.#reverseChanged(uid, change);
      const isMuch = change.added.length + change.removed.length > STEP;
      return isMuch ? inSteps(turning, () => yielder.due()) : atOnce(turning);
    });
    await this.reverse.flush(source, put, yielder, (uid, change) => {
      if (this.record.count) this.#countChanged(true, uid, change.before, change.after);
    });
    this.#writeCounts(this.#recounted, this.edge, false);
    this.#writeCounts(this.#reverseRecounted, this.reverse, true);
    await this.#deriveFromValues(yielder);
    await this.#deriveNeighbours(source, put, yielder, stamp);
    await inSteps(this.#writeValues(put), () => yielder.due());
    for (const edits of this.#tokens.values()) await edits.flush(source, put, yielder);
    await this.#counts.flush(source, put, yielder);
    await this.#reverseCounts.flush(source, put, yielder);
  }

  *#reverseChanged(uid: number, { added, removed }: ListChange): Steps<void> {
    for (let i = 0; i < added.length; i++) {
      if (i % STEP === STEP - 1) yield;
      this.reverse.pending(added[i]).add(uid);
    }
    for (let i = 0; i < removed.length; i++) {
      if (i % STEP === STEP - 1) yield;
      this.reverse.pending(removed[i]).remove(uid);
    }
  }

  #countChanged(reverse: boolean, uid: number, before: number, after: number): void {
    if (before === after) return;
    if (before > 0) this.counts(reverse).remove(String(before), uid);
    if (after > 0) this.counts(reverse).add(String(after), uid);
  }

  *#writeValues(put: PutKey): Steps<void> {
    for (const family of this.#bytesFamilies) yield* family.flush(put);
  }

  async #deriveFromValues(yielder: Yielder): Promise<void> {
    let count = 0;
    const kinds = this.record.indexes.map((index) => index.kind).filter((kind) => kind !== 'hnsw');
    if (kinds.length === 0 && !this.record.count) return;
    const touched = new Set<number>(this.#rebuilt.keys());
    for (const family of [this.value, this.lang, this.member])
      for (const uid of family.original.keys()) touched.add(uid);
    for (const uid of touched) {
      if ((++count & 127) === 0) await yielder.due();
      const before = this.#originalValues(uid);
      const after = this.current(uid);
      if (this.record.count) {
        this.#countChanged(false, uid, before.length, after.length);
        if (this.#rebuilt.has(uid) && after.length > 0) this.counts(false).add(String(after.length), uid);
      }
      const isLong = isMuch(before) || isMuch(after);
      for (const kind of kinds) {
        const changing = this.#tokensChanged(kind, uid, before, after);
        if (isLong) await inSteps(changing, () => yielder.due());
        else atOnce(changing);
      }
    }
  }

  /** Keeps the hnsw index with the vectors that changed. */
  async #deriveNeighbours(source: Source, put: PutKey, yielder: Yielder, stamp: number | undefined): Promise<void> {
    const index = this.record.indexes.find(({ kind }) => kind === 'hnsw');
    if (!index) return;
    const changed = new Set([...this.value.original.keys(), ...this.#rebuilt.keys()]);
    if (changed.size === 0) return;
    const { original } = this.value;
    const was = (uid: number) => (original.has(uid) ? original.get(uid) : this.value.get(uid));
    // each is what it was until its turn comes: neighbours of one that goes are told by its place
    const own = (uid: number) => (changed.has(uid) ? { stored: was(uid) } : undefined);
    const store = new HnswStore(source, this.record.id, own);
    const hnsw = new Hnsw(store, hnswOptions(index));
    for (const uid of changed) {
      const [before, after] = [original.get(uid), this.value.get(uid)];
      const same = before && after && original.has(uid) && Buffer.compare(before, after) === 0;
      if (same && !this.#isRebuilt('hnsw', uid)) continue;
      await hnsw.remove(uid);
      if (after) {
        store.setVector(uid, after);
        await hnsw.insert(uid);
      }
      await yielder.due();
    }
    store.write(put, stamp);
  }

  #originalValues(uid: number): TaggedValue[] {
    return this.#valuesBy(uid, (family) => (family.original.has(uid) ? family.original.get(uid) : family.get(uid)));
  }

  *#tokensChanged(kind: IndexKind, uid: number, before: TaggedValue[], after: TaggedValue[]): Steps<void> {
    const rebuilt = this.#isRebuilt(kind, uid);
    const kept = sameAtStart(before, after);
    // where nothing goes, what the kept ones share with the new ones is only written again
    const grows = kept === before.length;
    const old = yield* tokenSet(kind, grows ? [] : before);
    const now = yield* tokenSet(kind, grows && !rebuilt ? after.slice(kept) : after);
    const edits = this.tokens(kind);
    let count = 0;
    for (const token of now) {
      if (++count % STEP === 0) yield;
      if (rebuilt || !old.has(token)) edits.add(token, uid);
    }
    for (const token of old) {
      if (++count % STEP === 0) yield;
      if (!now.has(token)) edits.remove(token, uid);
    }
  }
}

/** How many values both begin with: a list keeps its values in the order in which they came. */
function sameAtStart(before: readonly TaggedValue[], after: readonly TaggedValue[]): number {
  let i = 0;
  while (i < before.length && i < after.length && isSame(before[i], after[i])) i++;
  return i;
}

function isSame(one: TaggedValue, other: TaggedValue): boolean {
  return one.lang === other.lang && Buffer.compare(one.value, other.value) === 0;
}

function isMuch(values: readonly TaggedValue[]): boolean {
  return values.length > STEP || values.some(({ value }) => value.length > LONG_VALUE);
}

/** Tokens of values, each as latin1 text. */
function* tokenSet(kind: IndexKind, values: readonly TaggedValue[]): Steps<Set<string>> {
  const tokens = new Set<string>();
  let count = 0;
  for (const { lang, value } of values) {
    if (++count % STEP === 0) yield;
    const decoded = decodeValue(value);
    const pieces = tokenPieces(kind, decoded, lang);
    if (!pieces) for (const token of tokenTexts(kind, decoded, lang)) tokens.add(token);
    for (const piece of pieces ?? []) {
      for (const token of piece) tokens.add(latin1(token));
      yield;
    }
  }
  return tokens;
}
