import { randomFillSync } from 'node:crypto';

const AT_ONCE = 512;

/**
 * Makes random texts, each of so many bytes, that nobody can guess. Asking the system for many at once makes one nearly free.
 * @param bytes a multiple of three where they are written as base64url: each has a text of its own in the pool's
 */
export function randomTexts(bytes: number, encoding: 'hex' | 'base64url'): () => string {
  const chars = encoding === 'hex' ? bytes * 2 : (bytes / 3) * 4;
  let pool = '';
  let at = 0;
  return () => {
    if (at === pool.length) {
      pool = randomFillSync(Buffer.allocUnsafe(AT_ONCE * bytes)).toString(encoding);
      at = 0;
    }
    at += chars;
    return pool.slice(at - chars, at);
  };
}
