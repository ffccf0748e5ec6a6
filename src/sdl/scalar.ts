import type { ScalarName, SearchKind } from './model.js';
import { table } from '../base/index.js';
import { parseDateTime } from '../values/index.js';

export const SCALARS: readonly ScalarName[] = [
  'ID',
  'Int',
  'Int64',
  'Float',
  'String',
  'Boolean',
  'DateTime',
  'Point',
  'Polygon',
  'MultiPolygon',
];

export const isScalar = (name: string): name is ScalarName => (SCALARS as readonly string[]).includes(name);

/** A whole number written in digits, within bounds. */
export const isWhole = (text: string, min: bigint, max: bigint): boolean =>
  /^[+-]?\d{1,20}$/.test(text) && BigInt(text.replace('+', '')) >= min && BigInt(text.replace('+', '')) <= max;

export const isInt64 = (text: string): boolean => isWhole(text, -(2n ** 63n), 2n ** 63n - 1n);

/** A date or a time as the store takes it. */
export function isTime(text: string): boolean {
  try {
    parseDateTime(text);
    return true;
  } catch {
    return false;
  }
}

/** Kinds of search that each scalar takes, the default first. ID takes none. */
export const SEARCHES = table<readonly SearchKind[]>({
  Int: ['int'],
  Int64: ['int64'],
  Float: ['float'],
  Boolean: ['bool'],
  String: ['term', 'hash', 'exact', 'fulltext', 'trigram', 'regexp', 'ngram'],
  DateTime: ['year', 'month', 'day', 'hour'],
  Point: ['point'],
  Polygon: ['polygon'],
  MultiPolygon: ['multiPolygon'],
});

export const ENUM_SEARCHES: readonly SearchKind[] = ['hash', 'exact', 'trigram', 'regexp'];

const ALL: ReadonlySet<string> = new Set([...Object.values(SEARCHES).flat(), 'hnsw']);

/** A word that names some kind of search. */
export const isSearchKind = (name: string): name is SearchKind => ALL.has(name);

/** The kind and the options of one entry: `hnsw(metric: cosine, exponent: 4)`. */
interface SearchEntry {
  readonly kind: string;
  readonly options: Readonly<Record<string, string>>;
  /** the options are not written as `name: value, name: value` */
  readonly malformed: boolean;
}

export function readSearch(entry: string): SearchEntry {
  const match = /^\s*(\w+)\s*(?:\(([^)]*)\))?\s*$/.exec(entry);
  if (!match) return { kind: entry, options: {}, malformed: entry.includes('(') };
  const options: Record<string, string> = {};
  let malformed = false;
  for (const pair of match[2] === undefined ? [] : match[2].split(',')) {
    const option = /^\s*(\w+):\s+(\S(?:.*\S)?)\s*$/.exec(pair);
    if (option) options[option[1]] = option[2].replace(/^["']|["']$/g, '');
    else malformed = true;
  }
  return { kind: match[1], options, malformed };
}
