import { createRequire } from 'node:module';
import type factory from 'snowball-stemmers';

// 700 KB of tables that most schemas never ask for: it loads with the first word.
const load = () => createRequire(import.meta.url)('snowball-stemmers') as typeof factory;

type Stem = (word: string) => string;

/** Snowball algorithms by base language. */
const ALGORITHMS: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  cs: 'czech',
  da: 'danish',
  de: 'german',
  en: 'english',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hu: 'hungarian',
  hy: 'armenian',
  it: 'italian',
  nb: 'norwegian',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sl: 'slovene',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
};

const stems = new Map<string, Stem>([['es', stemSpanish]]);
const unchanged: Stem = (word) => word;

/** The stem of words of a base language; words of a language without an algorithm stay as they are. */
export function stemmer(base: string): Stem {
  const known = stems.get(base);
  if (known) return known;
  const algorithm = Object.hasOwn(ALGORITHMS, base) ? ALGORITHMS[base] : undefined;
  if (!algorithm) return unchanged;
  const snowball = load().newStemmer(algorithm);
  const stem = remembered((word) => snowball.stem(word));
  stems.set(base, stem);
  return stem;
}

const MOST_REMEMBERED = 50_000;

/** Texts use the same words over and over, and a stem takes microseconds. */
function remembered(stem: Stem): Stem {
  const known = new Map<string, string>();
  return (word) => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const made = stem(word);
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(word, made);
    return made;
  };
}

/**
 * Light stemming of Spanish (after J. Savoy): gender and number only. The full Snowball rules also cut verbs, which makes
 * different words meet.
 */
function stemSpanish(word: string): string {
  if (word.length < 5) return word;
  if (/[oae]$/.test(word)) return word.slice(0, -1);
  if (word.endsWith('eses')) return word.slice(0, -2);
  if (word.endsWith('ces')) return `${word.slice(0, -3)}z`;
  return /[oae]s$/.test(word) ? word.slice(0, -2) : word;
}
