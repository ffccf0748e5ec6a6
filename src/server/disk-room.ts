import { freeBytes, type Limits } from '../base/index.js';

/** What a start tells where the volume has so little room left that every write will be refused. */
export function roomWarning(data: string, { diskReserve }: Limits): string | undefined {
  const free = freeBytes(data);
  if (free >= diskReserve) return undefined;
  return `nothing can be written: ${free} bytes are free for ${data}, limits.diskReserve is ${diskReserve} (free some, or set GRAPHSTEAD_LIMIT_DISK_RESERVE lower on a small volume)`;
}
