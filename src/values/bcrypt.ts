import { timingSafeEqual } from 'node:crypto';

const FORM = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/;
const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ROUNDS = 16;
const P_WORDS = ROUNDS + 2;
const S_WORDS = 4 * 256;
const LONGEST_KEY = 72;
/** each step more doubles the work; 14 takes seconds */
const HIGHEST_COST = 14;
const SALT_BYTES = 16;
const HASH_BYTES = 23;
const MAGIC = 'OrpheanBeholderScryDoubt';

/** A hash as Dgraph writes it (bcrypt), of a cost that is checked here. */
export function isBcryptHash(text: string): boolean {
  const match = FORM.exec(text);
  return match !== null && Number(match[1]) >= 4 && Number(match[1]) <= HIGHEST_COST;
}

/**
 * The text is the one that a bcrypt hash was made of (N. Provos and D. Mazières, "A Future-Adaptable Password Scheme").
 * Only for hashes that come with imported data: new ones are made by scrypt.
 */
export function checkBcrypt(hash: string, text: string): boolean {
  const match = isBcryptHash(hash) ? FORM.exec(hash) : null;
  if (!match) return false;
  const [salt, expected] = [fromBase64(match[2], SALT_BYTES), fromBase64(match[3], HASH_BYTES)];
  const key = Buffer.concat([Buffer.from(text), Buffer.of(0)]).subarray(0, LONGEST_KEY);
  return timingSafeEqual(expected, digest(key, salt, Number(match[1])));
}

function digest(key: Uint8Array, salt: Uint8Array, cost: number): Buffer {
  const cipher = new Blowfish();
  cipher.expand(key, salt);
  for (let i = 0; i < 2 ** cost; i++) {
    cipher.expand(key);
    cipher.expand(salt);
  }
  const words = Uint32Array.from({ length: 6 }, (_, i) => Buffer.from(MAGIC).readUInt32BE(i * 4));
  for (let i = 0; i < words.length; i += 2) for (let times = 0; times < 64; times++) cipher.encrypt(words, i);
  const bytes = Buffer.alloc(words.length * 4);
  words.forEach((word, i) => {
    bytes.writeUInt32BE(word, i * 4);
  });
  return bytes.subarray(0, HASH_BYTES);
}

class Blowfish {
  readonly #p: Uint32Array;
  readonly #s: Uint32Array;

  constructor() {
    const words = piWords();
    this.#p = words.slice(0, P_WORDS);
    this.#s = words.slice(P_WORDS);
  }

  /** Encrypts the two words at `at` in place. */
  encrypt(words: Uint32Array, at: number): void {
    const [p, s] = [this.#p, this.#s];
    let left = words[at];
    let right = words[at + 1];
    for (let i = 0; i < ROUNDS; i += 2) {
      left ^= p[i];
      right ^=
        ((s[left >>> 24] + s[256 + ((left >>> 16) & 255)]) ^ s[512 + ((left >>> 8) & 255)]) + s[768 + (left & 255)];
      right ^= p[i + 1];
      left ^=
        ((s[right >>> 24] + s[256 + ((right >>> 16) & 255)]) ^ s[512 + ((right >>> 8) & 255)]) + s[768 + (right & 255)];
    }
    words[at] = right ^ p[ROUNDS + 1];
    words[at + 1] = left ^ p[ROUNDS];
  }

  /** Mixes a key into the state, and a salt into what the state encrypts. */
  expand(key: Uint8Array, salt?: Uint8Array): void {
    for (let i = 0; i < P_WORDS; i++) this.#p[i] ^= cyclicWord(key, i);
    const block = new Uint32Array(2);
    let at = 0;
    for (const words of [this.#p, this.#s]) {
      for (let i = 0; i < words.length; i += 2) {
        if (salt) {
          block[0] ^= cyclicWord(salt, at++);
          block[1] ^= cyclicWord(salt, at++);
        }
        this.encrypt(block, 0);
        words[i] = block[0];
        words[i + 1] = block[1];
      }
    }
  }
}

/** Four bytes from a place in bytes that repeat. */
function cyclicWord(bytes: Uint8Array, index: number): number {
  const at = index * 4;
  const byte = (i: number): number => bytes[(at + i) % bytes.length];
  return (byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3);
}

let words: Uint32Array | undefined;

/** The cipher begins with the fraction of pi in binary: computed here (Machin), as a table of it is long. */
function piWords(): Uint32Array {
  if (words) return words;
  const count = P_WORDS + S_WORDS;
  const bits = BigInt(count * 32 + 64);
  const pi = 16n * arctangent(5n, bits) - 4n * arctangent(239n, bits);
  const fraction = (pi & ((1n << bits) - 1n)) >> 64n;
  const bytes = Buffer.from(fraction.toString(16).padStart(count * 8, '0'), 'hex');
  words = Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32BE(i * 4));
  return words;
}

/** arctan(1 / x) times 2^bits. */
function arctangent(x: bigint, bits: bigint): bigint {
  let power = (1n << bits) / x;
  let sum = power;
  for (let n = 3n, sign = -1n; power > 0n; n += 2n, sign = -sign) {
    power /= x * x;
    sum += (sign * power) / n;
  }
  return sum;
}

function fromBase64(text: string, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let [held, bits, at] = [0, 0, 0];
  for (const character of text) {
    held = ((held << 6) | ALPHABET.indexOf(character)) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    if (at < length) bytes[at++] = held >> bits;
  }
  return bytes;
}
