import type { RootDatabase } from 'lmdb';
import { reasonOf } from './failure.js';
import { openAgain } from './lmdb-env.js';

/**
 * Holds LMDB's lock on writing by a transaction without writes, of a second handle of a file that is open. What is handed to
 * the first handle meanwhile waits, so that all of it is one transaction, though it was handed over in several turns of the
 * event loop.
 */
export class WriteHold {
  readonly #root: RootDatabase;

  /** To be made while no batch is in flight. */
  constructor(directory: string) {
    this.#root = openAgain(directory);
  }

  /** Resolves once nobody else can write, to what lets go again. Throws what LMDB could not begin a transaction for. */
  async take(): Promise<() => void> {
    return await new Promise((resolve, reject) => {
      const held = () => new Promise<void>((letGo) => resolve(letGo));
      this.#root.transaction(held).catch(async (thrown) => reject(await reasonOf(thrown)));
    });
  }

  async close(): Promise<void> {
    await this.#root.close();
  }
}
