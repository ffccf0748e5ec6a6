import { type BigIntStats, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GraphsteadError } from '../base/index.js';

/**
 * Sees that the data file still stands under its name. A file that was deleted, or replaced by a restored copy, can be
 * written to as before; what is written is lost when the process ends.
 */
export class Place {
  readonly #path: string;
  readonly #file: BigIntStats;

  private constructor(path: string, file: BigIntStats) {
    this.#path = path;
    this.#file = file;
  }

  /** @param file open, and found under `path` now */
  static async of(path: string, file: FileHandle): Promise<Place> {
    return new Place(path, await file.stat({ bigint: true }));
  }

  /** Whether another file stands there, or none that can be seen. */
  get isLost(): boolean {
    try {
      const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
      return found?.ino !== this.#file.ino || found.dev !== this.#file.dev;
    } catch {
      return true;
    }
  }

  /** Throws STORE_FENCED when the file is not there; where it comes back, writes go on. */
  assertThere(): void {
    if (this.isLost) throw this.lost();
  }

  /** STORE_FENCED, as whoever needs the file is told. */
  lost(): GraphsteadError {
    const directory = dirname(this.#path);
    return new GraphsteadError('STORE_FENCED', `the data directory ${directory} was moved, removed or replaced`, {
      fix: 'Put it back, or stop the service, restore the last backup, and start again.',
    });
  }
}
