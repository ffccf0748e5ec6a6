import {
  chain,
  atOnce,
  forEachInSteps,
  GraphsteadError,
  inSteps,
  type Limits,
  type MaybePromise,
  STEP,
  type Steps,
  latin1,
  Yielder,
} from '../../base/index.js';
import { aborted } from '../../commit/index.js';
import {
  convert,
  decodeValue,
  encodeValue,
  type ScalarType,
  storedType,
  tokensOf,
  valueText,
} from '../../values/index.js';
import { type ChangesPart, hasValue, OP, payloadOf } from '../delta.js';
import { textKey } from '../entry-map.js';
import { edgeKey } from '../facet.js';
import { tokenKey } from '../key.js';
import { memberEntry } from '../member.js';
import { isSpilled, readSpilled } from '../posting-list.js';
import { retyped } from '../retype.js';
import { isSettling, type PredicateRecord } from '../schema.js';
import type { SchemaDraft } from '../schema-draft.js';
import type { PutKey, Source } from '../source.js';
import { decodeChunk } from '../uid-chunk.js';
import { intoList } from './into-list.js';
import { PredicateMerge } from './predicate-merge.js';

/** Deltas that are taken apart, and whose blocks are fetched, at once: a few milliseconds, and no more memory for millions. */
const LOADED = 4_096;

/** One delta with its names resolved. */
interface Delta {
  readonly op: number;
  readonly merge: PredicateMerge;
  readonly uid: number;
  readonly object: number;
  readonly lang: string;
  readonly value: Uint8Array;
  readonly facets: Uint8Array;
}

/**
 * Merges deltas by key onto current bytes. The committer uses one for each group; a transaction that reads its own
 * changes uses one over its snapshot. Nothing is written before `flush`.
 */
export class GroupMerge {
  readonly #predicates = new Map<number, PredicateMerge>();
  readonly #yielder: Yielder;
  /** values that this group gave to @unique predicates: predicate, language and bytes to uids */
  readonly #claims = new Map<string, Set<number>>();

  constructor(
    readonly source: Source,
    readonly draft: SchemaDraft,
    limits: Limits,
    /** predicates that the source does not have yet, but that exist: created since its snapshot was taken */
    readonly created: (name: string) => PredicateRecord | undefined = () => undefined,
  ) {
    this.#yielder = new Yielder(limits.yieldMs);
  }

  predicate(record: PredicateRecord): PredicateMerge {
    let merge = this.#predicates.get(record.id);
    if (!merge) {
      merge = new PredicateMerge(record);
      this.#predicates.set(record.id, merge);
    }
    merge.record = record;
    return merge;
  }

  /** A predicate that this group has touched, whatever its name is now. */
  touched(id: number): PredicateMerge | undefined {
    return this.#predicates.get(id);
  }

