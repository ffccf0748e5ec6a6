import { setImmediate as nextTurn } from 'node:timers/promises';
import { asError, GraphsteadError, toWire } from '../base/index.js';
import type { CommitRecord } from '../commit/index.js';
import { type ChangeRecord, changeRecord, type EntryList, graphPart } from '../graph/index.js';
import type { Core } from './core.js';
import type { Frame } from './sse.js';

/** JSON of one frame, about: a commit of millions of changes goes in many frames. */
const FRAME_BYTES = 64 * 1024;

/**
 * A place in the stream: behind commit `commitTs`, of which the last `rest` entries are still to be told. It is written
 * `incarnation.commitTs.rest`; counted from the end, so that `.0` stands behind any commit whatever it held.
 */
interface ChangePosition {
  readonly commitTs: number;
  readonly rest: number;
}

/** Where a stream begins, and why not where its reader asked. */
interface ChangeStart {
  readonly position: ChangePosition;
  readonly gap?: Gap;
}

/** Why commits are missing between what the reader had and what it gets next. */
interface Gap {
  readonly code: 'OTHER_STORE' | 'NOT_KEPT' | 'AHEAD' | 'BULK_LOAD';
  readonly reason: string;
  /** the id that the reader gave or had */
  readonly after: string;
  /** what a bulk load has written, as far as that is known */
  readonly predicates?: readonly string[];
}

type StreamCore = Pick<Core, 'committer' | 'store' | 'names' | 'limits'>;

/**
 * Where to start for the id that a reader gives: `0` begins with the oldest record that is kept, whatever was before it;
 * an id of timestamp 0 does too, and tells a gap when there was something; none at all begins at now.
 * Throws INVALID_VALUE on what is no id.
 */
export function startOf(core: StreamCore, after: string | undefined): ChangeStart {
  const { committer, store } = core;
  if (after === undefined) return { position: { commitTs: committer.lastCommitTs, rest: 0 } };
  const oldest: ChangePosition = { commitTs: committer.trimmedTs, rest: 0 };
  if (after === '0') return { position: oldest };
  const { incarnation, ...position } = parseId(after);
  const gap = (code: Gap['code'], reason: string): ChangeStart => ({ position: oldest, gap: { code, reason, after } });
  if (incarnation !== store.incarnation) {
    return gap('OTHER_STORE', 'the id is of another store, or of this one before it was restored');
  }
  // one that only reads may not have seen it yet
  if (position.commitTs > committer.lastCommitTs && !committer.readOnly) {
    return gap('AHEAD', 'the id is of a commit that this store does not have: its files were replaced by older ones');
  }
  const { commitTs } = oldest;
  if (position.commitTs < commitTs || (position.commitTs === commitTs && position.rest > 0)) {
    return gap('NOT_KEPT', NOT_KEPT);
  }
  return { position };
}

const NOT_KEPT = 'commits behind this id are no longer kept (limits.recordAgeMs, limits.recordBytes)';

function parseId(text: string): ChangePosition & { readonly incarnation: string } {
  const match = /^([0-9A-Za-z_-]{1,64})\.(\d{1,16})\.(\d{1,9})$/.exec(text);
  if (match) return { incarnation: match[1], commitTs: Number(match[2]), rest: Number(match[3]) };
  throw new GraphsteadError('INVALID_VALUE', `"${text.slice(0, 100)}" is no id of /changes`, {
    fix: 'Give the id of the last frame seen, 0 for everything that is kept, or none to start at now.',
  });
}

/** Frames of the commit stream for any number of readers; what they all read is encoded once. */
export class ChangeStream {
  readonly #core: StreamCore;
  /** commits that fit one frame; records that many readers see are the same objects */
  readonly #encoded = new WeakMap<CommitRecord, Frame>();

  constructor(core: StreamCore) {
    this.#core = core;
  }

