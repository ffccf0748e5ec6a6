import { GraphsteadError, type Position } from '../../base/index.js';
import { parseDateTime, type Value } from '../../values/index.js';

const INT_LIMIT = 2n ** 63n;

/**
 * The value of a facet written without quotes: an int (also 0x1f), a float, true, false, or an instant.
 * Throws INVALID_VALUE when it is none of them or does not fit.
 */
export function facetValue(text: string): Value {
  if (text === '') return { type: 'string', value: '' };
  if (text === 'true' || text === 'false') return { type: 'bool', value: text === 'true' };
  const int = wholeValue(text);
  if (int !== undefined) return { type: 'int', value: int };
  const float = isDecimal(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(float)) return { type: 'float', value: float };
  const instant = looksLikeDate(text) ? tryDateTime(text) : undefined;
  if (instant) return instant;
  throw new GraphsteadError('INVALID_VALUE', `"${text}" is no value of a facet`, {
    fix: 'Put text in quotes; without quotes write a number, true, false or a date such as 2006-01-02T15:04:05.',
  });
}

/** A facet's text in JSON: an instant when it is spelled as one with a full date, else a string. */
export function facetText(text: string): Value {
  const instant = text.length >= 10 && looksLikeDate(text) ? tryDateTime(text) : undefined;
  return instant ?? { type: 'string', value: text };
}

/** LIMIT_EXCEEDED, before all of them are read. */
export function tooManyFacets(most: number, position: Position): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', `an edge or a value has more than ${most} facets (limit facets)`, {
    position,
    fix: 'Make a node of what the facets tell, with a predicate for each of them.',
  });
}

/** Letters, digits, "_", "-", "." and ":", and whatever is no ASCII. */
export function isFacetKeyCharacter(c: number): boolean {
  const letter = (c | 32) >= 0x61 && (c | 32) <= 0x7a;
  return letter || c >= 128 || c === 0x5f || (c >= 0x2d && c <= 0x3a && c !== 0x2f);
}

/** A whole number of 64 bits, as a number where it is safe; undefined for other text. Throws INVALID_VALUE beyond 64 bits. */
function wholeValue(text: string): number | bigint | undefined {
  const negative = text.charCodeAt(0) === 0x2d;
  const digits = negative || text.charCodeAt(0) === 0x2b ? text.slice(1) : text;
  const hex = digits.length > 2 && digits.charCodeAt(0) === 0x30 && (digits.charCodeAt(1) | 32) === 0x78;
  if (digits.length === 0 || digits.length > 64 || !allDigits(digits, hex)) return undefined;
  const size = BigInt(digits);
  const value = negative ? -size : size;
  if (value >= INT_LIMIT || value < -INT_LIMIT) {
    throw new GraphsteadError('INVALID_VALUE', `the facet value ${text} does not fit in 64 bits`, {
      fix: 'Use a smaller number, or put it in quotes.',
    });
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function allDigits(text: string, hex: boolean): boolean {
  for (let i = hex ? 2 : 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const letter = hex && (c | 32) >= 0x61 && (c | 32) <= 0x66;
    if (!letter && (c < 0x30 || c > 0x39)) return false;
  }
  return true;
}

function isDecimal(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const known = (c >= 0x30 && c <= 0x39) || c === 0x2e || c === 0x2d || c === 0x2b || (c | 32) === 0x65;
    if (!known) return false;
  }
  return true;
}

function looksLikeDate(text: string): boolean {
  return text.length >= 7 && text.length <= 40 && text.charCodeAt(4) === 0x2d;
}

function tryDateTime(text: string): Value | undefined {
  try {
    return { type: 'datetime', value: parseDateTime(text) };
  } catch (thrown) {
    if (thrown instanceof GraphsteadError) return undefined;
    throw thrown;
  }
}
