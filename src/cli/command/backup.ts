import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeLimits } from '../../base/index.js';
import { openLmdbStore, restoreLmdbStore } from '../../store/index.js';
import { assertStore } from '../holds-store.js';
import { remoteService } from '../remote-service.js';
import { type CommonOptions, runCommand } from '../report.js';

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
  const source = resolve(data ?? join('.graphstead', 'data'));
  assertStore(source);
  const store = await openLmdbStore(source, { limits: makeLimits({}, process.env), readOnly: true });
  try {
    const position = `${store.incarnation}.${await store.backup(to)}.0`;
    return { ...copied(to, start), position };
  } finally {
    await store.close();
  }
}

/** `graphstead restore`: a backup becomes a new data directory. */
export function restoreCommand(backupDir: string, options: BackupCommand): Promise<void> {
  return runCommand(
    options,
    async () => {
      const start = performance.now();
      assertStore(
        resolve(backupDir),
        'name a folder that graphstead backup wrote, or another copy of a data directory',
      );
      const to = resolve(options.data ?? join('.graphstead', 'data'));
      await restoreLmdbStore(backupDir, to);
      return copied(to, start);
    },
    told,
  );
}

function copied(to: string, start: number): Copied {
  const directory = resolve(to);
  const { size } = statSync(join(directory, 'data.mdb'));
  return { directory, bytes: size, ms: Math.round(performance.now() - start) };
}
