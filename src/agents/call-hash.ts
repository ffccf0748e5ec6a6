import { hash } from 'node:crypto';
import { inspect } from 'node:util';

const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** Tells calls apart that a task makes at the same place in two of its runs. */
export function callHash(kind: string, args: readonly unknown[]): string {
  return hash('sha256', kind + textOf(args), 'base64url').slice(0, 22);
}

/** App code gives what it likes: large numbers, and circles. */
function textOf(args: readonly unknown[]): string {
  try {
    return JSON.stringify(args, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
  } catch {
    return inspect(args, WHOLE);
  }
}
