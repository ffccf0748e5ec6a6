import * as fs from 'node:fs';
import { codeOf } from '../base/index.js';

/** Bytes of lines that wait while none can be written. */
const WAITING_BYTES = 4 * 1024 * 1024;
/** Milliseconds until what failed is tried again: where its reader takes nothing, and for any other reason. */
const AGAIN_MS = { stalled: 100, failing: 1000 };
/** Milliseconds that the end of the process waits for a reader who takes nothing. */
const END_MS = 1000;

/** What lines are written with: Node's own. */
export type Writes = Pick<typeof fs, 'write' | 'writeSync'>;

/** Logs whose lines are not all written: they have a last try at the end of the process. */
const behind = new Set<LogLines>();

/**
 * Lines of the log on an open file. A log that cannot be written, on a full disk, say, is no reason to end, nor to wait: lines
 * wait, and are written once they can be. Those that come while too much waits are lost, and counted.
 */
export class LogLines {
  readonly #file: number;
  readonly #lost: (count: number, reason: unknown) => void;
  readonly #writes: Writes;
  #waiting: Buffer[] = [];
  /** bytes of these, and of those that are being written */
  #bytes = 0;
  #isBusy = false;
  #missed = 0;
  #reason: unknown;

  /** `lost` hears of lines that were lost, and why, once there is room again. */
  constructor(file: number, lost: (count: number, reason: unknown) => void, writes: Writes = fs) {
    this.#file = file;
    this.#lost = lost;
    this.#writes = writes;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#bytes + bytes.length > WAITING_BYTES) {
      this.#missed += 1;
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (!this.#isBusy) this.#begin();
  }

  /** What waits, at once, as far as it can be written: pino asks for it behind a fatal line. */
  flushSync(): void {
    const until = performance.now() + END_MS;
    let rest = Buffer.concat(this.#waiting);
    const size = rest.length;
    try {
      while (rest.length > 0) rest = rest.subarray(this.#writeOrWait(rest, until));
    } catch (error) {
      this.#reason = error;
    }
    this.#waiting = rest.length > 0 ? [rest] : [];
    this.#bytes -= size - rest.length;
  }

  #writeOrWait(bytes: Buffer, until: number): number {
    try {
      return this.#writes.writeSync(this.#file, bytes);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN' || performance.now() > until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      return 0;
    }
  }

  #begin(): void {
    this.#isBusy = true;
    behind.add(this);
    const chunk = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#writes.write(this.#file, chunk, (error, written) => this.#end(chunk, error ? 0 : written, error));
  }

  #end(chunk: Buffer, written: number, error: NodeJS.ErrnoException | null): void {
    this.#bytes -= written;
    if (written < chunk.length) this.#waiting.unshift(chunk.subarray(written));
    if (error) {
      this.#reason = error;
      setTimeout(() => this.#begin(), error.code === 'EAGAIN' ? AGAIN_MS.stalled : AGAIN_MS.failing).unref();
    } else if (this.#waiting.length > 0) this.#begin();
    else this.#rest();
  }

  #rest(): void {
    this.#isBusy = false;
    behind.delete(this);
    if (this.#missed === 0) return;
    const missed = this.#missed;
    this.#missed = 0;
    this.#lost(missed, this.#reason);
  }
}

process.on('exit', () => {
  for (const lines of behind) lines.flushSync();
});
