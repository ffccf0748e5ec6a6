import type { Limits } from '../../base/index.js';

/** silence after which new work goes to another process, milliseconds: on a busy machine it may mean nothing */
const STALL_MS = 500;
/** so much thread time spent in silence means that one task holds the thread */
const HELD_MS = 150;
/** looks from one look at the memory to the next */
const MEMORY_LOOKS = 40;

/** What the watchdog needs of the process it watches. */
interface Watched {
  /** asks; the answer comes to `answered` */
  ping(n: number): void;
  threadMs(): number | undefined;
  residentBytes(): number | undefined;
}

/** What a look found: `stalled` has not answered for a while, `held` not though it has used its thread, the others are to be killed. */
type Finding = 'fine' | 'stalled' | 'held' | 'stuck' | 'out of memory';

/** Asks one process whether it is still there while it has something to do. */
export class Watchdog {
  /** when the oldest unanswered ping went out, and the thread time used by then */
  #asked: { readonly at: number; readonly cpu: number | undefined; readonly n: number } | undefined;
  #stalled = false;
  #pings = 0;
  #looks = 0;

  constructor(
    readonly watched: Watched,
    readonly limits: Pick<Limits, 'turnThreadMs' | 'hostHeapMb'>,
  ) {}

  /** New work goes elsewhere. */
  get stalled(): boolean {
    return this.#stalled;
  }

  answered(n: number): void {
    if (n === this.#asked?.n) this.rest();
  }

  /** It has nothing to do: it may be silent. */
  rest(): void {
    this.#asked = undefined;
    this.#stalled = false;
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
    const held = silent >= HELD_MS && this.#used(this.#asked.cpu) >= HELD_MS;
    this.#stalled = silent > STALL_MS || held;
    return held ? 'held' : this.#stalled ? 'stalled' : 'fine';
  }

  /** Thread time since then; 0 where the system does not tell it. */
  #used(before: number | undefined): number {
    return before === undefined ? 0 : (this.watched.threadMs() ?? before) - before;
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