  /**
   * Merges one part. Throws TXN_ABORTED when the schema moved away under it and UNIQUE_VIOLATION; then no trace stays.
   * @param checkUnique false for a transaction's own view, which was checked when it was staged
   */
  async apply(part: ChangesPart, checkUnique: boolean): Promise<void> {
    const restore = this.draft.mark();
    const undo: (() => void)[] = [];
    try {
      const merges = await this.#inSteps(part.ops.length, this.#resolve(part));
      const isUnique = ({ record }: PredicateMerge) => checkUnique && record.unique;
      if (merges.some(isUnique)) await this.#applyUnique(this.#deltas(part, merges, isUnique), undo);
      const isPlain = (merge: PredicateMerge) => !isUnique(merge);
      for (let from = 0; from < part.ops.length; from += LOADED) {
        if (from > 0) await this.#yielder.due();
        const deltas = this.#deltas(part, merges, isPlain, from, from + LOADED);
        await this.#load(deltas);
        for (const delta of deltas) this.#applyDelta(delta);
      }
    } catch (error) {
      for (const step of undo.reverse()) step();
      restore();
      for (const merge of this.#predicates.values())
        merge.record = this.draft.predicate(merge.record.name) ?? merge.record;
      throw error;
    }
  }

  /**
   * Everything merged so far, as puts.
   * @param stamp the timestamp under which it is committed
   */
  async flush(put: PutKey, stamp?: number): Promise<void> {
    for (const merge of this.#predicates.values()) {
      await merge.flush(this.source, put, this.#yielder, stamp);
      const pause = this.#yielder.due();
      if (pause) await pause;
    }
  }

  /** What is little is done without a pause, and without a turn of the event loop. */
  #inSteps<T>(pieces: number, steps: Steps<T>): MaybePromise<T> {
    return pieces < STEP ? atOnce(steps) : inSteps(steps, () => this.#yielder.due());
  }

  /** All or nothing: what a check may refuse stands before what it cannot. */
  async #applyUnique(deltas: readonly Delta[], undo: (() => void)[]): Promise<void> {
    for (let from = 0; from < deltas.length; from += LOADED) {
      if (from > 0) await this.#yielder.due();
      await this.#load(deltas.slice(from, from + LOADED));
    }
    for (const delta of deltas) {
      undo.push(this.#undoOf(delta));
      this.#applyDelta(delta);
    }
    await this.#checkUnique(deltas.filter((delta) => delta.op === OP.setValue));
  }

  /** The merge of each name. Throws TXN_ABORTED when a delta does not fit the schema of now. */
  *#resolve(part: ChangesPart): Steps<PredicateMerge[]> {
    const creates = new Map(part.create.map((draft) => [draft.name, draft]));
    const records = part.names.map((name) => {
      const existing = this.draft.predicate(name);
      if (existing) return existing;
      const draft = creates.get(name) ?? this.created(name);
      if (!draft) throw aborted();
      return this.draft.create(name, { ...draft });
    });
    const flagged = yield* this.#flagged(part, records);
    for (let i = 0; i < part.ops.length; i++) {
      if (i % STEP === STEP - 1) yield;
      this.#check(part, i, flagged[part.predicates[i]]);
    }
    const merges: PredicateMerge[] = [];
    yield* forEachInSteps(flagged, (record) => merges.push(this.predicate(record)));
    return merges;
  }

  /** Those of the deltas [from, to) whose predicate is wanted. */
  #deltas(
    part: ChangesPart,
    merges: readonly PredicateMerge[],
    isWanted: (merge: PredicateMerge) => boolean,
    from = 0,
    to = part.ops.length,
  ): Delta[] {
    const deltas: Delta[] = [];
    for (let i = from; i < Math.min(to, part.ops.length); i++) {
      const merge = merges[part.predicates[i]];
      if (!isWanted(merge)) continue;
      const { value, facets } = payloadOf(part, i);
      deltas.push({
        op: part.ops[i],
        merge,
        uid: part.uids[i],
        object: part.objects[i],
        lang: part.langs[part.langOf[i]],
        value: converted(merge.record, value),
        facets,
      });
    }
    return deltas;
  }

