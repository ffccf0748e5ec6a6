import { isPlaceholder } from '../base/index.js';
import { withDeclarations } from './declaration-text.js';
import { HIDDEN } from './from-environment.js';

const NAME = /^(?:"[^"]*"|'[^']*'|[^\s"]+)\s+/;
const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
/** each string of a JSON text, with the string that is its value where it is a key */
const STRINGS = new RegExp(`(${STRING})(?:(\\s*:\\s*)(${STRING}))?`, 'g');
const PUBLIC = /^"-----BEGIN (?:RSA )?PUBLIC KEY-----/;
/** `header namespace algorithm`, before the key */
const WORDS = /^(?:\S+\s+){3}/;

/**
 * Type definitions as they may be shown: secrets' values and the key that verifies tokens are left out, unless the
 * environment has them. The text must be one that can be parsed.
 */
export function hideSecrets(text: string): string {
  return withDeclarations(text, ({ token, declared: { word, rest } }) => {
    return text.slice(token.start, token.end - rest.length) + hidden(word, rest);
  });
}

function hidden(word: string, rest: string): string {
  if (word === 'Secret') return valueHidden(rest, NAME);
  if (word !== 'Authorization') return rest;
  if (!rest.trimStart().startsWith('{')) return valueHidden(rest, WORDS);
  return rest.replace(STRINGS, (pair: string, key: string, colon?: string, value?: string) =>
    colon && value && isVerificationKey(key) ? key + colon + shownKey(value) : pair,
  );
}

/** As it is read: a letter may be written as an escape. */
function isVerificationKey(key: string): boolean {
  return String(JSON.parse(key)).toLowerCase() === 'verificationkey';
}

function valueHidden(rest: string, before: RegExp): string {
  const kept = before.exec(rest)?.[0] ?? '';
  return kept + shownValue(rest.slice(kept.length).trimEnd());
}

/** Nor is the key that only verifies; beside a key set there is none. */
function shownKey(value: string): string {
  return value === '""' || PUBLIC.test(value) ? value : shownValue(value);
}

/** Which variable a value comes from is no secret. */
function shownValue(value: string): string {
  return isPlaceholder(value.replace(/^(["'])(.*)\1$/s, '$2')) ? value : `"${HIDDEN}"`;
}
