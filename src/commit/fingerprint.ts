import { randomBytes } from 'node:crypto';
import { atOnce, inSteps, type Steps } from '../base/index.js';
import type { ConflictKey, NumberedKeys } from './contract.js';

/** Words of one key in `Fingerprints`: 64 bits that stand for its text, then 1 when it is exclusive. */
export const KEY_WORDS = 3;

/** The conflict keys of one intent as this process remembers them; see `fingerprintsOf`. */
export type Fingerprints = Uint32Array;

// Drawn anew by each process: nobody can look for two texts that share a fingerprint.
const [seedLow, seedHigh] = new Uint32Array(new Uint8Array(randomBytes(8)).buffer);

export function fingerprintsOf(keys: readonly ConflictKey[], numbered: readonly NumberedKeys[] = []): Fingerprints {
  return atOnce(fingerprinting(keys, numbered));
}

/** Keys between two pauses: a few milliseconds. */
export const FINGERPRINTED_AT_ONCE = 8_192;

/** The same for the keys of a large commit: `pause` is awaited between parts of them. */
export function fingerprintsInParts(
  keys: readonly ConflictKey[],
  numbered: readonly NumberedKeys[],
  pause: () => Promise<void>,
): Promise<Fingerprints> {
  return inSteps(fingerprinting(keys, numbered), pause);
}

/** How many keys there are. */
export function countKeys(keys: readonly ConflictKey[], numbered: readonly NumberedKeys[] = []): number {
  return numbered.reduce((sum, { numbers }) => sum + numbers.length, keys.length);
}

function* fingerprinting(keys: readonly ConflictKey[], numbered: readonly NumberedKeys[]): Steps<Fingerprints> {
  const words = new Uint32Array(countKeys(keys, numbered) * KEY_WORDS);
  let count = 0;
  for (const { key, exclusive } of keys) {
    if (count > 0 && count % FINGERPRINTED_AT_ONCE === 0) yield;
    write(key, '', exclusive, words, count++);
  }
  for (const { prefix, numbers, exclusive } of numbered) {
    for (const number of numbers) {
      if (count > 0 && count % FINGERPRINTED_AT_ONCE === 0) yield;
      write(prefix, number.toString(16), exclusive, words, count++);
    }
  }
  return words;
}

/** The key is `text` with `rest` behind it: they are not joined, which would cost more than all else. */
function write(text: string, rest: string, exclusive: boolean, words: Fingerprints, place: number): void {
  let low = seedLow;
  let high = seedHigh;
  const end = text.length;
  const length = end + rest.length;
  for (let at = 0; at < length; at++) {
    const code = at < end ? text.charCodeAt(at) : rest.charCodeAt(at - end);
    low = Math.imul(low ^ code, 0x2c1b3c6d);
    high = Math.imul(((high << 7) | (high >>> 25)) ^ code, 0x297a2d39);
  }
  const to = place * KEY_WORDS;
  words[to] = mix(low ^ (high >>> 15));
  words[to + 1] = mix(high ^ length);
  words[to + 2] = exclusive ? 1 : 0;
}

/** Lets every bit of a word bear on every other, since tables are entered by the lowest of them. */
function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x45d9f3b5);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c7f1d4b);
  return mixed ^ (mixed >>> 16);
}
