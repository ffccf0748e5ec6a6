import type { Limits } from '../../base/index.js';

/** silence after which new work goes to another process, milliseconds */
const STALL_MS = 500;
/** looks from one look at the memory to the next */
const MEMORY_LOOKS = 20;

/** What the watchdog needs of the process it watches. */
export interface Watched {
  /** asks; the answer comes to `answered` */
  ping(n: number): void;
  threadMs(): number | undefined;
  residentBytes(): number | undefined;
}

/** What a look found: `stalled` has not answered for a while, the others are to be killed. */
export type Finding = 'fine' | 'stalled' | 'stuck' | 'out of memory';

/** Asks one process whether it is still there while it has something to do. */
export class Watchdog {
  /** when the oldest unanswered ping went out, and the thread time used by then */
  #asked: { readonly at: number; readonly cpu: number | undefined; readonly n: number } | undefined;
  #pings = 0;
  #looks = 0;

  constructor(
    readonly watched: Watched,
    readonly limits: Pick<Limits, 'turnThreadMs' | 'hostHeapMb'>,
  ) {}

  /** New work goes elsewhere. */
  isStalled(now: number): boolean {
    return this.#asked !== undefined && now - this.#asked.at > STALL_MS;
  }

  answered(n: number): void {
    if (n === this.#asked?.n) this.#asked = undefined;
  }

  /** It has nothing to do: it may be silent. */
  rest(): void {
    this.#asked = undefined;
  }

  /** @param late milliseconds that the main process itself lost since the last look */
  look(now: number, late: number): Finding {
    if (++this.#looks % MEMORY_LOOKS === 0 && this.#isTooLarge()) return 'out of memory';
    if (this.#asked === undefined) {
      this.#asked = { at: now, cpu: this.watched.threadMs(), n: ++this.#pings };
      this.watched.ping(this.#pings);
      return 'fine';
    }
    if (late > 0) this.#asked = { ...this.#asked, at: this.#asked.at + late };
    const silent = now - this.#asked.at;
    if (silent >= this.limits.turnThreadMs && this.#isStuck(silent, this.#asked.cpu)) return 'stuck';
    return silent > STALL_MS ? 'stalled' : 'fine';
  }

  /** Silence alone is no proof on a busy machine: it must have used the thread, or be silent for much longer. */
  #isStuck(silent: number, before: number | undefined): boolean {
    const now = this.watched.threadMs();
    if (before === undefined || now === undefined) return true;
    return now - before >= this.limits.turnThreadMs * 0.5 || silent >= this.limits.turnThreadMs * 2;
  }

  /** The heap has its own limit; what lies beside it (buffers) is watched here. */
  #isTooLarge(): boolean {
    const bytes = this.watched.residentBytes();
    return bytes !== undefined && bytes > (this.limits.hostHeapMb * 2 + 256) * 1024 * 1024;
  }
}
