import { randomFillSync } from 'node:crypto';

const BYTES = 8;
const POOL = 512 * BYTES;

let pool = '';
let at = 0;

/** Eight random bytes as 16 hex digits. Asking the system for many at once makes one hash nearly free. */
export function randomHash(): string {
  if (at === pool.length) {
    pool = randomFillSync(Buffer.allocUnsafe(POOL)).toString('hex');
    at = 0;
  }
  at += BYTES * 2;
  return pool.slice(at - BYTES * 2, at);
}
