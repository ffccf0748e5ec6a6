import { accessSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { GraphsteadError } from '../base/index.js';
import { hasLog } from '../store/index.js';

/** Whether a directory holds a store, or the log of one whose data file is gone. Throws CONFIG where this user may not look. */
export function holdsStore(directory: string): boolean {
  try {
    accessSync(join(directory, 'data.mdb'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') {
      return existsSync(directory) && hasLog(directory);
    }
    const fix = 'run this as the user that the service runs as (sudo -u NAME graphstead ...)';
    throw new GraphsteadError('CONFIG', `${directory} may not be read by this user`, { fix });
  }
}

const NAME_DATA = 'name the data directory with --data; an app keeps its data in <APP_DIR>/.graphstead/data';

/** Throws NOT_FOUND when a directory holds no store, CONFIG where this user may not look. */
export function assertStore(directory: string, fix = NAME_DATA): void {
  if (holdsStore(directory)) return;
  throw new GraphsteadError('NOT_FOUND', `${directory} holds no store`, { fix });
}
