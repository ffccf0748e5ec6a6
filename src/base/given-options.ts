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

function kindOf(given: unknown): string {
  if (Array.isArray(given)) return 'a list';
  return typeof given === 'string' ? 'a text' : `a ${typeof given}`;
}
