import type { Link } from './link.js';

/** seconds that a process keeps its place in the database without a word */
export const HELD_SECONDS = 15;

/** How a process says that it is still there. */
interface HoldOptions {
  readonly link: Link;
  /** says so, needing this version and newer ones */
  readonly keep: (oldest: number) => string;
  /** says that it leaves */
  readonly leave: string;
}

/** The place of one process in the database, until it ends or is silent for too long. */
export class Hold {
  readonly #options: HoldOptions;
  readonly #beat: NodeJS.Timeout;
  #oldest: number;

  constructor(options: HoldOptions, oldest: number) {
    this.#options = options;
    this.#oldest = oldest;
    this.#beat = setInterval(() => this.#keep(), (HELD_SECONDS * 1_000) / 3);
    this.#beat.unref();
  }

  needs(oldest: number): void {
    this.#oldest = oldest;
  }

  /** One that the database did not hear is said again with the next beat; that another took over is told to the next write. */
  #keep(): void {
    const { link, keep } = this.#options;
    link.read({ text: keep(this.#oldest) }).catch(() => undefined);
  }

  async end(): Promise<void> {
    clearInterval(this.#beat);
    const { link, leave } = this.#options;
    await link.read({ text: leave });
  }
}
