import { join } from 'node:path';
import { type Database, type DatabaseOptions, open, type RootDatabase } from 'lmdb';
import type { Key, KeyRun } from './contract.js';
import { hasContent } from './lmdb-head.js';
import { whileNoneWrites } from './open-gate.js';
import { tellsCaches } from './page-cache.js';

/** Name of the data file inside a data directory. */
export const DATA_FILE = 'data.mdb';
/** The page size of new files: the largest value fits one page. */
export const PAGE_SIZE = 4096;

/**
 * How many writes lmdb is handed before its own thread begins with them: all of a batch. Where it had begun, lmdb let this
 * thread sleep for a millisecond or more at each write beyond 300,000 until the other had caught up, and nobody was answered.
 * Its types do not know the option.
 */
const WHOLE_BATCH = { batchStartThreshold: 2 ** 31 - 1 };

/** How a file is opened, by whomever. */
const OPTIONS = {
  noSubdir: true,
  maxDbs: 4,
  // With overlapping sync a reader can see a commit that a power loss would undo.
  overlappingSync: false,
  // The redo log has each batch on disk before anybody hears of it. LMDB waits for its pages only where nobody could tell
  // afterwards whether they were lost, and for its meta page not even there.
  noSync: tellsCaches,
  noMetaSync: true,
  // Batching by turn makes a second promise for each group that nobody can observe: its rejection ends the process.
  eventTurnBatching: false,
  ...WHOLE_BATCH,
  encoding: 'binary',
  pageSize: PAGE_SIZE,
} as const;

/** What checkpoints hold besides the readers that are asked for: the one that counts, and the one under way. */
const HELD_READERS = 2;

export type ReadTransaction = ReturnType<Database['useReadTransaction']>;

/** What lmdb offers and its types leave out: fast reads inside a transaction. */
interface FastReads<K> {
  /** bytes of the value that was read last */
  readonly lastSize: number;
  getBinaryFast(key: K, options: { readonly transaction: ReadTransaction }): Buffer | undefined;
}

/** One LMDB file: the ordered keys in `data`; the store's own entries, which carry versions, in `meta`. */
export interface LmdbEnv {
  readonly root: RootDatabase<Uint8Array, Key>;
  readonly data: Database<Uint8Array, Key> & FastReads<Key | NextKey>;
  readonly meta: Database<Uint8Array, string> & FastReads<string>;
}

/** A key of a run, handed to lmdb in place of its bytes. */
export class NextKey {
  index = 0;
  constructor(readonly run: KeyRun) {}
}

// Keys are bytes as they are. A loop beats TypedArray.set on keys of this length.
const keyEncoder = {
  writeKey(key: Key | NextKey, target: Uint8Array, at: number): number {
    if (key instanceof NextKey) return key.run.write(key.index, target, at);
    const length = key.length;
    for (let i = 0; i < length; i++) target[at + i] = key[i];
    return at + length;
  },
  readKey(source: Uint8Array, start: number, end: number): Key {
    const key = new Uint8Array(end - start);
    for (let i = start; i < end; i++) key[i - start] = source[i];
    return key;
  },
};

interface EnvOptions {
  readonly readOnly: boolean;
  readonly maxReaders: number;
  /** bytes of address space to begin with; grows by itself. Left out: LMDB's own start, 128 KB. */
  readonly mapSize?: number;
}

/** Another handle of a file that this process has open to write: what it writes and what the first one does are transactions apart. */
export function openAgain(directory: string): RootDatabase {
  return open({ path: join(directory, DATA_FILE), ...OPTIONS });
}

/** Opens the file of a directory to read only, beside a process that may write. As `openEnv`; throws STORE_LOCKED, too. */
export function openToRead(directory: string, maxReaders: number): Promise<LmdbEnv | undefined> {
  return whileNoneWrites(directory, () => openEnv(directory, { readOnly: true, maxReaders }));
}

/**
 * Opens the file of a directory; undefined when it is to be read only and holds no store. Where others may write to it,
 * only inside of `whileNoneWrites`. Throws STORE_CORRUPT.
 */
export async function openEnv(directory: string, options: EnvOptions): Promise<LmdbEnv | undefined> {
  const path = join(directory, DATA_FILE);
  if (!hasContent(path) && options.readOnly) return undefined;
  const root = open<Uint8Array, Key>({
    path,
    ...OPTIONS,
    readOnly: options.readOnly,
    maxReaders: options.maxReaders + HELD_READERS,
    ...(options.mapSize === undefined ? {} : { mapSize: options.mapSize }),
  });
  const dataOptions: DatabaseOptions & { name: string } = { name: 'data', encoding: 'binary' };
  const data = root.openDB<Uint8Array, Key>({ ...dataOptions, keyEncoder } as typeof dataOptions);
  const meta = root.openDB<Uint8Array, string>({ name: 'meta', encoding: 'binary', useVersions: true });
  // A process that died while it created the file leaves one without tables.
  if (data !== undefined && meta !== undefined) {
    return { root, data: data as LmdbEnv['data'], meta: meta as LmdbEnv['meta'] };
  }
  await root.close();
  return undefined;
}
