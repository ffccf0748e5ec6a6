import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GraphsteadError, levenshteinWithin } from '../base/index.js';
import * as values from './index.js';

/** What a function says to a user's text: an answer, or one kind of error. */
function refuses(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(GraphsteadError);
    expect((error as GraphsteadError).code).toBe('INVALID_VALUE');
  }
}

const types = ['int', 'float', 'bool', 'datetime', 'geo', 'float32vector', 'bigfloat', 'string'] as const;
const kinds = ['term', 'exact', 'hash', 'trigram', 'fulltext', 'ngram'] as const;
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.stringMatching(/^[-+]?[0-9.eE:TZ-]{0,30}$/),
  fc.stringMatching(/^[()[\]{}*+?|.^$\\abdpPwQE0-9:,<>=!-]{0,25}$/),
);

describe('any text', () => {
  it('is a value of a type or refused with one code', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...types), (written, type) => {
        refuses(() => {
          const value = values.convert({ type: 'default', value: written }, type);
          const stored = values.decodeValue(values.encodeValue(value));
          expect([stored.type, values.compareValues(stored, value)]).toEqual([value.type, 0]);
        });
      }),
      { numRuns: 500 },
    );
  });

  it('is a pattern or refused with one code', () => {
    fc.assert(
      fc.property(text, text, (source, sample) => {
        refuses(() => {
          values.compilePattern(source, 'i').test(sample);
          values.requiredTrigrams(source, 'i');
        });
      }),
      { numRuns: 500 },
    );
  });

  it('has distinct, ascending tokens of every kind, in any language', () => {
    const lang = fc.oneof(fc.constantFrom('', 'en', 'de-AT', 'ja', 'x-klingon', 'es'), fc.string({ maxLength: 5 }));
    fc.assert(
      fc.property(text, fc.constantFrom(...kinds), lang, (written, kind, tag) => {
        const tokens = values.tokensOf(kind, { type: 'string', value: written }, tag).map((t) => Buffer.from(t));
        expect(tokens.every((token, i) => i === 0 || Buffer.compare(tokens[i - 1], token) < 0)).toBe(true);
      }),
    );
  });
});

it('edit distances agree with the whole table', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), maxLength: 8 });
  fc.assert(
    fc.property(short, short, fc.nat(6), (a, b, max) => {
      expect(levenshteinWithin(a, b, max)).toBe(distance([...a], [...b]) <= max);
    }),
  );
});

function distance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const table = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= b.length; j++) table[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      table[i][j] = Math.min(change, table[i - 1][j] + 1, table[i][j - 1] + 1);
    }
  }
  return table[a.length][b.length];
}
