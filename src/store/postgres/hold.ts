import type { Link, Row } from './link.js';

/** seconds that a process keeps its place in the database without a word */
export const HELD_SECONDS = 15;

/** How a process says that it is still there. */
interface HoldOptions {
  readonly link: Link;
  /** says so, counting on this version and newer ones; gives a row while the place is still its own */
  readonly keep: (oldest: number) => string;
  /** says that it leaves */
  readonly leave: string;
}

/** The place of one process in the database, until it ends or is silent for too long. */
export class Hold {
  readonly #options: HoldOptions;
  readonly #beat: NodeJS.Timeout;
  #oldest: number;
  #heardAt = performance.now();
  #lost: () => void = () => undefined;

  constructor(options: HoldOptions, oldest: number) {
    this.#options = options;
    this.#oldest = oldest;
    this.#beat = setInterval(() => this.#keep(), (HELD_SECONDS * 1_000) / 3);
    this.#beat.unref();
  }

  /** The version that it counts on from now on: the oldest that it reads, or the last that it wrote. */
  needs(oldest: number): void {
    this.#oldest = oldest;
  }

  /** The database has taken a word that was said then. */
  heard(saidAt: number): void {
    this.#heardAt = Math.max(this.#heardAt, saidAt);
  }

  /** Told where the place is its own no more. */
  onLost(lost: () => void): void {
    this.#lost = lost;
  }

  /** Whether the database has heard nothing for so long that another process may have taken the place. */
  get isSilent(): boolean {
    return performance.now() - this.#heardAt > HELD_SECONDS * 1_000;
  }

  /** One that the database did not hear is said again with the next beat. */
  #keep(): void {
    const { link, keep } = this.#options;
    const saidAt = performance.now();
    const heard = (rows: readonly Row[]) => {
      if (rows.length === 0) this.#lost();
      else this.heard(saidAt);
    };
    link.read({ text: keep(this.#oldest) }).then(heard, () => undefined);
  }

  async end(): Promise<void> {
    clearInterval(this.#beat);
    const { link, leave } = this.#options;
    await link.read({ text: leave });
  }
}
