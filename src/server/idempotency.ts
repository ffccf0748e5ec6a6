import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GraphsteadError } from '../base/index.js';
import { keyOf } from './keys.js';

export interface Claim {
  readonly scope: string;
  readonly key: string;
  readonly bodyHash: string;
}

/** The claim of a request's `Idempotency-Key`: one scope a caller and operation. Throws INVALID_REQUEST on a key too long. */
export function idempotencyClaim(request: FastifyRequest, operation: string, hash: () => string): Claim | undefined {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return undefined;
  if (key.length > 256) {
    throw new GraphsteadError('INVALID_REQUEST', 'the Idempotency-Key is longer than 256 characters', {
      fix: 'use a UUID',
    });
  }
  return { scope: `${operation}:${caller(request)}`, key, bodyHash: hash() };
}

function caller(request: FastifyRequest): string {
  const key = keyOf(request.headers);
  return key === undefined ? 'anyone' : createHash('sha256').update(key).digest('base64url').slice(0, 16);
}

export function bodyHash(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64url');
}
