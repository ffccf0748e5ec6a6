import { BATCH } from './batch.js';
import type { Execution } from './execution.js';

/** Compares two positions of the list that is being sorted; what has no value comes last, whatever the direction. */
export type Comparator = (a: number, b: number) => number;

/** Positions that are sorted at once, without a pause: a few milliseconds. */
export const RUN = 2_048;

/** The positions 0 to length - 1, sorted: runs first, which are then merged. Equal ones keep their order. */
export async function sortInSteps(length: number, compare: Comparator, execution: Execution): Promise<Uint32Array> {
  let from = new Uint32Array(length);
  for (let start = 0; start < length; start += RUN) {
    await execution.checkpoint();
    const run = Array.from({ length: Math.min(RUN, length - start) }, (_, i) => start + i);
    from.set(run.sort(compare), start);
  }
  let to = new Uint32Array(from.length > RUN ? length : 0);
  for (let width = RUN; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      await mergeRuns(from, to, { start, middle: start + width, end: start + 2 * width }, compare, execution);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges two runs that lie next to each other. */
async function mergeRuns(
  from: Uint32Array,
  to: Uint32Array,
  { start, middle, end }: { readonly start: number; readonly middle: number; readonly end: number },
  compare: Comparator,
  execution: Execution,
): Promise<void> {
  const leftEnd = Math.min(middle, from.length);
  const rightEnd = Math.min(end, from.length);
  let left = start;
  let right = leftEnd;
  for (let at = start; at < rightEnd; at++) {
    if ((at & (BATCH - 1)) === 0) await execution.checkpoint();
    const takesLeft = right >= rightEnd || (left < leftEnd && compare(from[left], from[right]) <= 0);
    to[at] = takesLeft ? from[left++] : from[right++];
  }
}
