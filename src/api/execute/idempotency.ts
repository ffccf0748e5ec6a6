import type { IdempotencyClaim } from '../../graph/index.js';
import type { Request, RootField } from './request.js';

/** Whose key it is: the same key of two callers are two keys. */
export function claimScope({ context, bodyHash }: Request, field: RootField): Omit<IdempotencyClaim, 'reply'> {
  const { caller = 'anyone', idempotencyKey } = context;
  return { scope: `graphql:${caller}`, key: `${idempotencyKey}/${field.key}`, bodyHash };
}
