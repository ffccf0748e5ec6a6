import {
  asError,
  Yielder,
  type Clock,
  type ClockSteps,
  type GraphsteadError,
  Histogram,
  type Limits,
  type MaybePromise,
} from '../base/index.js';
import type { Store } from '../store/index.js';
import type { CommitState } from './commit-state.js';
import type { Applier, Committed, CommitRecord, IdempotencyClaim } from './contract.js';
import { FINGERPRINTED_AT_ONCE, type Fingerprints, KEY_WORDS, partsOf } from './fingerprint.js';
import { type Entry, Group, EntryRefused } from './group.js';
import { hasExpired, readReply, sameBody } from './idempotency.js';
import { aborted, ConflictOracle, GroupConflicts } from './oracle.js';
import { needsTrim } from './retention.js';
import { Timestamps } from './timestamps.js';

/** An intent that waits, with what its caller waits for. */
export interface Waiting extends Entry {
  readonly startTs: number;
  readonly keys: Fingerprints;
  /** what must not have changed, though it is not changed here */
  readonly readKeys?: Fingerprints;
  readonly reclaim: boolean;
  /** when it was handed in, by `performance.now` */
  readonly since: number;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (reason: GraphsteadError) => void;
}

/** What becomes of an intent once its group landed. */
type Verdict = { readonly one: Waiting } & ({ readonly committed: Committed } | { readonly refusal: GraphsteadError });

type Judging = Pick<ConflictOracle, 'conflicts'>;

export interface WriterOptions {
  readonly store: Store;
  readonly appliers: readonly Applier[];
  readonly clock: Clock;
  readonly steps: ClockSteps;
  readonly limits: Limits;
  readonly state: CommitState;
  readonly version: number;
  /** told about each group after it landed, before its callers are */
  readonly onLanded: (records: readonly CommitRecord[], bytes: number) => void;
}

/** Words of fingerprints that are looked at without a pause. */
const AT_ONCE = FINGERPRINTED_AT_ONCE * KEY_WORDS;

/** Failures that may come from one intent of a group, and must not be paid for by the others. */
const ISOLATED: ReadonlySet<string> = new Set(['INTERNAL', 'KEY_TOO_LARGE', 'VALUE_TOO_LARGE']);

/**
 * Brings one group after the other to disk. Nobody is told anything about a group before it landed, not even that it was
 * refused: what an intent was refused for may stand in the same group, and the group may fail.
 */
export class GroupWriter {
  readonly timestamps: Timestamps;
  /** from the hand-in of each transaction to its being on disk */
  readonly seconds = new Histogram();
  readonly figures = { commits: 0, groups: 0, conflicts: 0, refusals: 0, failures: 0 };
  readonly #options: WriterOptions;
  readonly #appliers: ReadonlyMap<string, Applier>;
  readonly #oracle: ConflictOracle;
  #state: CommitState;
  #lastCommitTs: number;
  /** wall time of a record not younger than any that stands: tells when there may be something to trim */
  #oldestWall = 0;

  constructor(options: WriterOptions) {
    const { appliers, limits, state, version } = options;
    this.#options = options;
    this.#appliers = new Map(appliers.map((applier) => [applier.name, applier]));
    this.#state = state;
    this.#lastCommitTs = version;
    const last = Math.max(version, state.lease);
    // What the process before committed is not known: transactions from its time cannot be judged.
    this.#oracle = new ConflictOracle(limits.oracleKeys, last + 1);
    this.timestamps = new Timestamps(last, state.lease);
  }

  get lastCommitTs(): number {
    return this.#lastCommitTs;
  }

  get state(): CommitState {
    return this.#state;
  }

  get oracleKeys(): number {
    return this.#oracle.size;
  }

  knows(applier: string): boolean {
    return this.#appliers.has(applier);
  }

