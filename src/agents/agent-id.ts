import { randomBytes } from 'node:crypto';

const PREFIX = 'agent_';
/** characters; those that are made here have 26 */
const LONGEST = 64;

/** A fresh agent id: letters and digits, never guessable. */
export function freshAgentId(): string {
  return `${PREFIX}${randomBytes(15).toString('base64url').replace(/[-_]/g, 'x')}`;
}

/** It looks like one; whether there is such an agent is another question. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST && value.startsWith(PREFIX);
}
