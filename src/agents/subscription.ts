import type { Left, Take } from '../base/index.js';
import type { AgentEvent } from './contract.js';
import { GAP_EVENT, STATUS_EVENT } from './own-event.js';

/** What an agent published at once: one commit's events, or a live one. */
export class Batch {
  /** for subscriptions that name no events: the same list for all of them, so that what it looks like is made once */
  readonly usual: readonly AgentEvent[];
  readonly bytes: number;

  /**
   * @param ts timestamp of the commit; undefined for a live event
   * @param bytes of names and data
   */
  constructor(
    readonly events: readonly AgentEvent[],
    readonly ts: number | undefined,
    bytes: number,
  ) {
    this.usual = events.every(isUsual) ? events : events.filter(isUsual);
    this.bytes = bytes + 64 * events.length;
  }
}

/** A page of stored events. */
export interface EventPage {
  readonly events: readonly AgentEvent[];
  /** number of the event behind it */
  readonly next: number;
  /** set when it was the last one: the commit it reached */
  readonly upTo: number | undefined;
}

/** Where a subscription begins. */
export interface Beginning {
  /** number of the first event to tell */
  readonly seq: number;
  /** set when nothing has to be read from the store first */
  readonly upTo: number | undefined;
  /** the agent was stopped before */
  readonly ended: boolean;
}

type Events = readonly AgentEvent[];

/**
 * One subscriber of an agent: what it has not taken yet, bounded; past the bound it reads from the store. A reader that
 * keeps up is handed each batch as it lands.
 */
export class Subscription {
  #waiting: Batch[] = [];
  #bytes = 0;
  /** the rest has to be read from the store */
  #behind = false;
  /** the agent was stopped: what stands here, or in the store where it is behind, is the last */
  #ended = false;
  #seq = 0;
  #upTo: number | undefined;
  #take: Take<Events> | undefined;
  #pause: Promise<void> | undefined;
  #failure: { readonly thrown: unknown } | undefined;
  #wake: (() => void) | undefined;
  readonly #names: ReadonlySet<string> | undefined;

  constructor(
    readonly limit: number,
    names: readonly string[] | undefined,
    readonly left: Left | undefined,
    readonly read: (seq: number) => Promise<EventPage>,
  ) {
    this.#names = names === undefined || names.length === 0 ? undefined : new Set(names);
  }

  begin({ seq, upTo, ended }: Beginning): void {
    this.#seq = seq;
    this.#upTo = upTo;
    if (ended) this.#ended = true;
  }

  tell(batch: Batch): void {
    if (this.#take !== undefined) {
      this.#hand(batch, this.#take);
      return;
    }
    if (this.#behind && batch.ts !== undefined) return; // the store has it
    this.#bytes += batch.bytes;
    if (this.#bytes > this.limit) {
      this.#waiting = [];
      this.#bytes = 0;
      this.#behind = true;
    } else this.#waiting.push(batch);
    this.#wake?.();
  }

  #hand(batch: Batch, take: Take<Events>): void {
    try {
      const events = this.#fresh(batch);
      this.#pause = events.length === 0 ? undefined : (take(events) ?? undefined);
    } catch (thrown) {
      // whoever published must not hear of it
      this.#failure = { thrown };
    }
    if (this.#pause === undefined && this.#failure === undefined) return;
    this.#take = undefined;
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Something changed that it cannot see: its reader left. */
  wake(): void {
    this.#wake?.();
  }

  async *batches(): AsyncIterable<Events> {
    while (this.left?.aborted !== true) {
      const next = this.#next();
      const events = next instanceof Promise ? await next : next;
      if (events === undefined && this.#ended) return;
      if (events === undefined) await this.#change();
      else if (events.length > 0) yield events;
    }
  }

  /** See `Pushing`. */
  async push(take: Take<Events>, left: Left): Promise<void> {
    while (this.left?.aborted !== true && !left.aborted) {
      const next = this.#next();
      const events = next instanceof Promise ? await next : next;
      if (events === undefined) {
        if (this.#ended) return;
        this.#take = take;
        await this.#change();
        this.#take = undefined;
        if (this.#failure !== undefined) throw this.#failure.thrown;
        const pause = this.#pause;
        this.#pause = undefined;
        if (pause !== undefined) await pause;
      } else if (events.length > 0) await take(events);
    }
  }

  #change(): Promise<void> {
    return new Promise((wake) => {
      this.#wake = () => {
        this.#wake = undefined;
        wake();
      };
      if (this.left?.aborted === true) this.#wake();
    });
  }

  /** What can be told now; undefined when that is nothing. */
  #next(): Events | undefined | Promise<Events> {
    if (this.#behind || this.#upTo === undefined) return this.#fromStore();
    if (this.#waiting.length === 0) return undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return waiting.length === 1 ? this.#fresh(waiting[0]) : waiting.flatMap((batch) => this.#fresh(batch));
  }

  async #fromStore(): Promise<Events> {
    this.#behind = false;
    const { events, next, upTo } = await this.read(this.#seq);
    this.#seq = next;
    this.#upTo = upTo;
    return this.#wanted(events);
  }

  #fresh(batch: Batch): Events {
    if (batch.ts !== undefined) {
      if (batch.ts <= (this.#upTo ?? 0)) return NONE; // came with the store's page already
      this.#seq += batch.events.length;
    }
    return this.#names === undefined ? batch.usual : this.#wanted(batch.events);
  }

  #wanted(events: Events): Events {
    const names = this.#names;
    if (names === undefined) return events.filter(isUsual);
    return events.filter(({ name }) => names.has(name) || name === GAP_EVENT);
  }
}

const NONE: Events = [];

function isUsual({ name }: AgentEvent): boolean {
  return name !== STATUS_EVENT;
}
