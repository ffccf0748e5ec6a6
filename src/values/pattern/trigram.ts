import type { TrigramQuery } from '../contract.js';
import { trigramsOf } from '../token/tokenizer.js';
import type { Ranges } from './char-class.js';
import type { PatternNode } from './syntax.js';

/**
 * What is known of the texts that a node matches, after Russ Cox, "Regular Expression Matching with a Trigram Index":
 * all of them when they are few, otherwise how they begin and end, and which trigrams they must hold.
 */
interface Knowledge {
  readonly exact?: ReadonlySet<string>;
  readonly prefix: ReadonlySet<string>;
  readonly suffix: ReadonlySet<string>;
  readonly canBeEmpty: boolean;
  readonly query: TrigramQuery;
}

const MOST_EXACT = 8;
const MOST_ENDS = 20;
const MOST_CHARACTERS = 100;
const MOST_TEXTS = 64;
const ALL: TrigramQuery = { op: 'all' };
const NONE: TrigramQuery = { op: 'none' };
const BLANK: ReadonlySet<string> = new Set(['']);
const ANYTHING: Knowledge = { prefix: BLANK, suffix: BLANK, canBeEmpty: true, query: ALL };
const EMPTY: Knowledge = { exact: BLANK, prefix: BLANK, suffix: BLANK, canBeEmpty: true, query: ALL };
const NOTHING: Knowledge = { prefix: BLANK, suffix: BLANK, canBeEmpty: false, query: NONE };

/** The trigrams that every match of a pattern holds. */
export function trigramQueryOf(node: PatternNode): TrigramQuery {
  return loosened(learn(node), true).query;
}

function learn(node: PatternNode): Knowledge {
  switch (node.kind) {
    case 'set':
      return learnSet(node.ranges);
    case 'concat':
      return node.parts.map(learn).reduce(joined, EMPTY);
    case 'alternate':
      return node.parts.map(learn).reduce(either);
    case 'repeat':
      return learnRepeat(learn(node.node), node.min, node.max);
    default:
      return EMPTY;
  }
}

function learnSet(ranges: Ranges): Knowledge {
  if (ranges.length === 0) return NOTHING;
  const characters = new Set<string>();
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i + 1] - ranges[i] + characters.size > MOST_CHARACTERS) return { ...ANYTHING, canBeEmpty: false };
    for (let point = ranges[i]; point <= ranges[i + 1]; point++) characters.add(String.fromCodePoint(point));
  }
  return loosened({ exact: characters, prefix: BLANK, suffix: BLANK, canBeEmpty: false, query: ALL }, false);
}

function learnRepeat(one: Knowledge, min: number, max: number): Knowledge {
  if (max === 0) return EMPTY;
  if (min === 0) return max === 1 ? either(one, EMPTY) : ANYTHING;
  // four in a row hold every trigram that more of them hold
  const times = Math.min(min, 4);
  const row = Array.from({ length: times }, () => one).reduce(joined, EMPTY);
  // more of them begin and end as these do
  return times === max ? row : loosened(opened(row), false);
}

function joined(a: Knowledge, b: Knowledge): Knowledge {
  const query = both(a.query, b.query);
  const canBeEmpty = a.canBeEmpty && b.canBeEmpty;
  if (a.exact && b.exact) {
    return loosened({ exact: cross(a.exact, b.exact), prefix: BLANK, suffix: BLANK, canBeEmpty, query }, false);
  }
  const prefix = a.exact ? cross(a.exact, b.prefix) : a.canBeEmpty ? union(a.prefix, b.prefix) : a.prefix;
  const suffix = b.exact ? cross(a.suffix, b.exact) : b.canBeEmpty ? union(a.suffix, b.suffix) : b.suffix;
  const middle = !a.exact && !b.exact ? anyOf(cross(a.suffix, b.prefix)) : ALL;
  return loosened({ prefix, suffix, canBeEmpty, query: both(query, middle) }, false);
}

