import type { Position } from '../../base/index.js';
import { MAX_UID } from '../../graph/index.js';
import { invalid } from './invalid.js';

/**
 * The number of a uid written as 0x1f or 31; undefined when the text is neither.
 * Infinity stands for one above MAX_UID.
 */
export function uidNumber(text: string): number | undefined {
  const uid = numberIn(text);
  return uid !== undefined && uid > MAX_UID ? Number.POSITIVE_INFINITY : uid;
}

function numberIn(text: string): number | undefined {
  const hex = text.length > 2 && text.charCodeAt(0) === 0x30 && (text.charCodeAt(1) | 32) === 0x78;
  const base = hex ? 16 : 10;
  let uid = 0;
  if (text.length === 0) return undefined;
  for (let i = hex ? 2 : 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const digit =
      c >= 0x30 && c <= 0x39 ? c - 0x30 : hex && (c | 32) >= 0x61 && (c | 32) <= 0x66 ? (c | 32) - 0x57 : -1;
    if (digit < 0) return undefined;
    uid = uid * base + digit;
  }
  return uid;
}

/** A whole number, decimal or 0x, with an optional sign; undefined when the text is something else or too large. */
export function wholeNumber(text: string): number | undefined {
  const negative = text.startsWith('-');
  const digits = negative || text.startsWith('+') ? text.slice(1) : text;
  const value = numberIn(digits);
  if (value === undefined || value > Number.MAX_SAFE_INTEGER) return undefined;
  return negative ? 0 - value : value;
}

/** A uid in a query. Throws INVALID_QUERY when it is none. */
export function uidOf(text: string, position: Position, where = 'uid'): number {
  const uid = uidNumber(text);
  if (uid === undefined) {
    throw invalid(`"${text}" in ${where}(...) is not a uid`, position, 'Write a uid as 0x1f or 31.');
  }
  if (uid > MAX_UID) {
    throw invalid(
      `the uid ${text} is out of range: uids go from 1 to 2^53 - 2`,
      position,
      'Use a uid that the store has given.',
    );
  }
  return uid;
}
