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
  const numbers = [0, 1, 0xf, 0x10, 0xff, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40 + 0xabc, Number.MAX_SAFE_INTEGER];
  const texts = numbers.map((number) => ({ key: `u name\n${number.toString(16)}`, exclusive: true }));
  const single = { prefix: 'u name\n', numbers, width: 1, exclusive: true } as const;
  expect(fingerprintsOf([], [single])).toEqual(fingerprintsOf(texts));
  const pairs = Array.from({ length: numbers.length / 2 }, (_, i) => {
    return { key: `u name\n${numbers[2 * i].toString(16)}\n${numbers[2 * i + 1].toString(16)}`, exclusive: true };
  });
  expect(fingerprintsOf([], [{ ...single, width: 2 }])).toEqual(fingerprintsOf(pairs));
});