  /** Notes on the records that languages or facets are in use from now on. */
  *#flagged(part: ChangesPart, records: PredicateRecord[]): Steps<PredicateRecord[]> {
    for (let i = 0; i < part.ops.length; i++) {
      if (i % STEP === STEP - 1) yield;
      if (part.ops[i] > OP.setEdge) continue;
      const record = records[part.predicates[i]];
      const hasLang = record.hasLang || part.langOf[i] > 0;
      const hasFacets = record.hasFacets || part.ends[2 * i + 1] > part.ends[2 * i];
      if (hasLang === record.hasLang && hasFacets === record.hasFacets) continue;
      const flagged = { ...record, hasLang, hasFacets };
      records[part.predicates[i]] = flagged;
      this.draft.update(flagged);
    }
    return records;
  }

  #check(part: ChangesPart, i: number, record: PredicateRecord): void {
    const op = part.ops[i];
    const isEdge = op === OP.setEdge || op === OP.deleteEdge;
    if (op !== OP.deletePredicate && isEdge !== (record.type === 'uid')) {
      throw aborted();
    }
    if (hasValue(part, i)) converted(record, payloadOf(part, i).value);
  }

  async #load(deltas: readonly Delta[]): Promise<void> {
    const merges = new Set<PredicateMerge>();
    for (const delta of deltas) {
      merges.add(delta.merge);
      this.#need(delta);
    }
    for (const merge of merges) await merge.load(this.source);
  }

  #need({ op, merge, uid, lang, facets }: Delta): void {
    const { record } = merge;
    if (record.type === 'uid') {
      if (record.hasFacets || facets.length > 0) merge.edgeFacet.need(uid);
      return;
    }
    if (op === OP.deletePredicate) {
      merge.needValues(uid, false);
      if (record.hasLang) merge.needValues(uid, true);
    } else merge.needValues(uid, lang !== '');
    if (record.hasFacets || facets.length > 0) merge.valueFacet.need(uid);
  }

  #applyDelta(delta: Delta): void {
    if (delta.merge.record.type === 'uid') this.#applyEdge(delta);
    else if (delta.merge.record.list) this.#applyMember(delta);
    else this.#applyScalar(delta);
  }

  #applyEdge({ op, merge, uid, object, facets }: Delta): void {
    const { list, hasFacets } = merge.record;
    const pending = merge.edge.pending(uid);
    if (op === OP.deletePredicate) {
      pending.removeAll();
      if (hasFacets) merge.edgeFacet.set(uid, undefined);
    } else if (op === OP.deleteEdge) {
      pending.remove(object);
      if (hasFacets) merge.edgeFacet.edit(uid, edgeKey(object), undefined);
    } else {
      if (!list) {
        pending.removeAll();
        if (hasFacets) merge.edgeFacet.set(uid, undefined);
      }
      pending.add(object);
      if (hasFacets) merge.edgeFacet.edit(uid, edgeKey(object), facets.length > 0 ? facets : undefined);
    }
  }

  #applyMember({ op, merge, uid, value, facets }: Delta): void {
    const { hasFacets } = merge.record;
    if (isSettling(merge.record)) intoList(uid, merge);
    if (op === OP.deletePredicate || op === OP.deleteLang) {
      merge.member.set(uid, undefined);
      if (hasFacets) merge.valueFacet.set(uid, undefined);
      return;
    }
    const entry = memberEntry(value);
    merge.member.edit(uid, entry.key, op === OP.setValue ? entry.value : undefined);
    if (hasFacets) {
      merge.valueFacet.edit(uid, entry.key, op === OP.setValue && facets.length > 0 ? facets : undefined);
    }
  }

  #applyScalar(delta: Delta): void {
    const { op, merge, uid, lang, value, facets } = delta;
    const { hasFacets, hasLang } = merge.record;
    if (op === OP.deletePredicate) {
      merge.value.set(uid, undefined);
      if (hasLang) merge.lang.set(uid, undefined);
      if (hasFacets) merge.valueFacet.set(uid, undefined);
      return;
    }
    if (op === OP.deleteValue && !sameBytes(currentScalar(delta), value)) return;
    const next = op === OP.setValue ? value : undefined;
    if (lang === '') merge.value.set(uid, next);
    else merge.lang.edit(uid, textKey(lang), next);
    if (hasFacets) merge.valueFacet.edit(uid, textKey(lang), next && facets.length > 0 ? facets : undefined);
  }

  #undoOf({ merge, uid }: Delta): () => void {
    const saved = [merge.value, merge.lang, merge.member, merge.valueFacet]
      .filter((family) => family.has(uid))
      .map((family) => ({ family, payload: family.get(uid) }));
    return () => {
      for (const { family, payload } of saved) family.set(uid, payload);
    };
  }

  async #checkUnique(deltas: readonly Delta[]): Promise<void> {
    for (const delta of deltas) {
      const { merge, uid, lang, value } = delta;
      if (!merge.current(uid).some((held) => held.lang === lang && sameBytes(held.value, value))) continue;
      const claim = `${merge.record.id} ${lang}\0${latin1(value)}`;
      const rivals = new Set([...(this.#claims.get(claim) ?? []), ...(await this.#holders(delta))]);
      rivals.delete(uid);
      for (const rival of rivals) {
        merge.needValues(rival, lang !== '');
        await merge.load(this.source);
        if (!merge.current(rival).some((held) => held.lang === lang && sameBytes(held.value, value))) continue;
        throw uniqueViolation(merge.record.name, value);
      }
      const claims = this.#claims.get(claim) ?? new Set();
      this.#claims.set(claim, claims.add(uid));
    }
  }

  /** Uids that the store has under the value's token. */
  async #holders({ merge, lang, value }: Delta): Promise<Iterable<number>> {
    const kind = uniqueKind(merge.record);
    const token = kind && tokensOf(kind, decodeValue(value), lang)[0];
    if (!kind || !token) return [];
    const key = tokenKey(merge.record.id, kind, token);
    return chain(this.source.getMany([key]), ([root]): MaybePromise<Iterable<number>> => {
      if (!root) return [];
      return isSpilled(root) ? readSpilled(this.source, key) : decodeChunk(root);
    });
  }
}

/** The value in the predicate's type of now, as the schema may have moved since the delta was staged. Throws TXN_ABORTED. */
function converted(record: PredicateRecord, value: Uint8Array): Uint8Array {
  if (value.length === 0 || storedType(value) === record.type) return value;
  try {
    return encodeValue(convert(decodeValue(value), record.type as ScalarType));
  } catch (cause) {
    throw aborted(cause);
  }
}

/** The index by which a @unique predicate finds equal values. */
export function uniqueKind(record: PredicateRecord) {
  return record.indexes
    .map((index) => index.kind)
    .find((kind) => kind === 'exact' || kind === 'hash' || kind === record.type);
}

export function uniqueViolation(name: string, value: Uint8Array): GraphsteadError {
  const text = valueText(decodeValue(value));
  return new GraphsteadError('UNIQUE_VIOLATION', `could not insert duplicate value [${text}] for predicate [${name}]`, {
    fix: 'Change the node that has the value, or give another value.',
  });
}

function currentScalar({ merge, uid, lang }: Delta): Uint8Array | undefined {
  const value = lang === '' ? merge.value.get(uid) : merge.lang.entry(uid, textKey(lang));
  return value && merge.record.retyped ? retyped(value, merge.record.type as ScalarType) : value;
}

/** Whether two payloads hold the same bytes. */
function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && a.length === b.length && Buffer.compare(a, b) === 0;
}
