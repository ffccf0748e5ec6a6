import { GraphsteadError } from '../base/index.js';
import type { CommitRecord, Committer } from '../commit/index.js';
import { terminated, unknownAgent } from './refusal.js';
import type { AgentEvent, EventsRequest } from './contract.js';
import type { AgentPart } from './part.js';
import { eventBehind, readEvents, readHead } from './reader.js';
import type { StoredEvent } from './stored.js';

/** Status changes; only subscriptions that name it see them. */
export const STATUS_EVENT = 'agentStatusUpdated';
/** Told where events are missing: they were no longer kept, or the store was restored. */
export const GAP_EVENT = 'agentEventGap';

interface Item {
  readonly event: AgentEvent;
  /** timestamp of the commit; undefined for a live event */
  readonly ts: number | undefined;
  readonly bytes: number;
}

/** One subscriber's share: what it has not taken yet, bounded; past the bound it reads from the store. */
class Reader {
  items: Item[] = [];
  bytes = 0;
  behind = false;
  /** the agent was stopped: what stands here, or in the store where it is behind, is the last */
  ended = false;
  wake: (() => void) | undefined;

  constructor(readonly limit: number) {}

  push(item: Item): void {
    if (this.behind && item.ts !== undefined) return; // the store has it
    this.bytes += item.bytes;
    if (this.bytes > this.limit) {
      this.items = [];
      this.bytes = 0;
      this.behind = true;
    } else this.items.push(item);
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  /** Everything that is there. */
  take(): readonly Item[] {
    const { items } = this;
    this.items = [];
    this.bytes = 0;
    return items;
  }
}

const PAGE = 256;

/** Where a subscription begins. */
interface Start {
  /** number of the first event to tell */
  readonly seq: number;
  /** set when nothing has to be read from the store first */
  readonly upTo: number | undefined;
  readonly gap?: AgentEvent;
  /** the agent was stopped before */
  readonly ended: boolean;
}

/** Hands committed events to their subscribers. Nothing is lost here: a slow reader goes on from the store. */
export class EventHub {
  readonly #readers = new Map<string, Set<Reader>>();

  constructor(
    readonly committer: Pick<Committer, 'snapshot'>,
    readonly incarnation: string,
    readonly bufferBytes: number,
  ) {}

