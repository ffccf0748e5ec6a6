import { expect, it } from 'vitest';
import { FINGERPRINTED_AT_ONCE, fingerprintsInParts, fingerprintsOf } from './fingerprint.js';

it('makes the same of many keys in parts, with a pause between them', async () => {
  const keys = Array.from({ length: FINGERPRINTED_AT_ONCE * 2 + 1 }, (_, i) => ({
    key: `u name\n${i}`,
    exclusive: i % 3 === 0,
  }));
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses++;
  };
  expect(await fingerprintsInParts(keys, [], pause)).toEqual(fingerprintsOf(keys));
  expect(pauses).toBe(2);
});

it('is the same for a key given as text and as one of many with a number', async () => {
  const numbers = [1, 0xff, 2 ** 40];
  const texts = numbers.map((number) => ({ key: `u name\n${number.toString(16)}`, exclusive: true }));
  expect(fingerprintsOf([], [{ prefix: 'u name\n', numbers, exclusive: true }])).toEqual(fingerprintsOf(texts));
});
