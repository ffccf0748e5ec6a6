import { expect, it } from 'vitest';
import { hasMoreTexts } from './body.js';

it.each([
  ['{"query":"{ q(func: uid(0x1)) { uid } }"}', 2],
  [JSON.stringify({ 'a"b': ['\\', '\\"', '"""', ''], c: 'x'.repeat(100) }), 7],
  [' '.repeat(100), 0],
  [`["cut${' '.repeat(100)}`, 1],
  [`["a\\"${' '.repeat(100)}`, 1],
])('counts the texts of %j', (json, count) => {
  const padded = json.padEnd(100);
  expect([hasMoreTexts(padded, count - 1), hasMoreTexts(padded, count)]).toEqual([count > 0, false]);
});
