import { randomBytes } from 'node:crypto';
import { atOnce, inSteps, type MaybePromise, type Steps } from '../base/index.js';
import type { ConflictKey, NumberedKeys } from './contract.js';

/** Words of one key in `Fingerprints`: 64 bits that stand for its text, then 1 when it is exclusive. */
export const KEY_WORDS = 3;

/** The conflict keys of one intent as this process remembers them; see `fingerprintsOf`. */
export type Fingerprints = Uint32Array;

// Drawn anew by each process: nobody can look for two texts that share a fingerprint.
const [seedLow, seedHigh] = new Uint32Array(new Uint8Array(randomBytes(8)).buffer);

export function fingerprintsOf(keys: readonly ConflictKey[], numbered: readonly NumberedKeys[] = []): Fingerprints {
  return keys.length === 0 && numbered.length === 0 ? NO_KEYS : atOnce(fingerprinting(keys, numbered));
}

/** What most turns of agents touch. */
const NO_KEYS: Fingerprints = new Uint32Array(0);

/** Keys between two pauses: a few milliseconds. */
export const FINGERPRINTED_AT_ONCE = 8_192;

/** The same for the keys of a large commit: `pause` is awaited between parts of them. */
export function fingerprintsInParts(
  keys: readonly ConflictKey[],
  numbered: readonly NumberedKeys[],
  pause: () => MaybePromise<void>,
): Promise<Fingerprints> {
  return inSteps(fingerprinting(keys, numbered), pause);
}

/** Many fingerprints in parts, for who looks at all of them. */
export function* partsOf(keys: Fingerprints): Generator<Fingerprints> {
  const words = FINGERPRINTED_AT_ONCE * KEY_WORDS;
  for (let from = 0; from < keys.length; from += words) yield keys.subarray(from, from + words);
}

/** How many keys there are. */
export function countKeys(keys: readonly ConflictKey[], numbered: readonly NumberedKeys[] = []): number {
  return numbered.reduce((sum, { numbers, width }) => sum + numbers.length / width, keys.length);
}

function* fingerprinting(keys: readonly ConflictKey[], numbered: readonly NumberedKeys[]): Steps<Fingerprints> {
  const words = new Uint32Array(countKeys(keys, numbered) * KEY_WORDS);
  let count = 0;
  for (const { key, exclusive } of keys) {
    if (count > 0 && count % FINGERPRINTED_AT_ONCE === 0) yield;
    write(key, 0, exclusive, words, count++);
  }
  for (const { prefix, numbers, width, exclusive } of numbered) {
    for (let i = 0; i < numbers.length; i += width) {
      if (count > 0 && count % FINGERPRINTED_AT_ONCE === 0) yield;
      let end = writeDigits(numbers[i], 0);
      if (width === 2) {
        rest[end] = LINE_BREAK;
        end = writeDigits(numbers[i + 1], end + 1);
      }
      write(prefix, end, exclusive, words, count++);
    }
  }
  return words;
}

const LINE_BREAK = 0x0a;
const LOW_DIGITS = 8;
/** what stands behind the text of a key: two numbers with a line break between, at most */
const rest = new Uint8Array(32);

/** Writes a number in hexadecimal; answers where it ends. */
function writeDigits(number: number, from: number): number {
  const high = Math.floor(number / 2 ** 32);
  let digits = Math.max(1, LOW_DIGITS - (Math.clz32(number >>> 0) >>> 2));
  if (high > 0) digits = 2 * LOW_DIGITS - (Math.clz32(high) >>> 2);
  for (let at = 0; at < digits; at++) {
    const word = at < LOW_DIGITS ? number : high;
    const digit = (word >>> (4 * (at % LOW_DIGITS))) & 15;
    rest[from + digits - 1 - at] = digit < 10 ? 0x30 + digit : 0x57 + digit;
  }
  return from + digits;
}

/** The key is `text` with the first characters of `rest` behind it: they are not joined, which would cost more than all else. */
function write(text: string, behind: number, exclusive: boolean, words: Fingerprints, place: number): void {
  let low = seedLow;
  let high = seedHigh;
  const end = text.length;
  const length = end + behind;
  for (let at = 0; at < length; at++) {
    const code = at < end ? text.charCodeAt(at) : rest[at - end];
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
