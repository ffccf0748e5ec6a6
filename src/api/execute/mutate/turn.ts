/**
 * One at a time: mutations that lost to another writer try again in turn, so that of many that want the same key each
 * loses at most to newcomers.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    // what it gave is not kept until the next turn
    this.#last = mine.then(NOTHING, NOTHING);
    return mine;
  }
}

const NOTHING = (): void => undefined;
