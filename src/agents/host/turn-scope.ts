import { GraphsteadError } from '../../base/index.js';
import type { AlarmEffect, Delivered, Effects, EventEffect, SendEffect } from '../protocol.js';

/** Effects as they gather. */
interface Collected {
  state?: string;
  version?: number;
  events?: EventEffect[];
  sends?: SendEffect[];
  alarms?: AlarmEffect[];
  starts?: { readonly id: string; readonly type: string }[];
  stops?: string[];
}

/** What one turn has done so far: nothing of it counts before the main process commits it. */
export class TurnScope {
  #effects: Collected = {};

  constructor(
    readonly agentId: string,
    readonly type: string,
    readonly readOnly: boolean,
    readonly message: Delivered | undefined,
  ) {}

  /** Throws when the handler is marked read-only. */
  assertWrites(what: string): void {
    if (!this.readOnly) return;
    throw new GraphsteadError('INVALID_REQUEST', `${what} in the read-only handler "${this.message?.name ?? ''}"`, {
      fix: 'take the message out of `static readOnly`, or move the change to another message',
    });
  }

  event(event: EventEffect): void {
    (this.#effects.events ??= []).push(event);
  }

  send(send: SendEffect): void {
    (this.#effects.sends ??= []).push(send);
  }

  /** The last word about one alarm wins. */
  alarm(alarm: AlarmEffect): void {
    const others = this.#effects.alarms?.filter((other) => other.id !== alarm.id) ?? [];
    this.#effects.alarms = [...others, alarm];
  }

  start(id: string, type: string): void {
    (this.#effects.starts ??= []).push({ id, type });
  }

  stop(id: string): void {
    (this.#effects.stops ??= []).push(id);
  }

  /** Hands out what was collected and begins anew (at a checkpoint, and at the end). */
  take(state: string | undefined, version: number): Effects {
    const effects = this.#effects;
    this.#effects = {};
    if (state === undefined) return effects;
    effects.state = state;
    effects.version = version;
    return effects;
  }
}
