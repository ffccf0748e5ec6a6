import type { Put } from '../../store/index.js';
import type { PutKey } from '../source.js';

/** Bytes of keys and values in one batch of the store. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** What a put takes in memory beside its bytes, here and on its way to the disk. */
const PUT_BYTES = 400;

/** Gathers finished keys into batches; while one is made durable the next is gathered. */
export class PutSink {
  readonly #write: (puts: readonly Put[]) => Promise<void>;
  #puts: Put[] = [];
  #bytes = 0;
  #writing: Promise<void> | undefined;
  /** keys handed over so far */
  count = 0;

  constructor(write: (puts: readonly Put[]) => Promise<void>) {
    this.#write = write;
  }

  readonly put: PutKey = (key, value) => {
    this.#puts.push({ key, value });
    this.#bytes += key.length + (value?.length ?? 0) + PUT_BYTES;
    this.count++;
  };

  /** There is enough for a batch: `flush` before more is put. */
  get full(): boolean {
    return this.#bytes >= BATCH_BYTES;
  }

  /** Hands the batch over, once the one before it is durable. */
  async flush(): Promise<void> {
    await this.#writing;
    const puts = this.#puts;
    this.#puts = [];
    this.#bytes = 0;
    if (puts.length === 0) return;
    this.#writing = this.#write(puts);
    this.#writing.catch(() => undefined); // told by the next flush
  }

  /** Everything is durable. */
  async finish(): Promise<void> {
    await this.flush();
    await this.#writing;
  }
}