function either(a: Knowledge, b: Knowledge): Knowledge {
  const canBeEmpty = a.canBeEmpty || b.canBeEmpty;
  if (a.exact && b.exact) {
    const exact = union(a.exact, b.exact);
    return loosened({ exact, prefix: BLANK, suffix: BLANK, canBeEmpty, query: oneOf(a.query, b.query) }, false);
  }
  const [x, y] = [opened(a), opened(b)];
  return loosened(
    {
      prefix: union(x.prefix, y.prefix),
      suffix: union(x.suffix, y.suffix),
      canBeEmpty,
      query: oneOf(x.query, y.query),
    },
    false,
  );
}

/** Without `exact`: what it says goes into the other parts. */
function opened(known: Knowledge): Knowledge {
  if (!known.exact) return known;
  return {
    prefix: known.exact,
    suffix: known.exact,
    canBeEmpty: known.canBeEmpty,
    query: both(known.query, anyOf(known.exact)),
  };
}

/** Keeps sets small: turns them into trigrams where they grow, or always with `force`. */
function loosened(known: Knowledge, force: boolean): Knowledge {
  const { exact } = known;
  if (exact && !force && exact.size <= MOST_EXACT && shortest(exact) < 4) return known;
  const open = opened(known);
  const query = both(open.query, both(anyOf(open.prefix), anyOf(open.suffix)));
  return {
    prefix: shortened(open.prefix, (text, size) => text.slice(0, size)),
    suffix: shortened(open.suffix, (text, size) => text.slice(-size)),
    canBeEmpty: open.canBeEmpty,
    query,
  };
}

/** At most two characters of each end are of use for trigrams that go on; fewer when there are too many ends. */
function shortened(ends: ReadonlySet<string>, cut: (text: string[], size: number) => string[]): ReadonlySet<string> {
  for (let size = 2; size > 0; size--) {
    const short = new Set([...ends].map((end) => cut([...end], size).join('')));
    if (short.size <= MOST_ENDS) return short;
  }
  return BLANK;
}

function shortest(texts: ReadonlySet<string>): number {
  return Math.min(...[...texts].map((text) => [...text].length));
}

function cross(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a].flatMap((x) => [...b].map((y) => x + y)));
}

function union(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a, ...b]);
}

/** One of the texts is in it: all trigrams of one of them. Says nothing where one is shorter than a trigram. */
function anyOf(texts: ReadonlySet<string>): TrigramQuery {
  if (texts.size === 0) return NONE;
  if (texts.size > MOST_TEXTS || shortest(texts) < 3) return ALL;
  return [...texts].map((text): TrigramQuery => ({ op: 'and', trigrams: trigramsOf(text), parts: [] })).reduce(oneOf);
}

function both(a: TrigramQuery, b: TrigramQuery): TrigramQuery {
  if (a.op === 'none' || b.op === 'none') return NONE;
  if (a.op === 'all') return b;
  if (b.op === 'all') return a;
  return combined('and', a, b);
}

function oneOf(a: TrigramQuery, b: TrigramQuery): TrigramQuery {
  if (a.op === 'all' || b.op === 'all') return ALL;
  if (a.op === 'none') return b;
  if (b.op === 'none') return a;
  return combined('or', a, b);
}

type Combined = Extract<TrigramQuery, { trigrams: readonly string[] }>;

function combined(op: 'and' | 'or', a: Combined, b: Combined): TrigramQuery {
  const flat = [a, b].map((part) => flattened(op, part));
  const trigrams = [...new Set(flat.flatMap((part) => part.trigrams))];
  const parts = flat.flatMap((part) => part.parts);
  const distinct = new Map(parts.map((part) => [JSON.stringify(part), part]));
  const [only] = distinct.values();
  if (trigrams.length === 0 && distinct.size === 1) return only;
  return { op, trigrams, parts: [...distinct.values()] };
}

/** The part as members of a combination: its own when it combines alike or is a single trigram. */
function flattened(op: 'and' | 'or', part: Combined): Pick<Combined, 'trigrams' | 'parts'> {
  if (part.op === op || (part.trigrams.length === 1 && part.parts.length === 0)) return part;
  return { trigrams: [], parts: [part] };
}
