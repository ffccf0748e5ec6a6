import { getHeapStatistics } from 'node:v8';
import type { Limits } from '../base/index.js';

/**
 * What is made of a body takes many times its bytes, in the heap. With an eighth of it, mutations of 3 MB slowed each other down
 * on a busy machine until half of them had no time left; with a third of that all were done, and sooner.
 */
const SHARE = 24;

/**
 * Bodies take no more than the heap can hold what is made of them, unless somebody has said how much they may take: many at a time would
 * end the process. @param isSet whether limits.largeBodiesBytes is anybody's choice
 */
export function withBodyRoom(limits: Limits, isSet: boolean, heapBytes = getHeapStatistics().heap_size_limit): Limits {
  const room = Math.floor(heapBytes / SHARE);
  return isSet || room >= limits.largeBodiesBytes ? limits : { ...limits, largeBodiesBytes: room };
}
