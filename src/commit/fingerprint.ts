import { randomBytes } from 'node:crypto';
import type { ConflictKey } from './contract.js';

/** Words of one key in `Fingerprints`: 64 bits that stand for its text, then 1 when it is exclusive. */
export const KEY_WORDS = 3;

/** The conflict keys of one intent as this process remembers them; see `fingerprintsOf`. */
export type Fingerprints = Uint32Array;

// Drawn anew by each process: nobody can look for two texts that share a fingerprint.
const [seedLow, seedHigh] = new Uint32Array(new Uint8Array(randomBytes(8)).buffer);

export function fingerprintsOf(keys: readonly ConflictKey[]): Fingerprints {
  const words = new Uint32Array(keys.length * KEY_WORDS);
  write(keys, 0, keys.length, words);
  return words;
}

/** Keys between two pauses: a few milliseconds. */
export const FINGERPRINTED_AT_ONCE = 8_192;

/** The same for the keys of a large commit: `pause` is awaited between parts of them. */
export async function fingerprintsInParts(
  keys: readonly ConflictKey[],
  pause: () => Promise<void>,
): Promise<Fingerprints> {
  const words = new Uint32Array(keys.length * KEY_WORDS);
  for (let from = 0; from < keys.length; from += FINGERPRINTED_AT_ONCE) {
    if (from > 0) await pause();
    write(keys, from, Math.min(from + FINGERPRINTED_AT_ONCE, keys.length), words);
  }
  return words;
}

function write(keys: readonly ConflictKey[], from: number, end: number, words: Fingerprints): void {
  for (let i = from; i < end; i++) {
    const { key, exclusive } = keys[i];
    let low = seedLow;
    let high = seedHigh;
    for (let at = 0; at < key.length; at++) {
      const code = key.charCodeAt(at);
      low = Math.imul(low ^ code, 0x2c1b3c6d);
      high = Math.imul(((high << 7) | (high >>> 25)) ^ code, 0x297a2d39);
    }
    words[i * KEY_WORDS] = mix(low ^ (high >>> 15));
    words[i * KEY_WORDS + 1] = mix(high ^ key.length);
    words[i * KEY_WORDS + 2] = exclusive ? 1 : 0;
  }
}

/** Lets every bit of a word bear on every other, since tables are entered by the lowest of them. */
function mix(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x45d9f3b5);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c7f1d4b);
  return mixed ^ (mixed >>> 16);
}
