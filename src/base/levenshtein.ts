/** The edit distance of two texts, over code points, is at most `max`. Work is bounded by length times `max`. */
export function levenshteinWithin(a: string, b: string, max: number): boolean {
  const [short, long] = a.length <= b.length ? [[...a], [...b]] : [[...b], [...a]];
  if (max < 0 || Math.abs(long.length - short.length) > max) return false;
  let row = Float64Array.from({ length: short.length + 1 }, (_, i) => i);
  let next = new Float64Array(short.length + 1);
  for (let i = 1; i <= long.length; i++) {
    const [first, last] = [Math.max(1, i - max), Math.min(short.length, i + max)];
    // what lies beside the band is further away than max, whatever stood there before
    if (first > 1) next[first - 1] = Number.POSITIVE_INFINITY;
    if (last < short.length) next[last + 1] = Number.POSITIVE_INFINITY;
    next[0] = i;
    let best = i <= max ? i : Number.POSITIVE_INFINITY;
    for (let j = first; j <= last; j++) {
      const change = row[j - 1] + (long[i - 1] === short[j - 1] ? 0 : 1);
      next[j] = Math.min(change, row[j] + 1, next[j - 1] + 1);
      best = Math.min(best, next[j]);
    }
    if (best > max) return false;
    [row, next] = [next, row];
  }
  return row[short.length] <= max;
}
