import { hash } from 'node:crypto';
import { randomTexts } from '../base/index.js';

const PREFIX = 'agent_';
const BYTES = 15;
const CHARS = (BYTES / 3) * 4;
/** characters; those that are made here have 26 */
const LONGEST = 64;
const fresh = randomTexts(BYTES, 'base64url');

/** A fresh agent id: letters and digits, never guessable. */
export function freshAgentId(): string {
  return idOf(fresh());
}

/** The same id for the same text, of the same form. */
export function derivedAgentId(text: string): string {
  return idOf(hash('sha256', text, 'base64url').slice(0, CHARS));
}

/** The id of the one agent of a type and a key: whoever knows both can tell it. */
export function keyedAgentId(type: string, key: string): string {
  return derivedAgentId(JSON.stringify(['key', type, key]));
}

function idOf(base64url: string): string {
  return PREFIX + base64url.replace(/[-_]/g, 'x');
}

/** It looks like one; whether there is such an agent is another question. */
export function isAgentId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST && value.startsWith(PREFIX);
}
