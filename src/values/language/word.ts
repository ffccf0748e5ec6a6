/**
 * Words by the default boundaries of Unicode (UAX 29), with runs of ideographs kept together: letters, marks, digits and
 * `_`; an apostrophe or a full stop joins letters, and a full stop or a comma joins digits.
 */
const WORD =
  /[\p{L}\p{M}\p{N}_]+(?:(?:(?<=[\p{L}\p{M}])['’.·](?=\p{L})|(?<=\p{N})[.,;'’](?=\p{N}))[\p{L}\p{M}\p{N}_]+)*/gu;

/** The words of a text in order: NFKC, lower case. */
export function wordsOf(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
}

/** The distinct words of a text, in the order of their bytes. */
export function termsOf(text: string): string[] {
  return distinct(wordsOf(text));
}

/** Distinct texts in the order of their UTF-8 bytes. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
