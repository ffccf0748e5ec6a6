import { randomBytes } from 'node:crypto';
import { GraphsteadError } from '../../base/index.js';
import type { AlarmEffect, Delivered, Effects, EventEffect, SendEffect } from '../protocol.js';

/** What one turn has done so far: nothing of it counts before the main process commits it. */
export class TurnScope {
  #events: EventEffect[] = [];
  #sends: SendEffect[] = [];
  #alarms: AlarmEffect[] = [];
  #starts: { id: string; type: string }[] = [];
  #stops: string[] = [];

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
    this.#events.push(event);
  }

  send(send: SendEffect): void {
    this.#sends.push(send);
  }

  /** The last word about one alarm wins. */
  alarm(alarm: AlarmEffect): void {
    this.#alarms = [...this.#alarms.filter((other) => other.id !== alarm.id), alarm];
  }

  start(id: string, type: string): void {
    this.#starts.push({ id, type });
  }

  stop(id: string): void {
    this.#stops.push(id);
  }

  /** Hands out what was collected and begins anew (at a checkpoint, and at the end). */
  take(state: string | undefined, version: number): Effects {
    const effects: Effects = {
      ...(state === undefined ? {} : { state, version }),
      events: this.#events,
      sends: this.#sends,
      alarms: this.#alarms,
      starts: this.#starts,
      stops: this.#stops,
    };
    this.#events = [];
    this.#sends = [];
    this.#alarms = [];
    this.#starts = [];
    this.#stops = [];
    return effects;
  }
}

/** A fresh agent id: letters and digits, never guessable. */
export function freshAgentId(): string {
  return `agent_${randomBytes(15).toString('base64url').replace(/[-_]/g, 'x')}`;
}
