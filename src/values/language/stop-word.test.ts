import { describe, expect, it } from 'vitest';
import { fullTextTerms } from './full-text.js';
import { stopWords } from './stop-word.js';
import { wordsOf } from './word.js';

const kept = (words: string, base: string): string =>
  wordsOf(words)
    .filter((word) => !stopWords(base).has(word))
    .join(' ');

describe('stop words', () => {
  it.each([
    ['es', 'él da libros a los niños y a ti', 'da libros niños'],
    ['it', 'ad una delle donne col cane', 'donne cane'],
    ['nl', 'wij gaan wel af', 'gaan'],
    ['nb', 'det er ikke en bok', 'bok'],
    ['nn', 'han og hunden', 'hunden'],
    ['ar', 'هذا الكتاب على الطاولة', 'الكتاب الطاولة'],
    ['bg', 'книгата е на масата', 'книгата масата'],
    ['ca', 'el llibre és sobre la taula', 'llibre taula'],
    ['cs', 'kniha je na stole', 'kniha stole'],
    ['eu', 'liburua eta mahaia', 'liburua mahaia'],
    ['fa', 'کتاب از دوست', 'کتاب دوست'],
    ['ga', 'an leabhar ar an mbord', 'leabhar mbord'],
    ['gl', 'o libro e a mesa', 'libro mesa'],
    ['hi', 'किताब और मेज', 'किताब मेज'],
    ['hy', 'գիրքը և սեղանը', 'գիրքը սեղանը'],
    ['id', 'buku itu ada di meja', 'buku meja'],
    ['el', 'το βιβλίο και από αυτούς', 'βιβλίο'],
    ['tlh', 'loD be', 'lod be'],
  ])('of %s', (base, words, expected) => {
    expect(kept(words, base)).toBe(expected);
  });

  it('stand in no index of texts', () => {
    expect(fullTextTerms('Книгата Е НА масата', 'bg-BG')).toEqual(['книгата', 'масата']);
    expect(fullTextTerms('Το βιβλίο ΚΑΙ ΑΥΤΟΎΣ', 'el')).toEqual(['βιβλίο']);
  });
});
