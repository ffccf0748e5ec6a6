import { chain, type MaybePromise } from '../base/index.js';
import { type Key, prefixEnd, type Range } from '../store/index.js';
import type { UidList } from './contract.js';
import { chunkKey, chunkRange, chunkUid } from './key.js';
import { type PutKey, readRange, type Source } from './source.js';
import { CHUNK_MERGE, cutChunks, chunkCount, chunkFirst, decodeChunk, decodeChunkInto } from './uid-chunk.js';
import { difference, EMPTY_UIDS, intersect, lowerBoundUid, union } from './uid-list.js';
import { varintLength, writeVarint } from './varint.js';

// A posting list has a root: the one chunk that holds all of it, or a mark and the number of uids that lie in chunks of
// their own behind `prefix`, each under its first uid. Roots stand in block slots (edges) or under their own key (tokens).

/** First byte of a root whose uids lie in chunks; no chunk begins with it. */
const SPILLED = 3;
/** A spilled list that shrinks to this many uids returns into its root. */
const UNSPILL_UIDS = 32;
/** Chunks read at once where only the first are wanted. */
const FIRST_CHUNKS = 2;
/** Above one edit for so many uids of a spilled list, the whole list is read and cut anew ... */
const REWRITE_RATIO = 256;
/** ... but where all of them fall into so few chunks: uids of new nodes, and those that a build of an index visits, go side by side. */
const NEAR_CHUNKS = 4;

/** Number of uids in a list, told by its root. */
export function rootCount(root: Uint8Array | undefined): number {
  return root ? chunkCount(root) : 0;
}

/** Whether the root that begins at `at` tells of chunks. */
export function isSpilled(root: Uint8Array, at = 0): boolean {
  return root[at] === SPILLED;
}

function spilledRoot(count: number): Uint8Array {
  const root = new Uint8Array(1 + varintLength(count));
  root[0] = SPILLED;
  writeVarint(root, 1, count);
  return root;
}

/** All uids of a spilled list. */
export function readSpilled(source: Source, prefix: Key): MaybePromise<UidList> {
  return chain(readChunks(source, prefix), joinChunks);
}

/** The chunks of a spilled list. */
export function readChunks(source: Source, prefix: Key): MaybePromise<readonly Uint8Array[]> {
  return chain(readRange(source, chunkRange(prefix)), ({ values }) => values);
}

/** The first chunks of a spilled list that hold at least `count` uids above `after`; all that are left if it has fewer. */
export function readFirstChunks(
  source: Source,
  prefix: Key,
  after: number,
  count: number,
): MaybePromise<readonly Uint8Array[]> {
  const { start, end } = chunkRange(prefix);
  // the chunk that begins at or before the first uid that is wanted
  const floor = { start, end: chunkKey(prefix, after + 2), reverse: true, limit: 1, keysOnly: true };
  return chain(source.range(floor), ({ keys }) => {
    const chunks: Uint8Array[] = [];
    let left = count;
    const step = (range: Range): MaybePromise<readonly Uint8Array[]> =>
      chain(source.range(range), (page) => {
        for (const chunk of page.values) {
          chunks.push(chunk);
          left -= chunkFirst(chunk) > after ? chunkCount(chunk) : 0;
        }
        return page.next && left > 0 ? step({ ...page.next, limit: FIRST_CHUNKS }) : chunks;
      });
    return step({ start: keys[0] ?? start, end, limit: FIRST_CHUNKS });
  });
}

/** Uids of consecutive chunks. */
export function joinChunks(chunks: readonly Uint8Array[]): UidList {
  let total = 0;
  for (const chunk of chunks) total += chunkCount(chunk);
  const out = new Float64Array(total);
  let at = 0;
  for (const chunk of chunks) at = decodeChunkInto(chunk, out, at);
  return out;
}

/** What is to become of a list: `clear` first, then removals and additions (ascending, disjoint). */
export interface ListEdit {
  readonly clear: boolean;
  readonly add: UidList;
  readonly remove: UidList;
}

/** What became of it. */
export interface ListChange {
  readonly root: Uint8Array | undefined;
  readonly before: number;
  readonly after: number;
  readonly added: UidList;
  readonly removed: UidList;
}

function edited(old: UidList, edit: ListEdit): UidList {
  if (old.length === 0) return edit.add;
  return edit.clear ? edit.add : union([difference(old, edit.remove), edit.add]);
}

/**
 * Merges an edit onto a list. Chunks that change are put behind `prefix`; the new root is the caller's to store.
 * `inline` is how many bytes a root may take.
 */
export function editList(
  source: Source,
  prefix: () => Key,
  root: Uint8Array | undefined,
  edit: ListEdit,
  inline: number,
  put: PutKey,
): MaybePromise<ListChange> {
  if (root && isSpilled(root)) return editSpilled(source, prefix(), chunkCount(root), edit, inline, put);
  const old = root ? decodeChunk(root) : EMPTY_UIDS;
  const next = edited(old, edit);
  return { ...change(old, next, edit), root: writeList(next, prefix, inline, put) };
}