  /**
   * Commits a group, and again in parts when one of its intents spoils it; settles every intent in it. Never throws;
   * answers with the failure. @param starting transactions that are about to start
   */
  async commit(waiting: readonly Waiting[], starting = 0): Promise<GraphsteadError | undefined> {
    this.timestamps.takeOff(
      starting,
      waiting.reduce((bytes, { body }) => bytes + body.length, 0),
    );
    try {
      for (const verdict of await this.#write(waiting)) this.#tell(verdict);
      return undefined;
    } catch (thrown) {
      this.timestamps.land();
      if (!(thrown instanceof EntryRefused)) return this.#fail(waiting, asError(thrown));
      this.#tell({ one: thrown.entry as Waiting, refusal: thrown.reason });
      return this.#again(waiting.filter((one) => one !== thrown.entry));
    }
  }

  async #again(waiting: readonly Waiting[]): Promise<GraphsteadError | undefined> {
    return waiting.length === 0 ? undefined : await this.commit(waiting);
  }

  async #fail(waiting: readonly Waiting[], failure: GraphsteadError): Promise<GraphsteadError> {
    this.figures.failures++;
    const reclaiming = failure.code === 'DISK_FULL' ? waiting.filter((one) => one.reclaim) : [];
    if (reclaiming.length > 0 && reclaiming.length < waiting.length) {
      for (const one of waiting) if (!one.reclaim) one.reject(failure);
      return (await this.#again(reclaiming)) ?? failure;
    }
    if (waiting.length > 1 && ISOLATED.has(failure.code)) {
      for (const one of waiting) await this.commit([one]);
      return failure;
    }
    for (const one of waiting) one.reject(failure);
    return failure;
  }

