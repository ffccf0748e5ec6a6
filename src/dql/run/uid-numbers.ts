import { grown } from './grown.js';

/** Uids side by side whose numbers lie side by side. */
const PAGE = 16;

/** Gives uids numbers, from 0 on, in the order in which they come: what is known of them can stand in columns then. */
export class UidNumbers {
  /** by number */
  uids = new Float64Array(PAGE);
  size = 0;
  /** by uid / PAGE: which page of the numbers is that of these uids */
  readonly #pages = new Map<number, number>();
  /** one more than the number of each uid, 0 for those without one */
  #numbers = new Int32Array(PAGE);

  /** The number of a uid, which gets one if it has none. */
  of(uid: number): number {
    const place = this.#place(uid);
    const known = this.#numbers[place];
    if (known > 0) return known - 1;
    this.uids = grown(this.uids, this.size + 1);
    this.uids[this.size] = uid;
    this.#numbers[place] = ++this.size;
    return this.size - 1;
  }

  #place(uid: number): number {
    const block = Math.floor(uid / PAGE);
    let page = this.#pages.get(block);
    if (page === undefined) {
      page = this.#pages.size;
      this.#pages.set(block, page);
      this.#numbers = grown(this.#numbers, (page + 1) * PAGE);
    }
    return page * PAGE + uid - block * PAGE;
  }
}