  /** Frames from `start` on, as commits land, until aborted. A gap is a frame, here and wherever it comes to one. */
  async *frames(start: ChangeStart, signal: AbortSignal): AsyncGenerator<Frame> {
    const { committer } = this.#core;
    let { position } = start;
    // the position goes out at once: a reader that is cut off before the first commit can come back to it
    yield start.gap ? this.#gap(start.gap, position) : { id: this.#id(position) };
    for (;;) {
      try {
        for await (const frame of this.#from(position, signal)) {
          position = frame.position;
          yield frame;
        }
        return;
      } catch (thrown) {
        const error = asError(thrown);
        if (error.code !== 'EVENT_GAP') {
          yield { event: 'error', data: JSON.stringify(toWire(error)) };
          return;
        }
        const after = this.#id(position);
        position = { commitTs: committer.trimmedTs, rest: 0 };
        yield this.#gap({ code: 'NOT_KEPT', reason: NOT_KEPT, after }, position);
      }
    }
  }

  /** Frames behind a position, each with the position that it leads to. Throws EVENT_GAP. */
  async *#from(from: ChangePosition, signal: AbortSignal): AsyncGenerator<Frame & { position: ChangePosition }> {
    const { committer, limits } = this.#core;
    let marked = performance.now();
    let rested = marked;
    for await (const record of committer.tail(from.rest > 0 ? from.commitTs - 1 : from.commitTs, signal)) {
      const { commitTs } = record;
      for (const { frame, rest } of this.#framesOf(record, commitTs === from.commitTs ? from.rest : undefined)) {
        const now = performance.now();
        const position = { commitTs, rest };
        if (frame) yield { ...frame, position };
        // commits that show nothing move the reader on too, lest it come back one day to an id that is long gone
        else if (now - marked > limits.heartbeatMs) yield { id: this.#id(position), position };
        else continue;
        marked = now;
      }
      if (performance.now() - rested > limits.yieldMs) {
        await nextTurn();
        rested = performance.now();
      }
    }
  }

  *#framesOf(record: CommitRecord, from: number | undefined): Iterable<{ frame?: Frame; rest: number }> {
    const known = from === undefined ? this.#encoded.get(record) : undefined;
    if (known) {
      yield { frame: known, rest: 0 };
      return;
    }
    const changes = changeRecord(graphPart(record), this.#core.names);
    if (changes.untold) yield { frame: this.#bulkGap(record, changes.untold), rest: 0 };
    else if (changes.count === 0) yield { rest: 0 };
    const first = changes.count - Math.min(from ?? changes.count, changes.count);
    for (let next = first; next < changes.count; ) {
      const { data, end } = encodeFrom(record, changes, next);
      const rest = changes.count - end;
      const frame = { event: 'commit', id: this.#id({ commitTs: record.commitTs, rest }), data };
      if (next === 0 && rest === 0) this.#encoded.set(record, frame);
      next = end;
      yield { frame, rest };
    }
  }

  #bulkGap({ commitTs }: CommitRecord, predicates: readonly string[]): Frame {
    const reason = 'a bulk load has written these predicates; what it wrote is not in the stream';
    const after = this.#id({ commitTs: commitTs - 1, rest: 0 });
    return this.#gap({ code: 'BULK_LOAD', reason, after, predicates }, { commitTs, rest: 0 });
  }

  #gap(gap: Gap, position: ChangePosition): Frame {
    const id = this.#id(position);
    const fix = 'Read the present state again; the stream goes on with what is kept behind continuesAfter.';
    return { event: 'gap', id, data: JSON.stringify({ ...gap, continuesAfter: id, fix }) };
  }

  #id({ commitTs, rest }: ChangePosition): string {
    return `${this.#core.store.incarnation}.${commitTs}.${rest}`;
  }
}

/** The entries from one on that fit a frame, at least one, as JSON; `end` is the number of the next one. */
function encodeFrom(
  { commitTs, wall }: CommitRecord,
  changes: ChangeRecord,
  from: number,
): { data: string; end: number } {
  const lists: Record<EntryList, string[]> = { changes: [], schema: [], drops: [] };
  let end = from;
  for (let length = 0; end < changes.count && length < FRAME_BYTES; end++) {
    const { list, json } = changes.entry(end);
    lists[list].push(json);
    length += json.length;
  }
  const more = end < changes.count ? `,"more":${changes.count - end}` : '';
  const schema = lists.schema.length > 0 ? `,"schema":[${lists.schema.join(',')}]` : '';
  const drops = lists.drops.length > 0 ? `,"drops":[${lists.drops.join(',')}]` : '';
  const head = `{"commitTs":${commitTs},"wall":"${new Date(wall).toISOString()}"${more}`;
  return { data: `${head}${drops}${schema},"changes":[${lists.changes.join(',')}]}`, end };
}
