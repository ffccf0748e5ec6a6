import { compareCodePoints } from '../utf8.js';
import { piecesOf } from './piece.js';

/**
 * Words by the default boundaries of Unicode (UAX 29), with runs of ideographs kept together: letters, marks, digits and
 * `_`; an apostrophe or a full stop joins letters, and a full stop or a comma joins digits.
 */
const WORD =
  /[\p{L}\p{M}\p{N}_]+(?:(?:(?<=[\p{L}\p{M}])['’.·](?=\p{L})|(?<=\p{N})[.,;'’](?=\p{N}))[\p{L}\p{M}\p{N}_]+)*/gu;

/** The same for ASCII, which most texts are and which needs no properties of Unicode. */
const ASCII_WORD = /[a-z0-9_]+(?:(?:(?<=[a-z])['.](?=[a-z])|(?<=[0-9])[.,;'](?=[0-9]))[a-z0-9_]+)*/g;
const ASCII = /^[\x00-\x7f]*$/;

/** The words of a text in order: NFKC, lower case. */
export function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(ASCII_WORD) ?? [];
  return text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
}

/** The words of a long text, a piece of it at a time. */
export function* wordPieces(text: string): Generator<readonly string[], void> {
  for (const piece of piecesOf(text)) yield wordsOf(piece);
}

/** The distinct words of a text, in the order of their bytes. */
export function termsOf(text: string): string[] {
  return distinct(wordsOf(text));
}

/** Distinct texts in the order of their UTF-8 bytes. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compareCodePoints);
}
