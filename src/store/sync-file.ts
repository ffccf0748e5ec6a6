import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../base/index.js';

/** Brings a file, or a directory's names, to disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

// Without it a new file's name may be lost with the power although its content is on disk.
export const syncDirectory = syncFile;

/**
 * Brings the name of a directory to disk, where this user may read the one that it stands in: in /home or /srv of some machines
 * one may not, and who made it there has done so.
 */
export async function syncName(directory: string): Promise<void> {
  try {
    await syncDirectory(dirname(directory));
  } catch (thrown) {
    if (codeOf(thrown) !== 'EACCES') throw thrown;
  }
}
