import { GraphsteadError, type Left, type Pushing, type Take } from '../base/index.js';
import type { CommitRecord, Committer } from '../commit/index.js';
import { terminated } from './refusal.js';
import type { AgentEvent, EventsRequest } from './contract.js';
import { type AgentPart, agentPart } from './part.js';
import { eventBehind, readEvents, readKnownHead, readNow } from './reader.js';
import type { StoredEvent } from './stored.js';
import { GAP_EVENT } from './own-event.js';
import { Batch, type Beginning, type EventPage, Subscription } from './subscription.js';

const PAGE = 256;

/** As an `after`: from the oldest kept event on, as in /changes. */
const OLDEST = '0';

interface Start extends Beginning {
  readonly gap?: AgentEvent;
}

/** Hands committed events to their subscribers. Nothing is lost here: a slow reader goes on from the store. */
export class EventHub {
  readonly #readers = new Map<string, Set<Subscription>>();

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
      const part = agentPart(record);
      if (part !== undefined) this.#publish(part, record);
    }
  }

  #publish(part: AgentPart, { commitTs: ts, wall: at }: CommitRecord): void {
    let n = 0;
    for (const op of part.ops) {
      if (op.op !== 'turn') continue;
      const readers = this.#readers.get(op.id);
      const events = op.events ?? [];
      const from = n;
      n += events.length;
      if (readers === undefined) continue;
      if (events.length > 0) {
        const shown = events.map(({ name, data }, i) => this.#shown(op.id, { ts, n: from + i, at, name, data }));
        const bytes = events.reduce((sum, { name, data }) => sum + name.length + data.length, 0);
        const batch = new Batch(shown, ts, bytes);
        for (const reader of readers) reader.tell(batch);
      }
      if (op.terminate) for (const reader of readers) reader.end();
    }
  }

  /** An event that is not stored: progress of a running turn, or a passing status. */
  live(agentId: string, name: string, data: string, at: number): void {
    const readers = this.#readers.get(agentId);
    if (readers === undefined) return;
    const timestamp = new Date(at).toISOString();
    const event = { agentId, name, data: JSON.parse(data) as unknown, timestamp };
    const batch = new Batch([event], undefined, name.length + data.length);
    for (const reader of readers) reader.tell(batch);
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
  batches(request: EventsRequest): Pushing<readonly AgentEvent[]> {
    return {
      [Symbol.asyncIterator]: () => this.#iterate(request)[Symbol.asyncIterator](),
      push: (take, left) => this.#push(request, take, left),
    };
  }

  async *#iterate(request: EventsRequest): AsyncIterable<readonly AgentEvent[]> {
    const { subscription, leave } = this.#join(request);
    try {
      const { gap, ...beginning } = await this.#begin(request);
      subscription.begin(beginning);
      if (gap !== undefined) yield [gap];
      yield* subscription.batches();
    } finally {
      leave();
    }
  }

  async #push(request: EventsRequest, take: Take<readonly AgentEvent[]>, left: Left): Promise<void> {
    const { subscription, leave } = this.#join(request);
    try {
      const { gap, ...beginning } = await this.#begin(request);
      subscription.begin(beginning);
      if (gap !== undefined) await take([gap]);
      await subscription.push(take, left);
    } finally {
      leave();
    }
  }

  /** Before the store is looked at, so that nothing lands between. */
  #join({ agentId, names, signal }: EventsRequest): { subscription: Subscription; leave: () => void } {
    const subscription = new Subscription(this.bufferBytes, names, signal, (seq) => this.#read(agentId, seq));
    const readers = this.#readers.get(agentId) ?? new Set();
    this.#readers.set(agentId, readers.add(subscription));
    const aborted = () => subscription.wake();
    signal?.addEventListener('abort', aborted);
    const leave = () => {
      signal?.removeEventListener('abort', aborted);
      readers.delete(subscription);
      if (readers.size === 0) this.#readers.delete(agentId);
    };
    return { subscription, leave };
  }

  #begin(request: EventsRequest): Promise<Start> {
    const { agentId, after } = request;
    return readNow(this.committer, async (snapshot) => {
      const head = await readKnownHead(snapshot, agentId);
      // Nothing more can come; what it told before is kept for a while, for those who name a place to go on from.
      const ended = head.status === 'terminated';
      if (after === undefined && ended) throw terminated(agentId);
      if (after === undefined) return { seq: head.events[1], upTo: snapshot.version, ended };
      if (after === OLDEST) return { seq: head.events[0], upTo: undefined, ended };
      const position = parsePosition(after);
      const elsewhere = position.incarnation === this.incarnation ? undefined : 'OTHER_STORE';
      const strange = elsewhere ?? (position.ts > snapshot.version ? 'AHEAD' : undefined);
      if (strange !== undefined) {
        return { seq: head.events[0], upTo: undefined, gap: gapEvent(agentId, strange, after), ended };
      }
      const seq = await eventBehind(snapshot, agentId, head, position.ts, position.n);
      // The event itself is gone, and others between it and the first kept one may be too.
      const lost = head.events[0] > 1 && seq === head.events[0];
      return { seq, upTo: undefined, gap: lost ? gapEvent(agentId, 'NOT_KEPT', after) : undefined, ended };
    });
  }

  /** All that are kept, oldest first, at one moment. Throws AGENT_UNKNOWN. */
  kept(agentId: string): Promise<readonly AgentEvent[]> {
    return readNow(this.committer, async (snapshot) => {
      const head = await readKnownHead(snapshot, agentId);
      const [first, next] = head.events;
      const stored = await readEvents(snapshot, agentId, first, next, next - first);
      return stored.map((one) => this.#shown(agentId, one));
    });
  }

  #read(agentId: string, seq: number): Promise<EventPage> {
    return readNow(this.committer, async (snapshot) => {
      const head = await readKnownHead(snapshot, agentId);
      const from = Math.max(seq, head.events[0]);
      const stored = await readEvents(snapshot, agentId, from, head.events[1], PAGE);
      const next = from + stored.length;
      const last = next >= head.events[1] || stored.length === 0;
      const upTo = last ? snapshot.version : undefined;
      const events = stored.map((one) => this.#shown(agentId, one));
      return { events: from > seq ? [gapEvent(agentId, 'NOT_KEPT'), ...events] : events, next, upTo };
    });
  }
}

/** Why events may be missing; the same codes as in /changes. */
const GAPS = {
  NOT_KEPT: 'events before the next one are no longer kept (limits.eventsPerAgent, limits.eventAgeMs)',
  OTHER_STORE:
    'the id is of another store, or of this one before it was restored: what is kept is told from its beginning',
  AHEAD:
    'the id is of an event that this store does not have, as its files were replaced by older ones: what is kept is told from its beginning',
};

function gapEvent(agentId: string, code: keyof typeof GAPS, after?: string): AgentEvent {
  const data = { code, reason: GAPS[code], ...(after === undefined ? {} : { after }) };
  return { agentId, name: GAP_EVENT, data, timestamp: new Date().toISOString() };
}

function parsePosition(text: string): { incarnation: string; ts: number; n: number } {
  const match = /^([0-9A-Za-z_-]+)\.(\d{1,16})\.(\d{1,9})$/.exec(text);
  if (match !== null) return { incarnation: match[1], ts: Number(match[2]), n: Number(match[3]) };
  throw new GraphsteadError('INVALID_VALUE', `"${text}" is no event id`, {
    fix: `give the id of the last event seen, ${OLDEST} for all that are kept, or none to start at now`,
  });
}
