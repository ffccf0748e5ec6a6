import { countKey, type FAMILY, tokenKey } from '../key.js';
import { writeList } from '../posting-list.js';
import type { IndexKind } from '../../values/index.js';
import { CHUNK_SPLIT } from '../uid-chunk.js';
import { INLINE_LIST } from '../merge/uid-family.js';
import { BlockWriter } from './block-writer.js';
import { compareSpans } from './byte-order.js';
import type { Cursor } from './cursor.js';
import type { PutSink } from './put-sink.js';
import type { Sorter } from './sorter.js';

/** Uids that come ascending, repeats left out. */
class UidBuffer {
  #uids = new Float64Array(64);
  #count = 0;

  add(uid: number): void {
    if (this.#count > 0 && this.#uids[this.#count - 1] === uid) return;
    if (this.#count === this.#uids.length) {
      const grown = new Float64Array(this.#count * 2);
      grown.set(this.#uids);
      this.#uids = grown;
    }
    this.#uids[this.#count++] = uid;
  }

  /** The uids so far, until the next `add`; the buffer is empty then. */
  take(): Float64Array {
    const uids = this.#uids.subarray(0, this.#count);
    this.#count = 0;
    return uids;
  }
}

/** Where edges go once they are lists. */
interface EdgeTargets {
  /** the predicate has one edge a node: the last one given */
  readonly single: boolean;
  readonly reverse: Sorter | undefined;
  readonly counts: Sorter | undefined;
}

/** Writes the lists of a family from (owner, uid) pairs in order. */
export async function mergeEdges(
  predicate: number,
  family: typeof FAMILY.edge | typeof FAMILY.reverse,
  pairs: Cursor,
  sink: PutSink,
  { single, reverse, counts }: EdgeTargets,
): Promise<void> {
  const blocks = new BlockWriter(predicate, family, sink.put);
  const buffer = new UidBuffer();
  for (let more = pairs.next(); more; ) {
    const owner = pairs.a;
    let last = 0;
    do {
      last = pairs.b;
      if (!single) buffer.add(last);
      more = pairs.next();
    } while (more && pairs.a === owner);
    if (single) buffer.add(last);
    const uids = buffer.take();
    const root = writeList(uids, () => blocks.prefix(owner), INLINE_LIST, sink.put);
    if (root) blocks.root(owner, root);
    if (reverse) for (let i = 0; i < uids.length; i++) reverse.add(uids[i], owner);
    counts?.add(uids.length, owner);
    if (sink.full) await sink.flush();
  }
  blocks.flush();
}

/** Writes the lists of an index from tokens in order, each with uids ascending. */
export async function mergeTokens(predicate: number, kind: IndexKind, tokens: Cursor, sink: PutSink): Promise<void> {
  const buffer = new UidBuffer();
  for (let more = tokens.next(); more; ) {
    const { bytes, start, end } = tokens;
    do {
      buffer.add(tokens.a);
      more = tokens.next();
    } while (more && compareSpans(tokens.bytes, tokens.start, tokens.end, bytes, start, end) === 0);
    putList(tokenKey(predicate, kind, bytes.subarray(start, end)), buffer.take(), sink);
    if (sink.full) await sink.flush();
  }
}

/** Writes the lists of the count index from (count, uid) in order. */
export async function mergeCounts(predicate: number, reverse: boolean, counts: Cursor, sink: PutSink): Promise<void> {
  const buffer = new UidBuffer();
  for (let more = counts.next(); more; ) {
    const count = counts.a;
    do {
      buffer.add(counts.b);
      more = counts.next();
    } while (more && counts.a === count);
    putList(countKey(predicate, reverse, count), buffer.take(), sink);
    if (sink.full) await sink.flush();
  }
}

function putList(key: Uint8Array, uids: Float64Array, sink: PutSink): void {
  sink.put(
    key,
    writeList(uids, () => key, CHUNK_SPLIT, sink.put),
  );
}
