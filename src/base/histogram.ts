/** Upper bounds of the buckets, in seconds; one more is for everything above. */
export const BOUNDS: readonly number[] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Times, counted by how long they were: a few numbers, however many there are. */
export class Histogram {
  /** times within each of `BOUNDS` and above the one before; the last is for those above all */
  readonly buckets: number[] = new Array<number>(BOUNDS.length + 1).fill(0);
  /** seconds */
  sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]) bucket++;
    this.buckets[bucket]++;
    this.sum += seconds;
  }
}
