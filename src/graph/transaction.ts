import {
  atOnce,
  type Clock,
  GraphsteadError,
  inSteps,
  type Limits,
  type MaybePromise,
  type Names,
  randomTexts,
  STEP,
  type Steps,
  Yielder,
} from '../base/index.js';
import {
  ABORTED,
  type Committed,
  type Committer,
  type ConflictKey,
  type IdempotencyClaim,
  type Snapshot,
  readOnlyStore,
} from '../commit/index.js';
import {
  ConflictSet,
  conflictTexts,
  exclusiveTexts,
  indexConflictKey,
  type ListedConflicts,
  predicateKey,
  predicateOfIndexKey,
} from './conflict.js';
import type { GraphChange, GraphReader, Refused, Transaction } from './contract.js';
import { decodeValue, tokensOf } from '../values/index.js';
import { type ChangesPart, DeltaLog, OP, payloadOf } from './delta.js';
import { HeldReads } from './read-log/held-reads.js';
import { LoggedReader } from './read-log/logged-reader.js';
import type { IndexCache } from './hnsw/cache.js';
import type { UidLease } from './lease.js';
import { GroupMerge } from './merge/group-merge.js';
import { GRAPH } from './part.js';
import { SourceReader } from './reader.js';
import type { SchemaVersion } from './schema.js';
import { SchemaDraft } from './schema-draft.js';
import type { SchemaCache } from './schema-store.js';
import { OverlaySource } from './source.js';
import { stageChanges } from './stage.js';

/** Changes or conflict keys that are handed in without a pause: a millisecond or two. */
const HANDED_IN_AT_ONCE = 4_096;

/** What all transactions of one graph share. */
export interface TransactionContext {
  readonly committer: Committer;
  readonly schemas: SchemaCache;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly names: Names;
  readonly lease: UidLease;
  readonly indexes: IndexCache;
  /** last commit that touched the predicate, as far as this process knows; 0 when never */
  changedAt(predicate: string): number;
  /** Throws TOO_MANY_TRANSACTIONS when the transaction may not take up more memory. */
  assertRoomFor(transaction: GraphTransaction): void;
  /** the transaction is over, or stays as finished */
  closed(transaction: GraphTransaction): void;
}

interface Overlay {
  readonly source: OverlaySource;
  readonly schema: SchemaVersion;
  /** deltas of the log that are merged into it */
  readonly merged: number;
}

// what a transaction holds before its first change and after its end: nothing is ever added to it
const NO_LOG = new DeltaLog();
const NO_CONFLICTS = new ConflictSet();
const NOTHING_BEFORE: Promise<unknown> = Promise.resolve();

interface CommitOptions {
  readonly idempotency?: IdempotencyClaim;
  readonly parts?: Readonly<Record<string, unknown>>;
}

/** What a commit hands in. */
interface Gathered {
  readonly listed: ListedConflicts;
  readonly part: ChangesPart | undefined;
}

/** What has become of a transaction. */
type State = 'open' | 'committing' | 'committed' | 'aborted' | 'expired';

/** TXN_EXPIRED, as whoever goes on with a transaction that made room is told. */
export function expired(startTs: number): GraphsteadError {
  return new GraphsteadError(
    'TXN_EXPIRED',
    `transaction ${startTs} is gone: it was idle too long, or clients held too many`,
    { fix: 'Run the whole operation again in a new transaction.' },
  );
}

const nextHash = randomTexts(8, 'hex');

export class GraphTransaction implements Transaction {
  readonly hash = nextHash();
  readonly #context: TransactionContext;
  // most transactions read and no more
  #log = NO_LOG;
  #conflicts = NO_CONFLICTS;
  #readKeys: Set<string> | undefined;
  #readPredicates: Set<string> | undefined;
  /** names that were looked for, and that no predicate had */
  #readAbsent: Set<string> | undefined;
  #held: HeldReads | undefined;
  /** where reads are held: what it met another commit by is still asked for when it is over */
  #handedIn: ListedConflicts | undefined;
  #snapshot: Snapshot | undefined;
  #snapshotSince: number;
  #readers = 0;
  #overlay: Overlay | undefined;
  #staging = NOTHING_BEFORE;
  #merging = NOTHING_BEFORE;
  #outcome: Promise<Committed> | undefined;
  #finishedPredicates: readonly string[] | undefined;
  #state: State = 'open';
  /** monotonic time of the last use */
  touched: number;

  constructor(
    context: TransactionContext,
    readonly startTs: number,
    readonly readOnly: boolean,
    /** who may go on with it in later requests */
    readonly client: string | undefined,
    snapshot: Snapshot,
  ) {
    this.#context = context;
    this.#snapshot = snapshot;
    this.#snapshotSince = this.touched = context.clock.monotonic();
  }

