import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IndexKind, Value } from '../contract.js';
import { compareBytes } from '../ordered-bytes.js';
import { compareStored, encodeValue } from '../stored-value.js';
import { isHashedToken, TOKEN_BYTES } from './hash.js';
import { queryTokens, tokenizer, tokenPieces, tokensOf, tokenTexts } from './tokenizer.js';

const string = (value: string): Value => ({ type: 'string', value });
const shown = (tokens: readonly Uint8Array[]): string[] => tokens.map((token) => Buffer.from(token).toString());

const values: Partial<Record<IndexKind, fc.Arbitrary<Value>>> = {
  int: fc.maxSafeInteger().map((value): Value => ({ type: 'int', value })),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value): Value => ({ type: 'float', value })),
  bool: fc.boolean().map((value): Value => ({ type: 'bool', value })),
  exact: fc.string({ unit: 'binary' }).map(string),
  bigfloat: fc
    .tuple(fc.bigInt(), fc.nat(20))
    .map(([digits, scale]): Value => ({ type: 'string', value: `${digits}e-${scale}` })),
};
const instant = fc.integer({ min: -60_000_000_000, max: 250_000_000_000 });
for (const kind of ['year', 'month', 'day', 'hour'] as const) {
  values[kind] = instant.map((seconds): Value => ({ type: 'datetime', value: { seconds, nanos: 0, offset: 0 } }));
}

describe('tokens', () => {
  it.each(Object.keys(values) as IndexKind[])('of %s follow the order of values', (kind) => {
    const one = values[kind] as fc.Arbitrary<Value>;
    fc.assert(
      fc.property(one, one, (a, b) => {
        const [x, y] = [a, b].map((value) => tokensOf(kind, value)[0]);
        const order = kind === 'bigfloat' ? compareDecimal(a, b) : compareStored(encodeValue(a), encodeValue(b));
        const tokens = compareBytes(x, y);
        expect(tokens === 0 || tokens === order).toBe(true);
        if (!tokenizer(kind).lossy) expect(tokens).toBe(order);
      }),
    );
  });

  it.each([...Object.keys(values), 'term', 'hash', 'trigram', 'fulltext', 'ngram'] as IndexKind[])(
    'of %s are the same as texts',
    (kind) => {
      const words = fc.array(
        fc.oneof(fc.constantFrom('Oak', 'kitap', 'gözlük', 'x'.repeat(TOKEN_BYTES)), fc.string({ unit: 'binary' })),
      );
      const any = values[kind] ?? words.map((list) => string(list.join(' ')));
      fc.assert(
        fc.property(any, fc.constantFrom('', 'en', 'tr'), (value, lang) => {
          const texts = [...new Set(tokenTexts(kind, value, lang))].sort();
          expect(texts).toEqual(tokensOf(kind, value, lang).map((token) => Buffer.from(token).toString('latin1')));
        }),
      );
    },
  );

  it('are found by their own query', () => {
    const kinds: IndexKind[] = ['term', 'exact', 'hash', 'trigram', 'fulltext', 'ngram'];
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.lorem({ maxCount: 8 }), (kind, text) => {
        const index = shown(tokensOf(kind, string(text), 'en'));
        for (const token of shown(queryTokens(kind, string(text), 'en'))) expect(index).toContain(token);
      }),
    );
  });

  it('of a long text are the same a piece at a time', () => {
    const kinds: IndexKind[] = ['term', 'trigram', 'fulltext', 'ngram'];
    const [letters, others] = ['abcΣσÉ漢字İﬁ㍘ა', "0５²'’.·,;: \t\n=-_!。、\u0338\u0301\u00ad\ufeff^😀\ud800"].map(
      (all) => [...all],
    );
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.constantFrom('', 'ja'), fc.nat(), (kind, lang, seed) => {
        let state = seed;
        const random = (below: number): number => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return (state >>> 8) % below;
        };
        const from = () => (random(3) > 0 ? letters : others);
        const long = Array.from({ length: TOKEN_BYTES + random(9) }, () => pick(letters, random)).join('');
        const text = `${long} ${Array.from({ length: 20_000 }, () => pick(from(), random)).join('')} ${long}`;
        const pieces = [...(tokenPieces(kind, string(text), lang) ?? [])];
        expect(pieces.length).toBeGreaterThan(5);
        const hex = (tokens: Iterable<Uint8Array>) =>
          new Set(Array.from(tokens, (token) => Buffer.from(token).toString('hex')));
        expect(hex(pieces.flat())).toEqual(hex(tokensOf(kind, string(text), lang)));
      }),
      { numRuns: 40 },
    );
    expect(tokenPieces('term', string('short'))).toBeUndefined();
    expect(tokenPieces('exact', string('x'.repeat(100_000)))).toBeUndefined();
  });

  it('over the limit are cut and hashed', () => {
    const [long, other] = ['x'.repeat(2_000), `${'x'.repeat(1_999)}y`].map(
      (text) => tokensOf('exact', string(text))[0],
    );
    expect(long.length).toBe(TOKEN_BYTES + 9);
    expect(isHashedToken(long)).toBe(true);
    expect(isHashedToken(tokensOf('exact', string('x'.repeat(TOKEN_BYTES)))[0])).toBe(false);
    expect(compareBytes(long, other)).not.toBe(0);
  });

  it('of texts', () => {
    expect(shown(tokensOf('term', string("The ﬁrst can't-do, e.g. 3.14 of Ünïcode!")))).toEqual([
      '3.14',
      "can't",
      'do',
      'e.g',
      'first',
      'of',
      'the',
      'ünïcode',
    ]);
    expect(shown(tokensOf('fulltext', string('Running dogs are the best'), 'en-GB'))).toEqual(['best', 'dog', 'run']);
    expect(shown(tokensOf('fulltext', string('Die Katzen laufen'), 'de'))).toEqual(['katz', 'lauf']);
    expect(shown(tokensOf('trigram', string('ab')))).toEqual([]);
    expect(shown(queryTokens('ngram', string('one two three four'), 'en'))).toEqual([
      'one two three',
      'two three four',
    ]);
  });
});

function pick(letters: readonly string[], random: (below: number) => number): string {
  return letters[random(letters.length)];
}

function compareDecimal(a: Value, b: Value): number {
  const [x, y] = [a, b].map(({ value }) => {
    const [digits, scale] = String(value).split('e-');
    return BigInt(digits) * 10n ** BigInt(30 - Number(scale));
  });
  return x < y ? -1 : x > y ? 1 : 0;
}
