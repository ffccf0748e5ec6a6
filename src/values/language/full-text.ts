import { langBase } from './base.js';
import { piecesOf } from './piece.js';
import { stemmer } from './stem.js';
import { stopWords } from './stop-word.js';
import { distinct, wordsOf } from './word.js';

/** Base languages that do not put blanks between words: their words are cut into pairs. */
const UNSPACED = new Set(['ja', 'zh']);
const IDEOGRAPHIC = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+$/u;

/** The words of a text, in order, without stop words, stemmed. */
export function stemmedWords(text: string, lang: string): string[] {
  const base = langBase(lang);
  const [stop, stem] = [stopWords(base), stemmer(base)];
  const words = UNSPACED.has(base) ? wordsOf(text).flatMap(pairs) : wordsOf(text);
  return words.filter((word) => !stop.has(word)).map((word) => stem(word));
}

/** The same of a long text, a piece of it at a time. */
export function* stemPieces(text: string, lang: string): Generator<readonly string[], void> {
  for (const piece of piecesOf(text)) yield stemmedWords(piece, lang);
}

/** The distinct stems that a text is found by, ascending. */
export function fullTextTerms(text: string, lang: string): string[] {
  return distinct(stemmedWords(text, lang));
}

function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length < 3 || !IDEOGRAPHIC.test(word)) return [word];
  return characters.slice(1).map((character, i) => characters[i] + character);
}
