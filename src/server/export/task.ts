import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { asError, type Clock, GraphsteadError, type Limits } from '../../base/index.js';
import type { ExportTask, Exports } from '../../api/index.js';
import type { ExportFormat } from './statement.js';

interface ExportTaskOptions {
  /** folder below which exports are written */
  readonly root: string;
  /** Writes one; ends early, and rejects, once the signal is aborted. */
  readonly write: (format: ExportFormat, folder: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'exportTasks'>;
  /** hears of a failure, which may come when nobody waits */
  readonly failed: (id: string, error: GraphsteadError) => void;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Exports one after another, since each holds a snapshot and a disk; and what has become of the last of them. */
export class ExportTasks implements Exports {
  readonly #options: ExportTaskOptions;
  readonly #tasks = new Map<string, ExportTask>();
  readonly #stop = new AbortController();
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ExportTaskOptions) {
    this.#options = options;
  }

  task(id: string): ExportTask | undefined {
    return this.#tasks.get(id);
  }

  start(format: ExportFormat, destination: string | undefined): ExportTask {
    const { clock, limits, root } = this.#options;
    const below = destination === undefined ? root : join(root, checkedDestination(destination));
    if (this.#waiting >= limits.exportTasks) throw tooMany(limits.exportTasks);
    this.#waiting++;
    const done = this.#last.then(() => this.#run(task, format, below));
    const task: Mutable<ExportTask> = { id: newId(), status: 'Queued', lastUpdated: clock.wall(), done };
    // whoever started it may not wait for it, and the next one begins either way
    this.#last = done.catch(() => undefined);
    this.#keep(task);
    return task;
  }

  /** Stops the one that runs, and those that wait. */
  async close(): Promise<void> {
    this.#stop.abort(stopped());
    await this.#last;
  }

  async #run(task: Mutable<ExportTask>, format: ExportFormat, below: string): Promise<readonly string[]> {
    const { write, clock, failed } = this.#options;
    const become = (status: ExportTask['status']) => Object.assign(task, { status, lastUpdated: clock.wall() });
    try {
      this.#stop.signal.throwIfAborted();
      become('Running');
      const folder = new Date(task.lastUpdated).toISOString().replaceAll(':', '-');
      const files = await write(format, join(below, folder), this.#stop.signal);
      become('Success');
      return files;
    } catch (thrown) {
      become('Failed');
      failed(task.id, asError(thrown));
      throw thrown;
    } finally {
      this.#waiting--;
    }
  }

  /** The oldest that is done makes room. */
  #keep(task: ExportTask): void {
    for (const { id, status } of this.#tasks.values()) {
      if (this.#tasks.size < this.#options.limits.exportTasks) break;
      if (status === 'Success' || status === 'Failed') this.#tasks.delete(id);
    }
    this.#tasks.set(task.id, task);
  }
}

/** In the form of the peer's, whose clients may read it as a number. */
const newId = (): string => `0x${randomBytes(6).toString('hex')}`;

/** Folders by plain names, one below the other: nobody who may export may write elsewhere. */
function checkedDestination(destination: string): string {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*(\/[\p{L}\p{N}_][\p{L}\p{N}_.-]*)*$/u.test(destination)) return destination;
  throw new GraphsteadError('INVALID_REQUEST', `${JSON.stringify(destination)} is no folder inside that of exports`, {
    fix: 'Name one like "nightly" or "2026/may"; to write elsewhere, use the command "graphstead export".',
  });
}

function stopped(): GraphsteadError {
  return new GraphsteadError('CANCELLED', 'the service stopped before the export was whole', {
    fix: 'Ask for it again once the service runs.',
  });
}

function tooMany(most: number): GraphsteadError {
  return new GraphsteadError('OVERLOADED', `${most} exports wait already (limits.exportTasks)`, {
    fix: 'Wait until one of them has ended.',
  });
}
