import fc from 'fast-check';
import { expect, it } from 'vitest';
import { resolveEscapes } from './escape.js';

const AT = { line: 1, column: 1 };
const NO_SLASH = { n: '\n', "'": "'", '"': '"', '\\': '\\' };
const PARTS = [
  '\\n',
  '\\"',
  '\\\\',
  '/',
  '\\/',
  "\\'",
  '\\x41',
  '\\u00e9',
  '\\ud83d',
  '\\ude00',
  '\\U0001f600',
  '\\q',
  '\\u12',
  '\t',
  '\u2028',
  'é',
];

function resolved(raw: string, simple?: Readonly<Record<string, string>>): string {
  try {
    return resolveEscapes(raw, AT, simple);
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

it('escapes mean the same in long texts', () => {
  const plain = 'x'.repeat(20_000);
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PARTS)), fc.constantFrom(undefined, NO_SLASH), (parts, simple) => {
      const raw = parts.join('');
      const short = resolved(raw, simple);
      const isRefused = short.endsWith('is no escape this language knows');
      expect(resolved(plain + raw, simple)).toBe(isRefused ? short : plain + short);
    }),
  );
});