  get held(): boolean {
    return this.client !== undefined;
  }

  get committing(): boolean {
    return this.#state === 'committing' || this.#state === 'committed';
  }

  /** Whether something would be lost if it were forgotten. */
  get dirty(): boolean {
    return this.#log.count > 0 || this.#state === 'committing';
  }

  /** The highest uid of a range that its changes name; 0 for none. */
  highestNamed(from: number, to: number): number {
    return this.#log.highestWithin(from, to);
  }

  get stagedBytes(): number {
    return this.#log.byteLength;
  }

  /** Whether a request works with it. */
  get busy(): boolean {
    return this.#readers > 0 || this.#state === 'committing';
  }

  async reader(): Promise<GraphReader> {
    const reader = await this.#reader();
    return this.#held === undefined ? reader : new LoggedReader(reader, this.#held);
  }

  async #reader(): Promise<GraphReader> {
    this.#mustBeOpen();
    this.#refresh();
    const snapshot = this.#snapshot!;
    this.#readers++;
    try {
      const overlay = this.#log.count > 0 ? await this.#overlaid(snapshot) : undefined;
      const reading = overlay?.schema ?? this.#context.schemas.readAt(snapshot);
      const schema = reading instanceof Promise ? await reading : reading;
      return new SourceReader(overlay?.source ?? snapshot, schema, snapshot.version, {
        reads: (predicate) => (this.#readPredicates ??= new Set()).add(predicate.name),
        released: () => this.#readerReleased(snapshot),
        indexes: this.#context.indexes,
      });
    } catch (error) {
      this.#readerReleased(snapshot);
      throw error;
    }
  }

  async stage(changes: readonly GraphChange[], accept?: () => Promise<void>, refused?: Refused): Promise<void> {
    return await this.#inLine(() => this.#stage(changes, accept, refused));
  }

