import { randomBytes, scrypt, scryptSync, timingSafeEqual } from 'node:crypto';
import { checkBcrypt, isBcryptHash } from './bcrypt.js';
import type { Value } from './contract.js';
import { invalidValue } from './failure.js';

const SHORTEST = 6;
const COST = { N: 16_384, r: 8, p: 1 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const FORM = /^\$scrypt\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/;

/**
 * A password as a literal spells it, its text or its hash. A text stays one until the value is converted: hashing it is
 * slow, and what stages values does it on another thread. Throws INVALID_VALUE as hashPassword does.
 */
export function passwordLiteral(text: string): Value {
  if (!isPasswordHash(text)) checkLength(text);
  return { type: 'password', value: text };
}

/** A salted scrypt hash (RFC 7914), about 40 ms of work. Throws INVALID_VALUE for a text of fewer than six characters. */
export function hashPassword(text: string): string {
  checkLength(text);
  const salt = randomBytes(SALT_BYTES);
  return written(salt, scryptSync(text, salt, KEY_BYTES, COST));
}

/** The same, worked out on another thread. */
export async function hashPasswordAside(text: string): Promise<string> {
  checkLength(text);
  const salt = randomBytes(SALT_BYTES);
  return written(salt, await derive(text, salt));
}

function checkLength(text: string): void {
  if ([...text].length >= SHORTEST) return;
  throw invalidValue('the password is too short', `Use at least ${SHORTEST} characters.`);
}

function written(salt: Buffer, key: Buffer): string {
  return `$scrypt$${salt.toString('base64')}$${key.toString('base64')}`;
}

/**
 * The text is the one that was hashed, by us or (bcrypt) by Dgraph. False for a hash of another form. A hash of ours is
 * worked out on another thread.
 */
export async function checkPassword(hash: string, text: string): Promise<boolean> {
  const match = FORM.exec(hash);
  if (!match) return checkBcrypt(hash, text);
  const [salt, key] = [Buffer.from(match[1], 'base64'), Buffer.from(match[2], 'base64')];
  return key.length === KEY_BYTES && timingSafeEqual(key, await derive(text, salt));
}

function derive(text: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, COST, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** A hash of ours or Dgraph's; such a text is not hashed again when data is imported. */
export function isPasswordHash(text: string): boolean {
  return FORM.test(text) || isBcryptHash(text);
}
