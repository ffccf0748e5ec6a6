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
  expect(await fingerprintsInParts(keys, pause)).toEqual(fingerprintsOf(keys));
  expect(pauses).toBe(2);
});