function change(old: UidList, next: UidList, edit: ListEdit): Omit<ListChange, 'root'> {
  const [before, after] = [old.length, next.length];
  if (before === 0) return { before, after, added: next, removed: EMPTY_UIDS };
  if (after === 0) return { before, after, added: EMPTY_UIDS, removed: old };
  if (edit.clear || edit.remove.length > 0) {
    return { before, after, added: difference(next, old), removed: difference(old, next) };
  }
  const grown = after - before;
  const added = grown === edit.add.length ? edit.add : grown === 0 ? EMPTY_UIDS : difference(next, old);
  return { before, after, added, removed: EMPTY_UIDS };
}

/** Stores a list that has no chunks yet; answers its root. */
export function writeList(uids: UidList, prefix: () => Key, inline: number, put: PutKey): Uint8Array | undefined {
  if (uids.length === 0) return undefined;
  const chunks = cutChunks(uids, inline);
  if (chunks.length === 1 && chunks[0].length <= inline) return chunks[0];
  const behind = prefix();
  for (const chunk of chunks) put(chunkKey(behind, chunkFirst(chunk)), chunk);
  return spilledRoot(uids.length);
}

async function editSpilled(
  source: Source,
  prefix: Key,
  count: number,
  edit: ListEdit,
  inline: number,
  put: PutKey,
): Promise<ListChange> {
  if (!edit.clear && count - edit.remove.length > UNSPILL_UIDS && (await isLocal(source, prefix, count, edit))) {
    return await editChunks(source, prefix, count, edit, put);
  }
  const { keys, values } = await readRange(source, chunkRange(prefix));
  const old = joinChunks(values);
  const next = edited(old, edit);
  const kept = new Map<number, Uint8Array>();
  const root =
    next.length <= UNSPILL_UIDS
      ? writeList(next, () => prefix, inline, put)
      : writeList(
          next,
          () => prefix,
          0,
          (key, value) => {
            kept.set(chunkUid(key, prefix), value as Uint8Array);
            put(key, value);
          },
        );
  for (const key of keys) if (!kept.has(chunkUid(key, prefix))) put(key, undefined);
  return { ...change(old, next, edit), root };
}

/** Whether it is less work to edit chunks one by one. */
function isLocal(source: Source, prefix: Key, count: number, { add, remove }: ListEdit): MaybePromise<boolean> {
  if ((add.length + remove.length) * REWRITE_RATIO < count) return true;
  const all = union([add, remove]);
  // those that begin behind the first uid: it falls into the one before them
  const [start, end] = [all[0], all[all.length - 1]].map((uid) => prefixEnd(chunkKey(prefix, uid)));
  const more = source.range({ start, end, limit: NEAR_CHUNKS, keysOnly: true });
  return chain(more, ({ keys }) => keys.length < NEAR_CHUNKS);
}

/** Edits only the chunks that hold the uids; a chunk that becomes small joins the one after it. */
async function editChunks(
  source: Source,
  prefix: Key,
  count: number,
  edit: ListEdit,
  put: PutKey,
): Promise<ListChange> {
  const all = union([edit.add, edit.remove]);
  const end = chunkRange(prefix).end;
  const added: UidList[] = [];
  const removed: UidList[] = [];
  for (let at = 0; at < all.length; ) {
    // not the key of the uid after it: the highest uid has none
    const upTo = prefixEnd(chunkKey(prefix, all[at]));
    const floor = await source.range({ start: chunkKey(prefix, 0), end: upTo, reverse: true, limit: 1 });
    const page = await source.range({ start: floor.keys[0] ?? chunkKey(prefix, 0), end, limit: 2 });
    const following = page.keys.length > 1 ? chunkUid(page.keys[1], prefix) : Number.POSITIVE_INFINITY;
    const to = lowerBoundUid(all, following, at);
    const mine: ListEdit = {
      clear: false,
      add: intersect(edit.add, all.subarray(at, to)),
      remove: intersect(edit.remove, all.subarray(at, to)),
    };
    at = to;
    const old = page.values.length > 0 ? decodeChunk(page.values[0]) : EMPTY_UIDS;
    const next = edited(old, mine);
    const { added: more, removed: fewer } = change(old, next, mine);
    if (more.length === 0 && fewer.length === 0) continue;
    added.push(more);
    removed.push(fewer);
    if (page.keys.length > 0) put(page.keys[0], undefined);
    let chunks = cutChunks(next);
    const joins =
      chunks.length === 1 &&
      chunks[0].length < CHUNK_MERGE &&
      page.keys.length > 1 &&
      // the next chunk is not to be edited itself
      at >= all.length;
    if (joins) {
      put(page.keys[1], undefined);
      chunks = cutChunks(union([next, decodeChunk(page.values[1])]));
    }
    for (const chunk of chunks) put(chunkKey(prefix, chunkFirst(chunk)), chunk);
  }
  const more = union(added);
  const fewer = union(removed);
  const after = count + more.length - fewer.length;
  return { root: spilledRoot(after), before: count, after, added: more, removed: fewer };
}
