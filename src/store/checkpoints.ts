import type { FileHandle } from 'node:fs/promises';
import { assert, type GraphsteadError } from '../base/index.js';
import { inDoubt, storeFailure, unknownFate } from './failure.js';
import type { LmdbEnv } from './lmdb-env.js';
import { SharedReader } from './lmdb-snapshot.js';
import { epochIn, type FileMeta } from './lmdb-meta.js';
import { fenced } from './memory-store.js';
import { type Checkpoint, RedoLog } from './redo-log.js';
import { checkpointOf, distrusted, distrustLog } from './roll-back.js';

interface CheckpointOptions {
  readonly env: LmdbEnv;
  /** the data file */
  readonly file: FileHandle;
  readonly directory: string;
  readonly meta: FileMeta;
}

/**
 * Brings the data file to disk before the log is full. From then on the log begins behind that state, whose pages a reader holds from
 * being used again. All of it beside the batches that follow, unless they come so fast that the log fills up meanwhile.
 */
export class Checkpoints {
  readonly redo: RedoLog;
  readonly #options: CheckpointOptions;
  /** the one that counts, and the reader that holds its pages */
  #last: Held;
  #running: Promise<void> | undefined;
  #failure: GraphsteadError | undefined;
  /** the log tells the next start of the doubt: it goes back to the last checkpoint, and what was refused is gone */
  #isTold = false;

  private constructor(options: CheckpointOptions, redo: RedoLog, last: Held) {
    this.#options = options;
    this.redo = redo;
    this.#last = last;
  }

  /** Makes the log of an epoch that has just begun. */
  static async begin(options: CheckpointOptions): Promise<Checkpoints> {
    const { env, file, directory, meta } = options;
    const isLatest = () => epochIn(env) === meta.epoch;
    const first = hold(options);
    try {
      await file.sync().catch((thrown: unknown) => {
        distrustLog(directory);
        throw inDoubt(thrown);
      });
      const redo = await RedoLog.create(directory, meta.epoch, first.checkpoint, isLatest);
      return new Checkpoints(options, redo, first);
    } catch (thrown) {
      first.reader.close();
      // one that came later may have removed the log that was being made
      throw isLatest() ? thrown : fenced(meta.epoch);
    }
  }

  /** What one failed for: the data file is in doubt from then on. */
  get failure(): GraphsteadError | undefined {
    return this.#failure;
  }

  /** Before a batch: a promise where the log has no room for it. Rejects where that does not change. */
  room(): Promise<void> | undefined {
    return this.redo.isFull ? this.#makeRoom() : undefined;
  }

  async #makeRoom(): Promise<void> {
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.redo.isFull) return;
    try {
      this.#start();
    } catch (thrown) {
      throw storeFailure(thrown, 'a checkpoint could not begin');
    }
  }

  /** After a batch, and before the next one: which is told where a checkpoint cannot begin, for this one stands. */
  landed(): void {
    if (this.#running !== undefined || !this.redo.isFull) return;
    try {
      this.#start();
    } catch {
      // no reader is free, say
    }
  }

  /** Resolves once all that has landed is on disk in the data file. No batch may be in flight. */
  async now(): Promise<void> {
    await this.#running;
    try {
      if (this.#failure === undefined) this.#start();
    } catch (thrown) {
      // What has landed cannot be taken back, and is refused: nothing may follow it.
      this.redo.turn();
      await this.#doubt(thrown);
    }
    await this.#running;
    if (this.#failure !== undefined) throw this.#isTold ? this.#failure : unknownFate(this.#failure);
  }

  /** Lets go of what is held, once nothing is under way. */
  async stop(): Promise<void> {
    await this.#running;
    this.#last.reader.close();
  }

  /** After the file was closed by LMDB: nothing is behind the last checkpoint then, and nothing to look after at the next start. */
  async end(): Promise<void> {
    const { file, meta } = this.#options;
    // Its head from before the sync: one that another process, which took over, writes after it is not on disk.
    const checkpoint = checkpointOf(file.fd, meta.incarnation);
    this.redo.turn();
    try {
      await file.sync();
      await this.redo.check(checkpoint);
    } catch (thrown) {
      await this.#doubt(thrown);
      throw this.#failure;
    }
  }

  #start(): void {
    assert(this.#failure === undefined, 'nothing is written to a file in doubt');
    const next = hold(this.#options);
    this.redo.turn();
    this.#running = this.#run(next);
  }

  /** Never rejects. */
  async #run(next: Held): Promise<void> {
    try {
      await this.#options.file.datasync();
      await this.redo.check(next.checkpoint);
      this.#last.reader.close();
      this.#last = next;
    } catch (thrown) {
      next.reader.close();
      await this.#doubt(thrown);
    } finally {
      this.#running = undefined;
    }
  }

  /** The system tells a failed write once, and then takes the pages for written: only the log has what they held. */
  async #doubt(thrown: unknown): Promise<void> {
    this.#failure = inDoubt(thrown);
    this.#isTold = await this.redo.check(distrusted(this.#last.checkpoint)).then(
      () => true,
      () => false,
    );
  }
}

interface Held {
  readonly reader: SharedReader;
  readonly checkpoint: Checkpoint;
}

/** The reader first: where another process has taken over, the head may be newer, and what is older is held too. */
function hold({ env, file, meta }: CheckpointOptions): Held {
  const reader = new SharedReader(env, () => undefined);
  try {
    return { reader, checkpoint: checkpointOf(file.fd, meta.incarnation) };
  } catch (thrown) {
    reader.close();
    throw thrown;
  }
}
