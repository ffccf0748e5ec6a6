import { createHash } from 'node:crypto';
import type { IdempotencyClaim } from '../../graph/index.js';
import type { Request, RootField } from './request.js';

/** Whose key it is: the same key of two callers are two keys. */
export function authScope(request: Request, field: RootField): Omit<IdempotencyClaim, 'reply'> {
  const { context, bodyHash } = request;
  const caller = createHash('sha256')
    .update(context.headers.authorization ?? '')
    .update(JSON.stringify(context.claims ?? null))
    .digest('hex')
    .slice(0, 16);
  return { scope: `graphql/${caller}`, key: `${context.idempotencyKey}/${field.key}`, bodyHash };
}
