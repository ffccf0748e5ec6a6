import { describe, expect, it, vi } from 'vitest';
import { LogLines, type Writes } from './log-lines.js';

/** A file on a disk that has room for so many more bytes. */
class Disk {
  text = '';
  room = Number.POSITIVE_INFINITY;
  code = 'ENOSPC';

  readonly writes = {
    write: (_file: number, bytes: Buffer, done: (error: Error | null, written: number) => void) =>
      queueMicrotask(() => {
        try {
          done(null, this.#take(bytes));
        } catch (error) {
          done(error as Error, 0);
        }
      }),
    writeSync: (_file: number, bytes: Buffer) => this.#take(bytes),
  } as unknown as Writes;

  #take(bytes: Buffer): number {
    const taken = Math.min(this.room, bytes.length);
    if (taken === 0) throw Object.assign(new Error(`${this.code}: no`), { code: this.code });
    this.text += bytes.toString('utf8', 0, taken);
    this.room -= taken;
    return taken;
  }
}

function open() {
  const disk = new Disk();
  const lost: [number, unknown][] = [];
  return { disk, lost, lines: new LogLines(1, (count, reason) => lost.push([count, reason]), disk.writes) };
}

/** Runs a test at whose pace timers go off. */
async function timed(test: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    await test();
  } finally {
    vi.useRealTimers();
  }
}

describe('the lines of the log', () => {
  it('are written whole and in order once a full disk has room again', () =>
    timed(async () => {
      const { disk, lines, lost } = open();
      disk.room = 4;
      for (const line of ['one\n', 'two\n', 'three\n']) lines.write(line);
      await vi.advanceTimersByTimeAsync(5000);
      expect(disk.text).toBe('one\n');
      disk.room = 2;
      await vi.advanceTimersByTimeAsync(1000);
      expect(disk.text).toBe('one\ntw');
      disk.room = 1000;
      lines.write('four\n');
      await vi.advanceTimersByTimeAsync(1000);
      expect(disk.text).toBe('one\ntwo\nthree\nfour\n');
      expect(lost).toEqual([]);
    }));

  it('take so much memory and no more where they cannot be written, and what was lost is told', () =>
    timed(async () => {
      const { disk, lines, lost } = open();
      disk.room = 0;
      const line = `${'x'.repeat(1024 * 1024 - 1)}\n`;
      for (let n = 0; n < 6; n++) lines.write(line);
      await vi.advanceTimersByTimeAsync(5000);
      expect(lost).toEqual([]);
      disk.room = Number.POSITIVE_INFINITY;
      await vi.advanceTimersByTimeAsync(1000);
      expect(disk.text).toBe(line.repeat(4));
      expect(lost).toEqual([[2, expect.objectContaining({ code: 'ENOSPC' })]]);
      lines.write('later\n');
      await vi.advanceTimersByTimeAsync(0);
      expect(disk.text).toBe(`${line.repeat(4)}later\n`);
      expect(lost).toHaveLength(1);
    }));

  it('have one try behind a fatal one on a full disk, and what could not be written waits on', () =>
    timed(async () => {
      const { disk, lines } = open();
      disk.room = 0;
      lines.write('one\n');
      await vi.advanceTimersByTimeAsync(0);
      lines.write('two\n');
      disk.room = 6;
      lines.flushSync();
      lines.flushSync();
      expect(disk.text).toBe('one\ntw');
      disk.room = 10;
      await vi.advanceTimersByTimeAsync(1000);
      expect(disk.text).toBe('one\ntwo\n');
    }));
});
