import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, Failing } from '../base/index.js';
import type { CommitRecord, Committer, Snapshot } from '../commit/index.js';
import { SHARDS, shardOf } from './keys.js';
import { agentPart } from './part.js';
import { type DueAlarm, readDue } from './reader.js';
import { strayedRounds } from './strayed-rounds.js';

/** alarms taken from one shard at a time: after a long rest they go off at a bounded rate */
const AT_ONCE = 64;
const LOOK_MS = 1_000;
/** from one look to the next */
const LEAST_MS = 5;

/** what clocks are corrected by while they run is less */
const SET_BACK_MS = 5_000;

/** Looks at wall time at least each second and hands out the alarms that are due. */
export class AlarmClock {
  /** wall milliseconds of the next alarm of each shard; 0 where it was not looked up yet */
  readonly #next = new Float64Array(SHARDS);
  /** handed out, with whether it rings again and again */
  readonly #out = new Map<string, boolean>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  readonly #failing: Failing;
  /** wall milliseconds of the last look */
  #looked = Number.POSITIVE_INFINITY;
  /** the clock was set back, maybe while nothing ran: rounds may wait for a time that comes too late */
  #isAstray = false;
  #seeking: Promise<void> | undefined;
  #stopped = true;

  constructor(
    readonly committer: Pick<Committer, 'snapshot'>,
    readonly clock: Clock,
    readonly ring: (alarm: DueAlarm) => void,
    /** told when looks begin to fail, and with nothing once they succeed again */
    failing: (error: unknown) => void,
  ) {
    this.#failing = new Failing(failing);
  }

  start(): void {
    this.#stopped = false;
    this.#plan();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  landed(records: readonly CommitRecord[]): void {
    let earlier = false;
    for (const record of records) {
      for (const op of agentPart(record)?.ops ?? []) {
        if (op.op !== 'turn' && op.op !== 'release') continue;
        const shard = shardOf(op.id);
        for (const { at } of op.op === 'turn' ? (op.alarms ?? []) : [op.alarm]) {
          if (at === undefined || at >= this.#next[shard]) continue;
          this.#next[shard] = at;
          earlier = true;
        }
      }
    }
    if (earlier && !this.#stopped && !this.#looking) this.#plan();
  }

  /** The alarm's turn is over, one way or the other: it may be handed out again when it is still there. */
  done(agentId: string, id: string, at: number): void {
    const key = keyOf(agentId, id, at);
    const repeats = this.#out.get(key) === true;
    this.#out.delete(key);
    if (!repeats) return;
    this.#next[shardOf(agentId)] = 0;
    if (!this.#stopped && !this.#looking) this.#plan();
  }

  /** wall milliseconds of the next look that is worth while; Infinity when no alarm is set */
  get next(): number {
    return this.#next.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  }

  /** Hands out what is due now, without waiting for the next look. */
  async look(): Promise<void> {
    while (this.#looking) await nextTurn();
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    await this.#look();
    await this.#seeking;
  }

  #plan(least = LEAST_MS): void {
    clearTimeout(this.#timer);
    const now = this.clock.wall();
    let nearest = now + LOOK_MS;
    for (const at of this.#next) if (at < nearest) nearest = at;
    this.#timer = setTimeout(() => void this.#look(), Math.max(least, nearest - now));
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    let least: number | undefined;
    try {
      const now = this.clock.wall();
      // set back: what is to be looked at again soon would wait for the time it was
      if (now < this.#looked) this.#next.fill(0);
      this.#isAstray ||= now < this.#looked - SET_BACK_MS;
      this.#looked = now;
      if (this.#isAstray) this.#seeking ??= this.#seek();
      for (let shard = 0; shard < SHARDS; shard++) if (this.#next[shard] <= now) await this.#ringShard(shard, now);
      this.#failing.succeeded();
    } catch (thrown) {
      least = LOOK_MS;
      this.#failing.failed(thrown);
    } finally {
      this.#looking = false;
      if (!this.#stopped) this.#plan(least);
    }
  }

  #handOut(alarm: DueAlarm): void {
    this.#out.set(keyOf(alarm.agentId, alarm.id, alarm.at), alarm.every !== undefined);
    this.ring(alarm);
  }

  /** Rings what a clock that stood ahead has put too far away: its next round is then told from now. */
  async #seek(): Promise<void> {
    this.#isAstray = false;
    try {
      for await (const strayed of strayedRounds(this.committer, this.clock)) {
        if (this.#stopped) return;
        for (const alarm of strayed) if (!this.#out.has(keyOf(alarm.agentId, alarm.id, alarm.at))) this.#handOut(alarm);
      }
    } catch {
      // the next look tries again, and tells where it cannot read either
      this.#isAstray = true;
    } finally {
      this.#seeking = undefined;
    }
  }

  async #ringShard(shard: number, now: number): Promise<void> {
    // Set before the read: an alarm that lands meanwhile lowers it again.
    this.#next[shard] = Number.POSITIVE_INFINITY;
    let snapshot: Snapshot | undefined;
    try {
      snapshot = this.committer.snapshot();
      const isOut = (agentId: string, id: string, at: number) => this.#out.has(keyOf(agentId, id, at));
      const { due, next, passed } = await readDue(snapshot, shard, now, AT_ONCE, isOut);
      const again = due.length + passed > 0 ? now + LOOK_MS : Number.POSITIVE_INFINITY;
      const soonest = now + (passed < AT_ONCE ? LEAST_MS : LOOK_MS);
      this.#next[shard] = Math.min(this.#next[shard], Math.max(next ?? Number.POSITIVE_INFINITY, soonest), again);
      for (const alarm of due) this.#handOut(alarm);
    } catch (thrown) {
      this.#next[shard] = Math.min(this.#next[shard], now + LOOK_MS);
      throw thrown;
    } finally {
      snapshot?.release();
    }
  }
}

function keyOf(agentId: string, id: string, at: number): string {
  return `${agentId} ${at} ${id}`;
}
