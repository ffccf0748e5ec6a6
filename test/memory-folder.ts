// Where tests put what they throw away. A commit waits until the disk has it, and so do thousands of commits of tests: in a
// folder that is kept in memory they need not, and nothing that tests say depends on it. What asks whether a disk keeps
// something (`diskFolder`) stays on one.
import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const FOLDER = '/dev/shm';
/** what lies there at one time was seen to be up to 115 MB; a service refuses writes where little is left */
const NEEDED_BYTES = 2 * 1024 ** 3;

/** Has this process and its children use it, where there is one with enough room and nobody has named another. */
export function useMemoryFolder(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom(FOLDER)) return;
  process.env['TEST_DISK'] = tmpdir();
  process.env['TMPDIR'] = FOLDER;
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

/** A folder for temporary files on a disk. */
export function diskFolder(): string {
  return process.env['TEST_DISK'] ?? tmpdir();
}
