import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrigramQuery } from '../contract.js';
import { trigramsOf } from '../token/tokenizer.js';
import { compilePattern, requiredTrigrams } from './compile.js';

describe('patterns', () => {
  it('know a Unicode class however many were asked for that are none', () => {
    for (let i = 0; i < 600; i++)
      expect(() => compilePattern(`\\p{None${'_'.repeat(i % 30)}${'x'.repeat(i / 30)}}`, '')).toThrow();
    expect(compilePattern('^\\p{Ogham}$', '').test('ᚁ')).toBe(true);
  });

  it.each<[string, string, string, boolean]>([
    ['^Rick', '', 'Rick Grimes', true],
    ['^Rick', '', 'a Rick', false],
    ['^артём', 'i', 'Артём Ткаченко', true],
    ['s.{2,5}mission', '', 'subcommission', true],
    ['s.{2,5}mission', '', 'smission', false],
    ['^[a-zA-z]*[^Kk ]?[Nn]ight', '', 'midnight', true],
    ['\\bfoo\\b', '', 'a foo.', true],
    ['\\bfoo\\b', '', 'afoo', false],
    ['\\Boo', '', 'foo', true],
    ['^b$', 'm', 'a\nb\nc', true],
    ['^b$', '', 'a\nb\nc', false],
    ['a.b', '', 'a\nb', false],
    ['a.b', 's', 'a\nb', true],
    ['(?i)straße|x(?-i:Y)', '', 'STRASSE xy', false],
    ['(?i:x)Y', '', 'XY', true],
    ['\\p{Greek}+\\d', '', 'αβγ7', true],
    ['\\PL', '', 'abc', false],
    ['[[:alpha:]_]+[^\\d\\s]', '', '12 a_', true],
    ['\\Qa+b\\E+', '', 'xa+bb', true],
    ['\\x41\\x{1F600}\\.', '', 'A😀.', true],
    ['(?P<year>\\d{4})-(?<month>\\d\\d)', '', 'on 2024-05', true],
    ['(a|b|)+?c', '', 'ababc', true],
    ['a{2}', '', 'aba', false],
    ['a{,2}', '', 'a{,2}', true],
    ['[]a]', '', ']', true],
    ['[a-]', '', '-', true],
    ['', '', 'anything', true],
    ['k', 'i', '\u212a', true],
    ['\\W', 'i', 'ksKS\u212a\u017f', false],
    ['[\\W]', 'i', 'ks', false],
    ['[^\\W]', 'i', '\u212a', true],
    ['[[:^word:]]', 'i', 'ks', false],
    ['\\P{Lu}', 'i', 'aB', false],
    ['[\\P{Lu}1]', 'i', 'aB', false],
    ['\\W', '', '\u212a', true],
    ['[^k]', 'i', 'Kk\u212a', false],
    ['i', 'i', 'I', true],
    ['i', 'i', '\u0131', false],
    ['(^|x)a$', '', 'xa', true],
  ])('/%s/%s on %j', (source, flags, text, expected) => {
    expect(compilePattern(source, flags).test(text)).toBe(expected);
  });

  it.each([
    '(',
    'a)',
    '*a',
    'a**',
    '[a',
    '[b-a]',
    '\\',
    '(?=a)',
    '(?<!a)',
    '\\1',
    'a{1001}',
    '\\p{Nope}',
    '(?:(?:a{500}){500})',
  ])('refuses /%s/', (source) => {
    expect(() => compilePattern(source, '')).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  });

  it('takes linear time where backtracking does not', () => {
    const pattern = compilePattern('(a+)+$|(.*)*x(.*)*y', '');
    const text = `${'a'.repeat(200_000)}!`;
    const started = performance.now();
    expect(pattern.test(text)).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('gives up on what would take minutes', () => {
    const pattern = compilePattern('(?:a[ab]{1000}c|b[ab]{1000}d|[ab]a[ab]{1000}e)', '');
    let seed = 3;
    const text = Array.from({ length: 200_000 }, () => ((seed = (seed * 48_271) % 2_147_483_647) % 2 ? 'a' : 'b')).join(
      '',
    );
    expect(() => pattern.test(text)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
    expect(pattern.test('ab')).toBe(false);
  });

  it('forgets states rather than grow', () => {
    // a state for every set of the last 14 characters
    const pattern = compilePattern('a[ab]{14}c', '');
    let seed = 7;
    const text = Array.from({ length: 20_000 }, () => ((seed = (seed * 48_271) % 2_147_483_647) % 2 ? 'a' : 'b')).join(
      '',
    );
    expect(pattern.test(text)).toBe(false);
    expect(pattern.test(`${text}a${text.slice(0, 14)}c`)).toBe(true);
  });

  const piece: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '^', '$', '\\b', '\\w', 'B'),
      fc.tuple(tie('node'), tie('node')).map(([x, y]) => x + y),
      fc.tuple(tie('node'), tie('node')).map(([x, y]) => `(?:${x}|${y})`),
      fc.tuple(tie('node'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?')).map(([x, q]) => `(?:${x})${q}`),
    ),
  })).node;
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'B', ' ', '\n'), maxLength: 12 });

  it('agree with the platform on patterns that both know', () => {
    fc.assert(
      fc.property(piece, fc.constantFrom('', 'i', 'm', 's', 'im'), text, (source, flags, sample) => {
        expect(compilePattern(source, flags).test(sample)).toBe(new RegExp(source, flags).test(sample));
      }),
      { numRuns: 1_000 },
    );
  });

  it('match only texts that hold the required trigrams', () => {
    fc.assert(
      fc.property(piece, fc.constantFrom('', 'i'), text, (source, flags, sample) => {
        if (compilePattern(source, flags).test(sample)) {
          expect(answers(requiredTrigrams(source, flags), new Set(trigramsOf(sample)))).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('know trigrams', () => {
    expect(requiredTrigrams('^Rick', '')).toEqual({ op: 'and', trigrams: ['Ric', 'ick'], parts: [] });
    expect(requiredTrigrams('abc|xyz', '')).toEqual({ op: 'or', trigrams: ['abc', 'xyz'], parts: [] });
    expect(requiredTrigrams('abc.*xyz', '')).toEqual({ op: 'and', trigrams: ['abc', 'xyz'], parts: [] });
    for (const source of ['(ss)+i', '(ss){1,2}i', 's(si)+', '[^x](ss)+i']) {
      expect(requiredTrigrams(source, ''), source).toEqual({ op: 'and', trigrams: ['ssi'], parts: [] });
    }
    expect(requiredTrigrams('(ss)*i', '')).toEqual({ op: 'all' });
    expect(requiredTrigrams('(a|)+bc', '')).toEqual({ op: 'all' });
    expect(requiredTrigrams('a.c', '')).toEqual({ op: 'all' });
    expect(requiredTrigrams('.*', '')).toEqual({ op: 'all' });
    const folded = requiredTrigrams('han', 'i');
    expect(answers(folded, new Set(['Han']))).toBe(true);
    expect(answers(folded, new Set(['Hap']))).toBe(false);
  });
});

function answers(query: TrigramQuery, held: ReadonlySet<string>): boolean {
  if (query.op === 'all' || query.op === 'none') return query.op === 'all';
  const each = [...query.trigrams.map((t) => held.has(t)), ...query.parts.map((part) => answers(part, held))];
  return query.op === 'and' ? each.every(Boolean) : each.some(Boolean);
}
