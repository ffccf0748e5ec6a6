import { type CommitRecord, readRecords } from '../src/commit/index.js';
import { KeyWriter, type Snapshot, type Store } from '../src/store/index.js';

/** All commit records that a snapshot holds, oldest first. */
export async function recordsOf(snapshot: Snapshot): Promise<CommitRecord[]> {
  const records: CommitRecord[] = [];
  for await (const page of readRecords(snapshot, 0)) records.push(...page);
  return records;
}

/** Every key of a room with its value, a line of text each, in their order. */
export async function linesOf(store: Store, room: ConstructorParameters<typeof KeyWriter>[0]): Promise<string[]> {
  const snapshot = store.snapshot();
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  const lines: string[] = [];
  for (let range: Parameters<Snapshot['range']>[0] | undefined = new KeyWriter(room).range(); range; ) {
    const page = await snapshot.range(range);
    page.keys.forEach((key, i) => {
      lines.push(`${hex(key)} ${hex(page.values[i])}`);
    });
    range = page.next;
  }
  snapshot.release();
  return lines;
}

/** The store's methods as own properties, for a test that puts others beside or before them. */
export function bound(store: Store): Store {
  return {
    epoch: store.epoch,
    incarnation: store.incarnation,
    readOnly: store.readOnly,
    snapshot: () => store.snapshot(),
    apply: (...args) => store.apply(...args),
    backup: (to) => store.backup(to),
    stats: () => store.stats(),
    close: () => store.close(),
  };
}
