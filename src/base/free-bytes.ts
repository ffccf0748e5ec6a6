import { statfsSync } from 'node:fs';

/** Free bytes of the volume that holds `directory`, for a process without privileges. Throws what the system says. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