  #tell(verdict: Verdict): void {
    if ('committed' in verdict) {
      verdict.one.resolve(verdict.committed);
      return;
    }
    if (verdict.refusal.code === 'TXN_ABORTED') this.figures.conflicts++;
    else this.figures.refusals++;
    verdict.one.reject(verdict.refusal);
  }

  async #write(waiting: readonly Waiting[]): Promise<readonly Verdict[]> {
    this.#options.steps.look();
    const group = new Group<Waiting>(this.#options.store.snapshot(), this.#appliers, this.#options.limits);
    const judged: Verdict[] = [];
    let empty = false;
    try {
      const wall = await this.#admit(group, waiting, judged);
      const lease = this.timestamps.wantedLease;
      empty = group.admitted.length === 0 && lease === this.#state.lease;
      if (!empty) await this.#apply(group, { lease, wall });
      this.timestamps.land(lease);
      if (empty) group.failed();
    } catch (thrown) {
      group.failed();
      throw thrown;
    }
    // One that only leased timestamps too: its snapshot would hold every page that is freed from then on.
    if (!empty) this.#publish(group);
    // before anybody else is judged; most groups are noted at once
    for (const { entry, committed } of group.admitted) {
      const noting = this.#note(committed.commitTs, entry.keys);
      if (noting) await noting;
    }
    return [...group.admitted.map(({ entry, committed }) => ({ one: entry, committed })), ...judged];
  }

  /** Takes in what may commit, in order; the rest goes to `judged`. Answers with the wall time of the last one. */
  async #admit(group: Group<Waiting>, waiting: readonly Waiting[], judged: Verdict[]): Promise<number> {
    const ready: Waiting[] = [];
    for (const one of waiting) {
      const judging = this.#verdict(group, this.#oracle, one);
      const verdict = judging instanceof Promise ? await judging : judging;
      if (verdict === undefined) ready.push(one);
      else judged.push(verdict);
    }
    await group.prepare(ready);
    const inGroup = new GroupConflicts();
    let { wall } = this.#state;
    for (const one of ready) {
      const judging = this.#verdict(group, inGroup, one);
      const verdict = judging instanceof Promise ? await judging : judging;
      if (verdict !== undefined) {
        judged.push(verdict);
        continue;
      }
      const commitTs = this.timestamps.next();
      const now = Math.max(wall, this.#options.clock.wall());
      try {
        const admitted = group.admit(one, { commitTs, wall: now });
        if (admitted !== undefined) await admitted;
      } catch (thrown) {
        if (thrown instanceof EntryRefused) throw thrown;
        judged.push({ one, refusal: asError(thrown) });
        continue;
      }
      wall = now;
      // nobody is judged after the last one, which may be large
      if (one !== ready.at(-1)) inGroup.admit(one.keys);
    }
    return wall;
  }

  #verdict(group: Group<Waiting>, oracle: Judging, one: Waiting): MaybePromise<Verdict | undefined> {
    if (one.idempotency === undefined) return this.#judge(oracle, one);
    return this.#repeated(group, one, one.idempotency).then((repeated) => repeated ?? this.#judge(oracle, one));
  }

  #judge(oracle: Judging, one: Waiting): MaybePromise<Verdict | undefined> {
    const { startTs, keys, readKeys } = one;
    if (readKeys !== undefined && oracle.conflicts(startTs, readKeys)) return { one, refusal: aborted() };
    if (keys.length > AT_ONCE) return this.#judgeLarge(oracle, one);
    return oracle.conflicts(startTs, keys) ? { one, refusal: aborted() } : undefined;
  }

  async #judgeLarge(oracle: Judging, one: Waiting): Promise<Verdict | undefined> {
    const yielder = new Yielder(this.#options.limits.yieldMs);
    for (const keys of partsOf(one.keys)) {
      if (oracle.conflicts(one.startTs, keys)) return { one, refusal: aborted() };
      await yielder.due();
    }
    return undefined;
  }

  #note(commitTs: number, keys: Fingerprints): MaybePromise<void> {
    if (keys.length > AT_ONCE) return this.#noteLarge(commitTs, keys);
    this.#oracle.commit(commitTs, keys);
  }

  async #noteLarge(commitTs: number, keys: Fingerprints): Promise<void> {
    const yielder = new Yielder(this.#options.limits.yieldMs);
    for (const part of partsOf(keys)) {
      this.#oracle.commit(commitTs, part);
      await yielder.due();
    }
  }

  /** The verdict of a commit whose idempotency key was used before, in the store or in this group. */
  async #repeated(group: Group<Waiting>, one: Waiting, claim: IdempotencyClaim): Promise<Verdict | undefined> {
    const stored = await readReply(group.writes, claim.scope, claim.key);
    const { clock, steps, limits } = this.#options;
    if (stored === undefined || hasExpired(stored, clock.wall(), steps, limits)) return undefined;
    try {
      const { commitTs, wall, reply } = sameBody(stored, claim.bodyHash);
      return { one, committed: { commitTs, wall, results: {}, replayed: reply } };
    } catch (thrown) {
      return { one, refusal: asError(thrown) };
    }
  }

  async #apply(group: Group<Waiting>, next: { readonly lease: number; readonly wall: number }): Promise<void> {
    const { store, limits } = this.#options;
    const { admitted } = group;
    const version = admitted.at(-1)?.committed.commitTs ?? this.timestamps.next();
    const state = { ...this.#state, ...next };
    const trim = needsTrim(state, group.bytes, this.#oldestWall, limits);
    const finished = await group.finish(version, state, trim);
    const reclaim = admitted.length > 0 && admitted.every(({ entry }) => entry.reclaim);
    await store.apply(finished.batch, { expectEpoch: store.epoch, reclaim });
    this.#state = finished.state;
    this.#lastCommitTs = version;
    this.#oldestWall = finished.oldestWall ?? this.#oldestWall;
  }

  /** Caches first, then the stream; callers are told last. What landed stays landed, whatever a listener throws. */
  #publish(group: Group<Waiting>): void {
    if (group.admitted.length > 0) this.figures.groups++;
    this.figures.commits += group.admitted.length;
    const now = performance.now();
    for (const { entry } of group.admitted) this.seconds.add((now - entry.since) / 1000);
    group.landed();
    this.#options.onLanded(group.records, group.bytes);
  }
}
