import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { assert, GraphsteadError, makeLimits, makePrivateFolder } from '../base/index.js';
import { copyFailure } from './failure.js';
import { DATA_FILE, type LmdbEnv, openEnv } from './lmdb-env.js';
import type { Batch } from './contract.js';
import { checkFormat, type FileMeta, putBatches, readMeta, renewIncarnation, versionOf } from './lmdb-meta.js';
import { whileNoneWrites } from './open-gate.js';
import { type LogContent, missingBatches, readLog } from './redo-log.js';
import { copyRolledBack, logToCopyBy } from './roll-back.js';
import { syncDirectory, syncFile, syncName } from './sync-file.js';

/** Changes a copy, in the directory that it is made in, before anybody can open it. */
type Amend = (making: string) => Promise<void>;

/**
 * Puts a backup, or another copy of a data directory, into a new one under a new incarnation: with what a power cut took from its data
 * file and its log has. Throws INVALID_REQUEST when there is a store already, NOT_FOUND when the backup is none, STORE_FORMAT, and what
 * `amend` throws; then the directory holds no store.
 */
export async function restoreLmdbStore(backup: string, directory: string, amend?: Amend): Promise<void> {
  const target = resolve(directory);
  refuseStoreIn(target);
  const from = resolve(backup);
  const log = logToCopyBy(from);
  if (log !== undefined) {
    const missing: Missing = (meta, version) => missingBatches(log, meta, version);
    await copyInto(target, async (file) => copyLost(from, log, file), { amend, missing });
    return;
  }
  const { source, missing } = await whileNoneWrites(from, () => openSource(from));
  try {
    // What came since then is in what is copied.
    const behind: Missing = (_, version) => missing.filter((batch) => batch.version > version);
    await copyEnv(source, target, { amend, missing: behind });
  } finally {
    await source.root.close();
  }
}

/** A data file that is to be copied, and the batches that it lacks: none where its writer lives, for none is in flight now. */
async function openSource(from: string): Promise<{ readonly source: LmdbEnv; readonly missing: readonly Batch[] }> {
  const source = await openEnv(from, { readOnly: true, maxReaders: makeLimits().readers });
  if (source === undefined) throw nothingThere(from);
  try {
    const meta = readMeta(source);
    if (meta === undefined) throw nothingThere(from);
    checkFormat(meta);
    return { source, missing: missingBatches(readLog(from), meta, versionOf(source)) };
  } catch (thrown) {
    await source.root.close();
    throw thrown;
  }
}

/** Throws STORE_LOCKED where a writer went on with the file meanwhile: it may have used pages of it that were still to be copied. */
function copyLost(from: string, log: LogContent, file: string): void {
  copyRolledBack(from, log, file);
  const now = logToCopyBy(from);
  if (now?.epoch === log.epoch && now.checkpoint.sequence === log.checkpoint.sequence) return;
  throw new GraphsteadError('STORE_LOCKED', `a service began to write to ${from} while it was copied`, {
    fix: 'Run the same command again.',
  });
}

/** Throws INVALID_REQUEST when a directory holds a store. */
export function refuseStoreIn(directory: string): void {
  if (!existsSync(join(directory, DATA_FILE))) return;
  throw new GraphsteadError('INVALID_REQUEST', `${directory} holds a store already`, {
    fix: 'Name a new directory for each copy.',
  });
}

/** Begins the names of folders that copies are made in. */
const UNFINISHED = 'unfinished-copy-';

/** What else a copy is to hold. */
interface Additions {
  readonly amend?: Amend;
  readonly missing?: Missing;
}

/** The batches that a copy lacks, by what it says of itself. */
type Missing = (meta: FileMeta, version: number) => readonly Batch[];

/** Compact copy that opens as a store of its own. Answers with the version that it holds. */
export async function copyEnv(env: LmdbEnv, target: string, additions: Additions = {}): Promise<number> {
  return await copyInto(target, (file) => env.root.backup(file, true), additions);
}

/**
 * Makes a store of a copy of a data file: new incarnation, on disk when this returns. Half of one never has a store's
 * name, wherever the process ends, and is taken away by the next copy to the same place. Answers with the version that it holds.
 */
async function copyInto(
  target: string,
  copyTo: (file: string) => Promise<unknown>,
  { amend, missing = () => [] }: Additions,
): Promise<number> {
  let making: string | undefined;
  try {
    makePrivateFolder(target);
    for (const left of await unfinishedCopies(target)) await rm(left, { recursive: true, force: true });
    making = await mkdtemp(join(target, UNFINISHED));
    const file = join(making, DATA_FILE);
    await copyTo(file);
    const version = await complete(making, missing);
    await amend?.(making);
    await syncFile(file);
    refuseStoreIn(target); // another copy may have come first
    await rename(file, join(target, DATA_FILE));
    await rm(making, { recursive: true, force: true });
    await syncDirectory(target);
    await syncName(target);
    return version;
  } catch (thrown) {
    if (making !== undefined) await rm(making, { recursive: true, force: true });
    throw copyFailure(thrown, `the copy to ${target} failed`, target);
  }
}

async function complete(making: string, missing: Missing): Promise<number> {
  const copy = await openEnv(making, { readOnly: false, maxReaders: 8 });
  assert(copy !== undefined, 'a copy opens');
  try {
    const meta = readMeta(copy);
    assert(meta !== undefined, 'a copy holds a store');
    checkFormat(meta);
    copy.meta.transactionSync(() => putBatches(copy, missing(meta, versionOf(copy))));
    renewIncarnation(copy);
    return versionOf(copy);
  } finally {
    await copy.root.close();
  }
}

/** Folders in a directory that hold half of a copy. */
export async function unfinishedCopies(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.filter((name) => name.startsWith(UNFINISHED)).map((name) => join(directory, name));
}

/** NOT_FOUND: nothing to read. */
export function nothingThere(path: string): GraphsteadError {
  return new GraphsteadError('NOT_FOUND', `${path} holds no store`, {
    fix: 'give the folder of --data of a service, or that of a backup',
  });
}
