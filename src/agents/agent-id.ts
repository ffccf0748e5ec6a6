import { createHash, randomBytes } from 'node:crypto';

const PREFIX = 'agent_';
/** characters; those that are made here have 26 */
const LONGEST = 64;

/** A fresh agent id: letters and digits, never guessable. */
export function freshAgentId(): string {
  return idOf(randomBytes(15));
}

/** The same id for the same text, of the same form. */
export function derivedAgentId(text: string): string {
  return idOf(createHash('sha256').update(text).digest().subarray(0, 15));
}

/** The id of the one agent of a type and a key: whoever knows both can tell it. */
export function keyedAgentId(type: string, key: string): string {
  return derivedAgentId(JSON.stringify(['key', type, key]));
}

function idOf(bytes: Buffer): string {
  return PREFIX + bytes.toString('base64url').replace(/[-_]/g, 'x');
}

/** It looks like one; whether there is such an agent is another question. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST && value.startsWith(PREFIX);
}
