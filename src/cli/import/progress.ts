/** Progress of a long piece of work, on standard error: a bar on a terminal, nothing otherwise. */
export interface Progress {
  update(doneBytes: number, statements: number): void;
  finish(): void;
}

const WIDTH = 28;
const EVERY_MS = 100;
const stream = process.stderr;

export function progressBar(totalBytes: number): Progress {
  const from = performance.now();
  let last = 0;
  const draw = (done: number, statements: number) => {
    const share = totalBytes === 0 ? 1 : Math.min(1, done / totalBytes);
    const filled = Math.round(share * WIDTH);
    const rate = statements / Math.max(0.001, (performance.now() - from) / 1000);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}`;
    stream.write(
      `\r  ${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${format(statements)} quads  ${format(rate)}/s   `,
    );
  };
  return {
    update(done, statements) {
      const now = performance.now();
      if (!stream.isTTY || now - last < EVERY_MS) return;
      last = now;
      draw(done, statements);
    },
    finish() {
      if (stream.isTTY) stream.write('\r\x1b[K');
    },
  };
}

/** 1234567 -> "1.2M" */
export function format(count: number): string {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)}M`;
  if (count >= 1e3) return `${(count / 1e3).toFixed(1)}k`;
  return String(Math.round(count));
}

/** As `progressBar`, where the whole is not known. */
export function progressCount(): Progress {
  let last = 0;
  return {
    update(_done, statements) {
      const now = performance.now();
      if (!stream.isTTY || now - last < EVERY_MS) return;
      last = now;
      stream.write(`\r  ${format(statements)} statements   `);
    },
    finish() {
      if (stream.isTTY) stream.write('\r\x1b[K');
    },
  };
}
