import type { BulkProgress } from '../../graph/index.js';

/** Progress of a long piece of work, on standard error: drawn on a terminal, nothing otherwise. */
export interface Progress {
  update(doneBytes: number, statements: number): void;
  finish(): void;
}

export interface ImportProgress extends Progress {
  /** everything is read, and what was read is sorted and written */
  writing(at: BulkProgress): void;
}

const WIDTH = 28;
const EVERY_MS = 100;
const ERASE = '\r\x1b[K';
const stream = process.stderr;

export function progressBar(totalBytes: number): ImportProgress {
  const from = performance.now();
  const line = progressLine();
  return {
    update(done, statements) {
      const share = totalBytes === 0 ? 1 : Math.min(1, done / totalBytes);
      const rate = statements / Math.max(0.001, (performance.now() - from) / 1000);
      line.draw(() => `${bar(share)}  ${format(statements)} quads  ${format(rate)}/s`);
    },
    writing({ predicate, share, keys }) {
      line.draw(() => `${bar(share)}  writing ${predicate}  ${format(keys)} keys`);
    },
    finish: line.erase,
  };
}

/** As `progressBar`, where the whole is not known. */
export function progressCount(): Progress {
  const line = progressLine();
  return {
    update: (_done, statements) => line.draw(() => `${format(statements)} statements`),
    finish: line.erase,
  };
}

/** 1234567 -> "1.2M" */
export function format(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)}M`;
  if (count >= 1e3) return `${(count / 1e3).toFixed(1)}k`;
  return String(Math.round(count));
}

function bar(share: number): string {
  const filled = Math.round(share * WIDTH);
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${String(Math.floor(share * 100)).padStart(3)}%`;
}

/** The line of a terminal that is drawn again and again. */
function progressLine() {
  let last = 0;
  return {
    draw(text: () => string): void {
      const now = performance.now();
      if (!stream.isTTY || now - last < EVERY_MS) return;
      last = now;
      stream.write(`${ERASE}  ${text()}`);
    },
    erase(): void {
      if (stream.isTTY) stream.write(ERASE);
    },
  };
}