  get subscribers(): number {
    let count = 0;
    for (const readers of this.#readers.values()) count += readers.size;
    return count;
  }

  /** Called with the records of each group that landed. */
  landed(records: readonly CommitRecord[]): void {
    if (this.#readers.size === 0) return;
    for (const record of records) {
      const part = record.parts['agents'] as AgentPart | undefined;
      if (part !== undefined) this.#publish(part, record);
    }
  }

  #publish(part: AgentPart, { commitTs: ts, wall: at }: CommitRecord): void {
    let n = 0;
    for (const op of part.ops) {
      if (op.op !== 'turn') continue;
      const readers = this.#readers.get(op.id);
      for (const { name, data } of op.events ?? []) {
        const stored: StoredEvent = { ts, n: n++, at, name, data };
        if (readers === undefined) continue;
        const item = { event: this.#shown(op.id, stored), ts, bytes: data.length + name.length + 64 };
        for (const reader of readers) reader.push(item);
      }
      if (op.terminate) for (const reader of readers ?? []) reader.end();
    }
  }

  /** An event that is not stored: progress of a running turn, or a passing status. */
  live(agentId: string, name: string, data: string, at: number): void {
    const readers = this.#readers.get(agentId);
    if (readers === undefined) return;
    const timestamp = new Date(at).toISOString();
    const item = {
      event: { agentId, name, data: JSON.parse(data) as unknown, timestamp },
      ts: undefined,
      bytes: data.length + name.length + 64,
    };
    for (const reader of readers) reader.push(item);
  }

  #shown(agentId: string, { ts, n, at, name, data }: StoredEvent): AgentEvent {
    const id = `${this.incarnation}.${ts}.${n}`;
    return { id, agentId, name, data: JSON.parse(data) as unknown, timestamp: new Date(at).toISOString() };
  }

  /**
   * What came since the reader asked last, at least one event each time. Ends when the signal aborts, or behind the last
   * event of an agent that was stopped. Throws AGENT_UNKNOWN, AGENT_TERMINATED (stopped, and no `after`), INVALID_VALUE (a
   * malformed `after`).
   */
  async *batches(request: EventsRequest): AsyncIterable<readonly AgentEvent[]> {
    const { agentId, names, signal } = request;
    const reader = new Reader(this.bufferBytes);
    const readers = this.#readers.get(agentId) ?? new Set();
    this.#readers.set(agentId, readers.add(reader));
    const leave = () => reader.wake?.();
    signal?.addEventListener('abort', leave);
    try {
      let { seq, upTo, gap, ended } = await this.#begin(request);
      if (ended) reader.end();
      if (gap !== undefined) yield [gap];
      for (;;) {
        if (signal?.aborted) return;
        if (reader.behind || upTo === undefined) {
          reader.behind = false;
          const page = await this.#read(agentId, seq);
          seq = page.next;
          upTo = page.upTo;
          const events = page.events.filter((event) => wanted(event, names));
          if (page.gap) events.unshift(gapEvent(agentId, undefined));
          if (events.length > 0) yield events;
          continue;
        }
        if (reader.items.length === 0) {
          if (reader.ended) return;
          await new Promise<void>((wake) => {
            reader.wake = wake;
            if (signal?.aborted) wake();
          });
          reader.wake = undefined;
          continue;
        }
        const events: AgentEvent[] = [];
        for (const { event, ts } of reader.take()) {
          if (ts !== undefined && ts <= upTo) continue; // came with the store's page already
          if (ts !== undefined) seq++;
          if (wanted(event, names)) events.push(event);
        }
        if (events.length > 0) yield events;
      }
    } finally {
      signal?.removeEventListener('abort', leave);
      readers.delete(reader);
      if (readers.size === 0) this.#readers.delete(agentId);
    }
  }

  async #begin(request: EventsRequest): Promise<Start> {
    const { agentId, after } = request;
    const snapshot = this.committer.snapshot();
    try {
      const head = await readHead(snapshot, agentId);
      if (head === undefined) throw unknownAgent(agentId);
      // Nothing more can come; what it told before is kept for a while, for those who name a place to go on from.
      const ended = head.status === 'terminated';
      if (after === undefined && ended) throw terminated(agentId);
      if (after === undefined) return { seq: head.events[1], upTo: snapshot.version, ended };
      const position = parsePosition(after);
      // of another store, or of one that has lost what it told since
      if (position.incarnation !== this.incarnation || position.ts > snapshot.version) {
        return { seq: head.events[0], upTo: undefined, gap: gapEvent(agentId, after), ended };
      }
      const seq = await eventBehind(snapshot, agentId, head, position.ts, position.n);
      // The event itself is gone, and others between it and the first kept one may be too.
      const lost = head.events[0] > 1 && seq === head.events[0];
      return { seq, upTo: undefined, gap: lost ? gapEvent(agentId, after) : undefined, ended };
    } finally {
      snapshot.release();
    }
  }

  /** A page of stored events; `upTo` is set when it was the last one, to the commit it reached. */
  async #read(
    agentId: string,
    seq: number,
  ): Promise<{ events: AgentEvent[]; next: number; upTo: number | undefined; gap: boolean }> {
    const snapshot = this.committer.snapshot();
    try {
      const head = await readHead(snapshot, agentId);
      if (head === undefined) throw unknownAgent(agentId);
      const from = Math.max(seq, head.events[0]);
      const stored = await readEvents(snapshot, agentId, from, head.events[1], PAGE);
      const next = from + stored.length;
      const last = next >= head.events[1] || stored.length === 0;
      const upTo = last ? snapshot.version : undefined;
      return { events: stored.map((one) => this.#shown(agentId, one)), next, upTo, gap: from > seq };
    } finally {
      snapshot.release();
    }
  }
}

function wanted(event: AgentEvent, names: readonly string[] | undefined): boolean {
  if (names !== undefined && names.length > 0) return names.includes(event.name) || event.name === GAP_EVENT;
  return event.name !== STATUS_EVENT;
}

function gapEvent(agentId: string, after: string | undefined): AgentEvent {
  const data = { reason: 'events before the next one are no longer kept', ...(after === undefined ? {} : { after }) };
  return { agentId, name: GAP_EVENT, data, timestamp: new Date().toISOString() };
}

function parsePosition(text: string): { incarnation: string; ts: number; n: number } {
  const match = /^([0-9A-Za-z_-]+)\.(\d{1,16})\.(\d{1,9})$/.exec(text);
  if (match !== null) return { incarnation: match[1], ts: Number(match[2]), n: Number(match[3]) };
  throw new GraphsteadError('INVALID_VALUE', `"${text}" is no event id`, {
    fix: 'give the id of the last event seen, or leave `after` out to start at now',
  });
}
