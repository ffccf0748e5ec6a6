import { GraphsteadError } from '../../base/index.js';
import type { Alarm } from '../info.js';
import { toldRounds } from '../rounds.js';
import type { AlarmEffect, Delivered, Effects, EventEffect, SendEffect, StartEffect } from '../protocol.js';
import { stoppedWithIt } from '../refusal.js';

/** Effects as they gather. */
interface Collected {
  state?: string;
  version?: number;
  events?: EventEffect[];
  sends?: SendEffect[];
  alarms?: readonly AlarmEffect[];
  starts?: StartEffect[];
  stops?: string[];
}

/** what an effect takes beside its texts */
const EFFECT_BYTES = 32;

const sizeOf = (name: string, data = ''): number => name.length + data.length + EFFECT_BYTES;

let most = Number.POSITIVE_INFINITY;

/** @param bytes limits.hostMessageBytes: what a turn did leaves as one message */
export function limitEffects(bytes: number): void {
  most = bytes;
}

/** What one turn has done so far: nothing of it counts before the main process commits it. */
export class TurnScope {
  #effects: Collected = {};
  readonly #alarms = new Map<string, AlarmEffect>();
  /** whom it has stopped, also before a checkpoint */
  readonly #stopped = new Set<string>();
  #bytes = 0;
  #lost: unknown;

  constructor(
    readonly agentId: string,
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
    this.#gather(event.name, event.data);
    (this.#effects.events ??= []).push(event);
  }

  send(send: SendEffect): void {
    this.#gather(send.name, send.data);
    (this.#effects.sends ??= []).push(send);
  }

  /** The last word about one alarm wins. */
  alarm(alarm: AlarmEffect): void {
    const before = this.#alarms.get(alarm.id);
    if (before !== undefined) this.#bytes -= sizeOf(before.id, before.data);
    this.#gather(alarm.id, alarm.data);
    this.#alarms.delete(alarm.id);
    this.#alarms.set(alarm.id, alarm);
  }

  /** Alarms that are stored, with what the turn has done to them since. */
  alarmsOver(stored: readonly Alarm[]): Alarm[] {
    const own = [...this.#alarms.values()].flatMap(({ id, name = 'alarm', at, data, every }) =>
      at === undefined ? [] : [{ id, name, at: new Date(at).toISOString(), data, ...toldRounds(every), attempts: 0 }],
    );
    const all = [...stored.filter(({ id }) => !this.#alarms.has(id)), ...own];
    return all.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  }

  /** Throws INVALID_REQUEST for one that the turn has stopped. */
  start(start: StartEffect): void {
    if (this.#effects.stops?.includes(start.id)) throw stoppedWithIt(start.id);
    this.#gather(start.id, start.type + (start.key ?? ''));
    (this.#effects.starts ??= []).push(start);
  }

  stop(id: string): void {
    this.#gather(id);
    (this.#effects.stops ??= []).push(id);
    this.#stopped.add(id);
  }

  hasStopped(id: string): boolean {
    return this.#stopped.has(id);
  }

  /** What was handed out did not become durable, and is not collected again: a handler that goes on must not land without it. */
  lose(why: unknown): void {
    this.#lost = why;
  }

  /** Hands out what was collected and begins anew (at a checkpoint, and at the end). Throws why a part was lost before. */
  take(state: string | undefined, version: number): Effects {
    if (this.#lost !== undefined) throw this.#lost;
    const effects = this.#effects;
    this.#effects = {};
    this.#bytes = 0;
    if (this.#alarms.size > 0) effects.alarms = [...this.#alarms.values()];
    this.#alarms.clear();
    if (state === undefined) return effects;
    effects.state = state;
    effects.version = version;
    return effects;
  }

  /** Refuses what could not leave before it takes the memory of the process. */
  #gather(name: string, data?: string): void {
    this.#bytes += sizeOf(name, data);
    if (this.#bytes <= most) return;
    throw new GraphsteadError('LIMIT_EXCEEDED', `what the turn publishes and sends holds more than ${most} bytes`, {
      fix: `limits.hostMessageBytes is ${most}: commit it in parts with await this.checkpoint()`,
    });
  }
}
