import { randomBytes } from 'node:crypto';
import { GraphsteadError } from '../base/index.js';
import type { Batch } from './contract.js';
import { type LmdbEnv, PAGE_SIZE } from './lmdb-env.js';

/** The layout of the file. A newer major is refused; a newer minor is opened to read only. */
export const FORMAT_MAJOR = 1;
export const FORMAT_MINOR = 0;

/** Names of the entries in the `meta` table. */
export const META = { format: 'format', epoch: 'epoch', incarnation: 'incarnation', version: 'version' } as const;

/** The LMDB table that holds them. */
export const TABLE_OF_META = 'meta';

export interface FileMeta {
  readonly major: number;
  readonly minor: number;
  readonly pageSize: number;
  readonly epoch: number;
  readonly incarnation: string;
}

/** What the file says of itself; undefined for one that holds no store yet. */
export function readMeta(env: LmdbEnv): FileMeta | undefined {
  const format = env.meta.getBinary(META.format);
  if (format === undefined) return undefined;
  const [major, minor, pageSize] = JSON.parse(format.toString()) as number[];
  const incarnation = env.meta.getBinary(META.incarnation)?.toString() ?? '';
  return { major, minor, pageSize, epoch: epochOf(env), incarnation };
}

/** Throws STORE_FORMAT when this program cannot read the file; answers whether it may write it. */
export function checkFormat(meta: Pick<FileMeta, 'major' | 'minor'>): { readonly writable: boolean } {
  if (meta.major !== FORMAT_MAJOR) {
    throw new GraphsteadError(
      'STORE_FORMAT',
      `the data directory has format ${meta.major}.${meta.minor}; this program reads ${FORMAT_MAJOR}.x`,
      { fix: 'Open it with the version of graphstead that wrote it, export, and import into a new directory.' },
    );
  }
  return { writable: meta.minor <= FORMAT_MINOR };
}

/**
 * Writes what a new file needs, puts in what `missing` tells of, and raises the epoch. The only synchronous write:
 * it takes LMDB's lock across processes, so that two that open at once get two epochs.
 */
export function raiseEpoch(env: LmdbEnv, missing: (meta: FileMeta, version: number) => readonly Batch[]): FileMeta {
  return env.meta.transactionSync(() => {
    const before = readMeta(env) ?? createMeta(env);
    putBatches(env, missing(before, versionOf(env)));
    const epoch = before.epoch + 1;
    env.meta.put(META.epoch, Buffer.from(String(epoch)), epoch);
    return { ...before, epoch };
  });
}

/** The epoch that has begun last, by whatever process. */
export function epochIn(env: LmdbEnv): number {
  env.root.resetReadTxn();
  return epochOf(env);
}

function epochOf(env: LmdbEnv): number {
  return env.meta.getEntry(META.epoch)?.version ?? 0;
}

/** The version of the last batch in the file. */
export function versionOf(env: LmdbEnv): number {
  const bytes = env.meta.getBinary(META.version);
  return bytes === undefined ? 0 : decodeVersion(bytes);
}

/** Puts batches in, inside of a synchronous transaction. */
export function putBatches(env: LmdbEnv, batches: readonly Batch[]): void {
  for (const batch of batches) putBatch(env, batch);
}

function putBatch({ data, meta }: LmdbEnv, { version, puts, deleteRanges = [] }: Batch): void {
  for (const { start, end } of deleteRanges) for (const key of [...data.getKeys({ start, end })]) data.removeSync(key);
  for (const { key, value } of puts) {
    if (value === undefined) data.removeSync(key);
    else data.putSync(key, value);
  }
  meta.putSync(META.version, encodeVersion(version), 1);
}

/** Writes what a new file says of itself, inside of a synchronous transaction. */
export function createMeta(env: LmdbEnv): FileMeta {
  env.meta.put(META.format, Buffer.from(JSON.stringify([FORMAT_MAJOR, FORMAT_MINOR, PAGE_SIZE])), 1);
  env.meta.put(META.version, encodeVersion(0), 1);
  const incarnation = renewIncarnation(env);
  return { major: FORMAT_MAJOR, minor: FORMAT_MINOR, pageSize: PAGE_SIZE, epoch: 0, incarnation };
}

/** A new random incarnation: positions given out by the file that this one was copied from do not fit here. */
export function renewIncarnation(env: LmdbEnv): string {
  const incarnation = randomBytes(8).toString('hex');
  env.meta.putSync(META.incarnation, Buffer.from(incarnation), 1);
  return incarnation;
}

export function encodeVersion(version: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(version);
  return bytes;
}

export function decodeVersion(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0);
}
