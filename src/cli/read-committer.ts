import { GraphsteadError } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import type { Store } from '../store/index.js';

/** Stands where a committer is asked for, over a store that another process may be writing: whatever writes is refused. */
export function readCommitter(store: Store): Committer {
  const refuse = async (): Promise<never> => {
    throw new GraphsteadError('READ_ONLY_STORE', 'the data directory was opened to read only');
  };
  const newest = (): number => {
    const snapshot = store.snapshot();
    snapshot.release();
    return snapshot.version;
  };
  return {
    get lastCommitTs() {
      return newest();
    },
    trimmedTs: 0,
    snapshot: () => store.snapshot(),
    begin: async () => {
      const snapshot = store.snapshot();
      return { startTs: snapshot.version, snapshot };
    },
    startTs: async () => newest(),
    commit: refuse,
    idempotentReply: async () => undefined,
    tail: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    onCommit: () => () => undefined,
    stats: () => ({}),
    times: () => ({}),
    close: async () => undefined,
  };
}
