import { existsSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytes } from '../base/index.js';
import { diskFull } from './failure.js';

const BALLAST_FILE = 'ballast';
const CHUNK = 1024 * 1024;
/** what a start writes at most: two logs, a new data file */
const START_BYTES = 8 * CHUNK;
/** bytes above the reserve from which on the volume is not asked before each write */
const PLENTY = 1024 ** 3;
const LOOK_MS = 100;

/**
 * Keeps a reserve free on the volume, and a ballast file inside the directory: on a full disk even a drop needs room,
 * and the ballast is what it gets.
 */
export class DiskGuard {
  readonly #directory: string;
  readonly #reserve: number;
  readonly #free: (directory: string) => number;
  /** bytes that may be written before the next look, and when the last one was */
  #credit = 0;
  #lookedAt = 0;

  constructor(directory: string, reserve: number, free = freeBytes) {
    this.#directory = directory;
    this.#reserve = reserve;
    this.#free = free;
  }

  /** Throws DISK_FULL when `bytes` more would eat into the reserve; `reclaim` writes may, and get the ballast's room. */
  admit(bytes: number, reclaim: boolean): void {
    if (this.#isPlenty(bytes)) return;
    const free = this.#free(this.#directory);
    if (free >= this.#reserve + bytes) return;
    if (!reclaim) throw diskFull(this.#wanting(free, bytes));
    this.#dropBallast();
  }

  /** A large write needs much more than the reserve says. */
  #wanting(free: number, bytes: number): string {
    if (free < this.#reserve) return `${free} bytes are free, limits.diskReserve is ${this.#reserve}`;
    return `${free} bytes are free, limits.diskReserve keeps ${this.#reserve}, and this write may take ${bytes}`;
  }

  /** To ask the system takes longer than to note a small write. */
  #isPlenty(bytes: number): boolean {
    const now = performance.now();
    if (now - this.#lookedAt > LOOK_MS) {
      this.#lookedAt = now;
      this.#credit = this.#free(this.#directory) - this.#reserve - PLENTY;
    }
    this.#credit -= bytes;
    return this.#credit >= 0;
  }

  /** Writes the ballast when it is missing and there is room for it. */
  async layBallast(bytes: number): Promise<void> {
    const path = join(this.#directory, BALLAST_FILE);
    if (existsSync(path) || this.#free(this.#directory) < this.#reserve + 2 * bytes) return;
    const file = await open(path, 'wx');
    try {
      const chunk = Buffer.alloc(CHUNK);
      for (let written = 0; written < bytes; written += CHUNK) {
        await file.write(chunk, 0, Math.min(CHUNK, bytes - written));
      }
    } catch {
      rmSync(path, { force: true });
    } finally {
      await file.close();
    }
  }

  /** Drops the ballast where less is free than a start needs: it begins a log of its own even where it will only read. */
  makeRoomForStart(): void {
    if (this.#free(this.#directory) < START_BYTES) this.#dropBallast();
  }

  #dropBallast(): void {
    rmSync(join(this.#directory, BALLAST_FILE), { force: true });
  }
}
