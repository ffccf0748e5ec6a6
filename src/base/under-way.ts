/** Gaps that are borne before what is left moves together. */
const GAPS = 32;

/**
 * Things under way, by number and in its order. Numbers mostly grow, which is what it is fast for: a new one goes to the end,
 * and a gap is closed with many others.
 *
 * Not a Map, for the collector's sake: a Map that makes a new table lets the old one point to it, for iterators under way.
 * Where things come and go with each request this happens all the time; once one table has grown old, each later one, and
 * every thing that was ever in it, is kept until the next full collection, which begins the next such chain.
 */
export class UnderWay<T> {
  readonly #numbers: number[] = [];
  readonly #things: (T | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Places taken, gaps among them. */
  get places(): number {
    return this.#numbers.length;
  }

  get(number: number): T | undefined {
    const at = this.#from(number);
    return this.#numbers[at] === number ? this.#things[at] : undefined;
  }

  /** A thing of the same number is replaced. */
  set(number: number, thing: T): void {
    const at = this.#from(number);
    if (at === this.#numbers.length) {
      this.#numbers.push(number);
      this.#things.push(thing);
    } else if (this.#numbers[at] === number) {
      if (this.#things[at] !== undefined) this.#size--;
      this.#things[at] = thing;
    } else {
      this.#numbers.splice(at, 0, number);
      this.#things.splice(at, 0, thing);
    }
    this.#size++;
  }

  /** Takes it out. */
  take(number: number): T | undefined {
    const at = this.#from(number);
    if (this.#numbers[at] !== number) return undefined;
    const thing = this.#things[at];
    if (thing === undefined) return undefined;
    this.#things[at] = undefined;
    this.#size--;
    const gaps = this.places - this.#size;
    if (gaps > GAPS && gaps > this.#size) this.#close();
    return thing;
  }

  clear(): void {
    this.#cut(0);
  }

  /** In the order of their numbers; what is taken out or comes in meanwhile may be told or not. */
  entries(): [number, T][] {
    const found: [number, T][] = [];
    for (let at = 0; at < this.#numbers.length; at++) {
      const thing = this.#things[at];
      if (thing !== undefined) found.push([this.#numbers[at], thing]);
    }
    return found;
  }

  /** The first place whose number is not below. */
  #from(number: number): number {
    const numbers = this.#numbers;
    let high = numbers.length;
    if (high === 0 || numbers[high - 1] < number) return high;
    let low = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #close(): void {
    let to = 0;
    for (let at = 0; at < this.#numbers.length; at++) {
      if (this.#things[at] === undefined) continue;
      this.#numbers[to] = this.#numbers[at];
      this.#things[to++] = this.#things[at];
    }
    this.#cut(to);
  }

  #cut(length: number): void {
    this.#numbers.length = length;
    this.#things.length = length;
    if (length === 0) this.#size = 0;
  }
}
