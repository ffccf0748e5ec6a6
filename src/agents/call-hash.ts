import { createHash } from 'node:crypto';

/** Tells calls apart that a task makes at the same place in two of its runs. */
export function callHash(kind: string, args: readonly unknown[]): string {
  return createHash('sha256')
    .update(kind)
    .update(JSON.stringify(args) ?? '')
    .digest('base64url')
    .slice(0, 22);
}
