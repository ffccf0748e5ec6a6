import { holds, type Ranges, WORD } from './char-class.js';

const ASCII = 128;
const NEWLINE: Ranges = [10, 10];

/** Characters that no step of a program tells apart share a class. */
export interface Alphabet {
  readonly size: number;
  classOf(point: number): number;
  /** one character of each class */
  readonly samples: readonly number[];
}

/** The classes that a list of sets makes; word characters and line ends are always told apart. */
export function alphabetOf(sets: readonly Ranges[]): Alphabet {
  const all = [...sets, WORD, NEWLINE];
  const starts = [...new Set([0, ...all.flatMap(bounds)])].sort((a, b) => a - b);
  const bySignature = new Map<string, number>();
  const samples: number[] = [];
  const classes = starts.map((start) => {
    const signature = all.map((ranges) => (holds(ranges, start) ? '1' : '0')).join('');
    const known = bySignature.get(signature);
    if (known !== undefined) return known;
    bySignature.set(signature, samples.length);
    return samples.push(start) - 1;
  });
  const find = (point: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= point) low = middle;
      else high = middle - 1;
    }
    return classes[low];
  };
  const ascii = Uint16Array.from({ length: ASCII }, (_, point) => find(point));
  return { size: samples.length, samples, classOf: (point) => (point < ASCII ? ascii[point] : find(point)) };
}

/** Where a set begins, and where it ends. */
function bounds(ranges: Ranges): number[] {
  return ranges.map((point, i) => (i % 2 === 0 ? point : point + 1));
}
