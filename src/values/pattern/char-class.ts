import { addTo } from '../../base/index.js';

/** Code points as pairs lowest, highest; ascending, apart from each other. */
export type Ranges = readonly number[];

const LAST = 0x10ffff;

/** Any pairs, in order and merged. */
export function merged(pairs: readonly number[]): Ranges {
  const sorted: [number, number][] = [];
  for (let i = 0; i < pairs.length; i += 2) sorted.push([pairs[i], pairs[i + 1]]);
  sorted.sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [low, high] of sorted) {
    if (out.length > 0 && low <= out[out.length - 1] + 1) out[out.length - 1] = Math.max(out[out.length - 1], high);
    else out.push(low, high);
  }
  return out;
}

export function negated(ranges: Ranges): Ranges {
  const out: number[] = [];
  let from = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i] > from) out.push(from, ranges[i] - 1);
    from = ranges[i + 1] + 1;
  }
  if (from <= LAST) out.push(from, LAST);
  return out;
}

export function holds(ranges: Ranges, point: number): boolean {
  let [low, high] = [0, ranges.length / 2 - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (point < ranges[middle * 2]) high = middle - 1;
    else if (point > ranges[middle * 2 + 1]) low = middle + 1;
    else return true;
  }
  return false;
}

const pairs = (text: string): Ranges => merged([...text].map((c) => c.codePointAt(0) as number));

export const DIGIT: Ranges = pairs('09');
export const WORD: Ranges = pairs('azAZ09__');
export const SPACE: Ranges = pairs('\t\n\f\r  ');
export const ANY: Ranges = [0, LAST];
export const NOT_NEWLINE: Ranges = negated([10, 10]);

/** Names inside `[[:name:]]`. */
export const POSIX: Readonly<Record<string, Ranges>> = {
  alnum: pairs('azAZ09'),
  alpha: pairs('azAZ'),
  ascii: [0, 127],
  blank: pairs('\t\t  '),
  cntrl: merged([0, 31, 127, 127]),
  digit: DIGIT,
  graph: pairs('!~'),
  lower: pairs('az'),
  print: pairs(' ~'),
  punct: pairs('!/:@[`{~'),
  space: pairs('\t\r  '),
  upper: pairs('AZ'),
  word: WORD,
  xdigit: pairs('09afAF'),
};

/** those that were asked for; Unicode has a few hundred names */
const properties = new Map<string, Ranges>();

/** A general category (`Lu`, `L`) or a script (`Greek`) of Unicode; undefined where there is none of that name. */
export function unicodeClass(name: string): Ranges | undefined {
  if (name === 'Any') return ANY;
  const ranges = properties.get(name) ?? scan(name);
  if (ranges) properties.set(name, ranges);
  return ranges;
}

function scan(name: string): Ranges | undefined {
  if (!/^[A-Za-z_]{1,40}$/.test(name)) return undefined;
  for (const property of [`General_Category=${name}`, `Script=${name}`]) {
    try {
      return rangesOf(new RegExp(`^\\p{${property}}$`, 'u'));
    } catch {
      // not a name of this kind
    }
  }
  return undefined;
}

function rangesOf(one: RegExp): Ranges {
  const out: number[] = [];
  for (let point = 0; point <= LAST; point++) {
    if (!one.test(String.fromCodePoint(point))) continue;
    if (out[out.length - 1] === point - 1) out[out.length - 1] = point;
    else out.push(point, point);
  }
  return out;
}

/** Its capital letter is I, yet without regard to case it is no i. */
const DOTLESS_I = 0x131;

let variants: ReadonlyMap<number, readonly number[]> | undefined;

/** Characters with more than one case, each with all its forms. */
function caseVariants(): ReadonlyMap<number, readonly number[]> {
  if (variants) return variants;
  const groups = new Map<string, number[]>();
  // no character with case lies above
  for (let point = 0; point < 0x1ea00; point++) {
    const text = String.fromCodePoint(point);
    const [lower, upper] = [text.toLowerCase(), text.toUpperCase()];
    if (lower === upper || point === DOTLESS_I) continue;
    const folded = upper.length === text.length ? upper.toLowerCase() : lower;
    addTo(groups, folded, point);
  }
  const all = new Map<number, readonly number[]>();
  for (const group of groups.values()) if (group.length > 1) for (const point of group) all.set(point, group);
  variants = all;
  return all;
}

/** A set with the other cases of its characters. */
export function folded(ranges: Ranges): Ranges {
  const out = [...ranges];
  for (const [point, forms] of caseVariants()) {
    if (holds(ranges, point)) for (const form of forms) out.push(form, form);
  }
  return merged(out);
}
