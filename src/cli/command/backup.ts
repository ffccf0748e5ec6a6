import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GraphsteadError, makeLimits } from '../../base/index.js';
import { copiedByDatabase, openLmdbStore, restoreLmdbStore } from '../../store/index.js';
import { assertStore } from '../holds-store.js';
import { remoteService } from '../remote-service.js';
import { type CommonOptions, runCommand } from '../report.js';
import { storeAddress } from '../store-address.js';
import { momentOf } from '../restore/moment.js';
import { type TakenIn, takeIn } from '../restore/take-in.js';

interface BackupCommand extends CommonOptions {
  readonly data?: string;
  readonly from?: string;
}

interface Copied {
  readonly directory: string;
  /** absent when another machine holds it */
  readonly bytes?: number;
  /** id of /changes behind the last commit in it */
  readonly position?: string;
  readonly ms: number;
}

const told = ({ directory, bytes, position, ms }: Copied) => {
  const size = bytes === undefined ? '' : `, ${(bytes / 1e6).toFixed(1)} MB`;
  const upTo = position === undefined ? '' : `, up to ${position}`;
  return `${directory}${size}${upTo}, in ${(ms / 1000).toFixed(1)} s`;
};

/** `graphstead backup`: a compact copy of one moment, also while a service writes. */
export function backupCommand(to: string, options: BackupCommand): Promise<void> {
  return runCommand(options, () => backup(to, options), told);
}

async function backup(to: string, { data, from }: BackupCommand): Promise<Copied> {
  const start = performance.now();
  if (from !== undefined) {
    const service = remoteService(from, process.env['GRAPHSTEAD_API_KEY']);
    const { extensions } = await service.send(`/admin/backup?to=${encodeURIComponent(to)}`, '', 'text/plain');
    const { position } = extensions as { position?: string };
    return { directory: to, ...(position ? { position } : {}), ms: Math.round(performance.now() - start) };
  }
  const source = directoryOf(data);
  assertStore(source);
  const store = await openLmdbStore(source, { limits: makeLimits({}, process.env), readOnly: true });
  try {
    const position = `${store.incarnation}.${await store.backup(to)}.0`;
    return { ...copied(to, start), position };
  } finally {
    await store.close();
  }
}

interface RestoreCommand extends CommonOptions {
  readonly data?: string;
  /** a directory that holds what was committed since the backup */
  readonly records?: string;
  readonly until?: string;
}

/** `graphstead restore`: a backup becomes a new data directory, brought forward where that is asked for. */
export function restoreCommand(backupDir: string, options: RestoreCommand): Promise<void> {
  return runCommand(
    options,
    () => restore(backupDir, options),
    (done) => {
      const { commits, last } = done;
      if (commits === undefined) return told(done);
      return `${told(done)}\n${commits === 1 ? '1 commit' : `${commits} commits`} behind the backup${last === undefined ? '' : `, the last of ${last.wall}`}`;
    },
  );
}

async function restore(
  backupDir: string,
  { data, records, until }: RestoreCommand,
): Promise<Copied & Partial<TakenIn>> {
  const start = performance.now();
  if (until !== undefined && records === undefined) {
    throw new GraphsteadError('CONFIG', '--until without --records: the backup alone holds one moment', {
      fix: 'name the data directory that it was made of, or a later backup, by --records DIR',
    });
  }
  const moment = until === undefined ? undefined : momentOf(until);
  assertStore(resolve(backupDir), 'name a folder that graphstead backup wrote, or another copy of a data directory');
  if (records !== undefined) assertStore(resolve(records), 'name the data directory that the backup was made of');
  const to = directoryOf(data);
  let taken: TakenIn | undefined;
  const amend = async (making: string) => {
    if (records !== undefined) taken = await takeIn(making, resolve(records), moment);
  };
  await restoreLmdbStore(backupDir, to, amend);
  return { ...copied(to, start), ...taken };
}

/** Beside a database, as other commands are told of one, what lies in the usual place is another store, or none. */
function directoryOf(data: string | undefined): string {
  if (data === undefined && storeAddress(undefined) !== undefined) throw copiedByDatabase();
  return resolve(data ?? join('.graphstead', 'data'));
}

function copied(to: string, start: number): Copied {
  const directory = resolve(to);
  const { size } = statSync(join(directory, 'data.mdb'));
  return { directory, bytes: size, ms: Math.round(performance.now() - start) };
}