  async #stage(
    changes: readonly GraphChange[],
    accept: (() => Promise<void>) | undefined,
    refused: Refused | undefined,
  ): Promise<void> {
    this.#mustBeOpen();
    if (this.#context.committer.readOnly) throw readOnlyStore();
    if (this.readOnly) {
      throw new GraphsteadError('TXN_READ_ONLY', 'a read-only transaction cannot change anything', {
        fix: 'Begin a transaction without ro and be.',
      });
    }
    const { schemas, names, limits, lease } = this.#context;
    this.#context.assertRoomFor(this);
    const staged = await stageChanges(
      {
        schema: schemas.newest,
        names,
        limits,
        created: this.#log.created,
        checkSize: (more) => this.#checkSize(more),
        reader: () => this.#reader(),
        refused,
      },
      changes,
    );
    this.#mustBeOpen();
    const before = accept && this.#keepBefore();
    if (this.#log.count === 0 && this.#log.created.size === 0) this.#log = staged.log;
    else this.#log.append(staged.log);
    if (this.#conflicts.size === 0) this.#conflicts = staged.conflicts;
    else this.#conflicts.merge(staged.conflicts);
    lease.avoid(staged.log);
    await accept?.().catch(async (error: unknown) => {
      if (before) await this.#takeBack(before);
      throw error;
    });
  }

  /** What is staged now, which stays as it is: more goes into copies. */
  #keepBefore(): { readonly log: DeltaLog; readonly conflicts: ConflictSet } {
    const before = { log: this.#log, conflicts: this.#conflicts };
    this.#log = new DeltaLog();
    this.#log.append(before.log);
    this.#conflicts = new ConflictSet();
    this.#conflicts.merge(before.conflicts);
    return before;
  }

  /** In line with the merges, since one under way would put the changes into the overlay again. */
  #takeBack({ log, conflicts }: { readonly log: DeltaLog; readonly conflicts: ConflictSet }): Promise<void> {
    const taken = this.#merging.then(() => {
      if (this.#state !== 'open') return;
      this.#log = log;
      this.#conflicts = conflicts;
      this.#overlay = undefined;
    });
    this.#merging = taken;
    return taken;
  }

  #checkSize(more: DeltaLog): void {
    const { commitDeltas, commitBytes } = this.#context.limits;
    if (this.#log.count + more.count > commitDeltas) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `a transaction may hold ${commitDeltas} changes (limits.commitDeltas)`,
        {
          fix: 'Commit in smaller parts, or use the importer.',
        },
      );
    }
    if (this.#log.byteLength + more.byteLength > commitBytes) {
      throw new GraphsteadError('LIMIT_EXCEEDED', `a transaction may hold ${commitBytes} bytes (limits.commitBytes)`, {
        fix: 'Commit in smaller parts, or use the importer.',
      });
    }
  }

  async mark(): Promise<() => Promise<void>> {
    const before = await this.#inLine(() => this.#keepBefore());
    return () => this.#inLine(() => this.#takeBack(before));
  }

  /** Behind what is being staged. */
  #inLine<T>(work: () => T | Promise<T>): Promise<T> {
    const run = this.#staging.then(work);
    this.#staging = run.catch(() => undefined);
    return run;
  }

  noteRead(keys: readonly string[], absent: readonly string[] = []): void {
    for (const key of keys) (this.#readKeys ??= new Set()).add(key);
    for (const name of absent) (this.#readAbsent ??= new Set()).add(name);
  }

  holdReads(): void {
    this.#held ??= new HeldReads();
  }

  get conflicts(): readonly ConflictKey[] {
    return conflictTexts(this.#handedIn ?? atOnce(this.#conflictKeys()));
  }

  *exclusiveKeys(): Steps<readonly string[]> {
    return yield* exclusiveTexts(yield* this.#conflictKeys());
  }

  get heldReads(): readonly ConflictKey[] {
    return this.#held?.keys() ?? [];
  }

  *#conflictKeys(): Steps<ListedConflicts> {
    if (this.#readKeys === undefined && this.#readAbsent === undefined) return yield* this.#conflicts.list();
    const more = new Set<string>();
    if (this.#readKeys !== undefined) yield* this.#addReadAndWritten(more, this.#readKeys);
    // whoever found no predicate and makes one found no value in it either
    for (const name of this.#readAbsent ?? []) if (this.#log.predicates.includes(name)) more.add(predicateKey(name));
    return yield* this.#conflicts.list(more);
  }

  /** Index keys that were both looked up and written are exclusive, so that a lookup that found nothing holds. */
  *#addReadAndWritten(exclusive: Set<string>, keys: ReadonlySet<string>): Steps<void> {
    const read = new Set<string | undefined>([...keys].map(predicateOfIndexKey));
    if (read.size === 0 || this.#log.count === 0) return;
    const part = yield* this.#log.partInSteps();
    const records = part.names.map((name) =>
      read.has(name) ? this.#context.schemas.newest.predicate(name) : undefined,
    );
    for (let i = 0; i < part.ops.length; i++) {
      if (i % STEP === STEP - 1) yield;
      const record = records[part.predicates[i]];
      if (!record || (part.ops[i] !== OP.setValue && part.ops[i] !== OP.deleteValue)) continue;
      const value = decodeValue(payloadOf(part, i).value);
      for (const { kind } of record.indexes) {
        for (const token of tokensOf(kind, value, part.langs[part.langOf[i]])) {
          const key = indexConflictKey(record.name, kind, token);
          if (keys.has(key)) exclusive.add(key);
        }
      }
    }
  }

  get predicates(): readonly string[] {
    return this.#finishedPredicates ?? this.#log.predicates;
  }

  commit(options: CommitOptions = {}): Promise<Committed> {
    if (this.#outcome) return this.#outcome;
    this.#mustBeOpen();
    this.#outcome = this.#staging.then(() => this.#commit(options));
    this.#outcome.catch(() => undefined);
    return this.#outcome;
  }

  async #commit(options: CommitOptions): Promise<Committed> {
    this.#mustBeOpen();
    this.#state = 'committing';
    try {
      const committed = await this.#handIn(options);
      this.#state = 'committed';
      return committed;
    } catch (error) {
      this.#state = 'aborted';
      throw error;
    } finally {
      this.#letGo();
    }
  }

  #handIn(options: CommitOptions): MaybePromise<Committed> {
    const idle = this.#log.count === 0 && Object.keys(options.parts ?? {}).length === 0 && !options.idempotency;
    if (idle) return { commitTs: this.startTs, wall: this.#context.clock.wall(), results: {} };
    // in steps where there is much: nobody waits for the others of a large commit
    if (this.#log.count <= HANDED_IN_AT_ONCE && this.#conflicts.size <= HANDED_IN_AT_ONCE) {
      const gathered = atOnce(this.#gathered());
      if (this.#held !== undefined) this.#handedIn = gathered.listed;
      return this.#send(gathered, options);
    }
    const yielder = new Yielder(this.#context.limits.yieldMs);
    return inSteps(this.#gathered(), () => yielder.due()).then((gathered) => this.#send(gathered, options));
  }

  /** What has come together, as an intent takes it. */
  *#gathered(): Steps<Gathered> {
    const listed = yield* this.#conflictKeys();
    return { listed, part: this.#log.count > 0 ? yield* this.#log.partInSteps() : undefined };
  }

  #send({ listed, part }: Gathered, options: CommitOptions): Promise<Committed> {
    // millions of changes are not to lie here again while they are merged
    this.#forgetStaged();
    return this.#context.committer.commit({
      startTs: this.startTs,
      parts: part === undefined ? { ...options.parts } : { ...options.parts, [GRAPH]: part },
      ...listed,
      ...(this.#held ? { reads: this.heldReads } : {}),
      ...(options.idempotency ? { idempotency: options.idempotency } : {}),
    });
  }

  abort(): void {
    this.#end('aborted');
  }

  /** Aborts it though its client may go on with it. */
  expire(): void {
    this.#end('expired');
  }

  #end(state: State): void {
    if (this.#state !== 'open') return;
    this.#state = state;
    this.#letGo();
  }

  /** Gives the snapshot back when it was held too long and nobody reads; a later read takes a newer one. */
  releaseSnapshot(now: number): void {
    if (this.#readers > 0 || !this.#snapshot || now - this.#snapshotSince < this.#context.limits.snapshotMs) return;
    this.#dropSnapshot();
  }

  #dropSnapshot(): void {
    this.#releasedVersion = this.#snapshot?.version ?? this.#releasedVersion;
    this.#snapshot?.release();
    this.#snapshot = undefined;
    this.#overlay = undefined;
  }
  #releasedVersion = 0;

  /** A snapshot to read from. Throws TXN_ABORTED when what was read before is no longer so. */
  #refresh(): void {
    const now = (this.touched = this.#context.clock.monotonic());
    this.releaseSnapshot(now);
    if (this.#snapshot) return;
    for (const name of [...(this.#readPredicates ?? []), ...(this.#readAbsent ?? [])]) {
      if (this.#context.changedAt(name) <= this.#releasedVersion) continue;
      this.abort();
      throw new GraphsteadError('TXN_ABORTED', ABORTED, {
        fix: `Run the whole operation again in a new transaction: this one stayed open longer than limits.snapshotMs (${this.#context.limits.snapshotMs}), and "${name}", in which it has read, was written to meanwhile. Do what takes long, such as calls of models, before it begins, or raise that limit.`,
      });
    }
    this.#snapshot = this.#context.committer.snapshot();
    this.#snapshotSince = now;
  }

  #readerReleased(snapshot: Snapshot): void {
    this.#readers--;
    if (this.#readers > 0) return;
    if (this.#state !== 'open' && this.#snapshot === snapshot) this.#dropSnapshot();
  }

  /** The snapshot with the staged changes merged on top, by the code that will merge them at commit. */
  #overlaid(snapshot: Snapshot): Promise<Overlay> {
    // requests of one transaction may come at the same time: each takes up where the one before ended
    const merged = this.#merging.then(() => this.#mergeFresh(snapshot));
    this.#merging = merged.catch(() => undefined);
    return merged;
  }

  async #mergeFresh(snapshot: Snapshot): Promise<Overlay> {
    const { schemas, limits } = this.#context;
    const count = this.#log.count;
    if (this.#overlay?.merged === count) return this.#overlay;
    const source = this.#overlay?.source ?? new OverlaySource(snapshot);
    const draft = new SchemaDraft(this.#overlay?.schema ?? (await schemas.read(snapshot)));
    const merge = new GroupMerge(source, draft, limits, (name) => schemas.newest.predicate(name));
    const yielder = new Yielder(limits.yieldMs);
    const fresh = await inSteps(this.#log.partInSteps(this.#overlay?.merged), () => yielder.due());
    await merge.apply(fresh, false);
    await merge.flush((key, value) => source.put(key, value));
    this.#overlay = { source, schema: draft.finish(snapshot.version), merged: count };
    return this.#overlay;
  }

  #mustBeOpen(): void {
    this.touched = this.#context.clock.monotonic();
    if (this.#state === 'open') return;
    if (this.#state === 'expired') throw expired(this.startTs);
    throw new GraphsteadError('TXN_FINISHED', `transaction ${this.startTs} was already ${this.#state}`, {
      fix: 'Begin a new transaction.',
    });
  }

  #forgetStaged(): void {
    this.#finishedPredicates ??= this.#log.predicates;
    this.#log = NO_LOG;
    this.#conflicts = NO_CONFLICTS;
  }

  /** Only the outcome is kept of a transaction that is over; thousands of them are. */
  #letGo(): void {
    this.#forgetStaged();
    this.#readKeys = this.#readPredicates = this.#readAbsent = undefined;
    this.#staging = this.#merging = NOTHING_BEFORE;
    if (this.#readers === 0) this.#dropSnapshot();
    this.#context.closed(this);
  }
}
