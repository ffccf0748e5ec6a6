import { COUNTED_BODY, type LargeBodies } from '../bodies.js';

/** bytes of a control frame of a client beside what it says: its head and its mask (RFC 6455, 5.2) */
const CONTROL_BYTES = 6;

/** The message that comes on one WebSocket: a large one counts as other large bodies do. */
export class Coming {
  readonly #bodies: LargeBodies;
  #bytes = 0;
  #counted = 0;

  constructor(bodies: LargeBodies) {
    this.#bodies = bodies;
  }

  /** More of it has come. false where there is no room for it beside what others sent. */
  add(bytes: number): boolean {
    this.#bytes += bytes;
    if (this.#bytes <= COUNTED_BODY) return true;
    this.#bodies.add(this.#bytes - this.#counted);
    this.#counted = this.#bytes;
    return !this.#bodies.isFullBeside(this.#counted);
  }

  /** A frame that may stand within a message was none of it. */
  without(said: Buffer): void {
    this.#bytes = Math.max(this.#counted, this.#bytes - said.length - CONTROL_BYTES);
  }

  /** It has come whole, or never will. What is given removes it from the large bodies. */
  end(): () => void {
    const counted = this.#counted;
    this.#bytes = this.#counted = 0;
    return counted === 0 ? nothing : () => this.#bodies.remove(counted);
  }
}

function nothing(): void {}
