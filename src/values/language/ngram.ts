import { stemmedWords } from './full-text.js';
import { piecesOf } from './piece.js';
import { distinct } from './word.js';

const LONGEST = 3;

/** Every run of one to three neighbouring stems, ascending. */
export function ngramsOf(text: string, lang: string): string[] {
  return distinct(runsOf(stemmedWords(text, lang)));
}

/** The same of a long text, a piece of it at a time, some of them repeatedly. */
export function* ngramPieces(text: string, lang: string): Generator<readonly string[], void> {
  let before: readonly string[] = [];
  for (const piece of piecesOf(text)) {
    const words = [...before, ...stemmedWords(piece, lang)];
    yield runsOf(words);
    before = words.slice(1 - LONGEST);
  }
}

function runsOf(words: readonly string[]): string[] {
  return words.flatMap((_, at) => runsFrom(words, at));
}

function runsFrom(words: readonly string[], at: number): string[] {
  const longest = Math.min(LONGEST, words.length - at);
  return Array.from({ length: longest }, (_, i) => words.slice(at, at + i + 1).join(' '));
}

/** The runs that a text holding all of `text` in a row must have: those of three stems, or the whole of a shorter one. */
export function ngramQuery(text: string, lang: string): string[] {
  const words = stemmedWords(text, lang);
  const size = Math.min(LONGEST, words.length);
  if (size === 0) return [];
  return distinct(words.slice(size - 1).map((_, at) => words.slice(at, at + size).join(' ')));
}
