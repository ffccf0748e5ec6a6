import { GraphsteadError } from './errors.js';

const NONE = Object.freeze({});

/** Options of `call` as JavaScript callers give them, who write null for none. Throws INVALID_VALUE for what is no object. */
export function givenOptions<T extends object>(
  call: string,
  given: T | null | undefined,
  example: string,
  what = 'options',
): Partial<T> {
  if (given === undefined || given === null) return NONE as Partial<T>;
  if (typeof given === 'object' && !Array.isArray(given)) return given;
  throw new GraphsteadError('INVALID_VALUE', `what ${call} is given for ${what} is an object, got ${kindOf(given)}`, {
    fix: `write ${example}, or nothing`,
  });
}

/** What `call` takes as a text. Throws INVALID_VALUE for what is none. */
export function givenText(call: string, given: unknown, example: string): string {
  if (typeof given === 'string') return given;
  throw notGiven(call, 'a text', given, example);
}

/** What `call` runs, or makes instances of. Throws INVALID_VALUE for what is none. */
export function assertCallable(call: string, given: unknown, example: string, what = 'a function'): void {
  if (typeof given !== 'function') throw notGiven(call, what, given, example);
}

function notGiven(call: string, what: string, given: unknown, example: string): GraphsteadError {
  return new GraphsteadError('INVALID_VALUE', `${call} takes ${what}, got ${kindOf(given)}`, {
    fix: `write ${example}`,
  });
}

function kindOf(given: unknown): string {
  if (given === undefined) return 'nothing';
  if (given === null) return 'null';
  if (Array.isArray(given)) return 'a list';
  if (typeof given === 'string') return 'a text';
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`;
}
