import { GraphsteadError, type Position } from '../../base/index.js';

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
};
/** UTF-16 units above which it is worth trying a faster way. */
const LONG = 10_000;
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * Text between quotes with its escapes resolved: \n and its like, \xHH, \uHHHH, \UHHHHHHHH.
 * Throws SYNTAX at `position` on any other.
 */
export function resolveEscapes(raw: string, position: Position, simple = SIMPLE): string {
  return (raw.length > LONG ? asJson(raw, simple) : undefined) ?? resolved(raw, position, simple);
}

/**
 * A text that is one in JSON too, read by the platform, which is many times as fast; undefined for one that is not, or
 * whose escapes may not all be of this language.
 */
function asJson(raw: string, simple: Readonly<Record<string, string>>): string | undefined {
  if (simple['/'] === undefined && raw.includes('\\/')) return undefined;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}

function resolved(raw: string, position: Position, simple: Readonly<Record<string, string>>): string {
  let out = '';
  let from = 0;
  for (let at = raw.indexOf('\\'); at !== -1; at = raw.indexOf('\\', from)) {
    out += raw.slice(from, at);
    const letter = raw[at + 1] ?? '';
    const plain = simple[letter];
    if (plain !== undefined) {
      out += plain;
      from = at + 2;
      continue;
    }
    const digits = DIGITS[letter];
    const code = digits === undefined ? Number.NaN : hexadecimal(raw, at + 2, digits);
    if (digits === undefined || Number.isNaN(code) || code > 0x10ffff) {
      throw new GraphsteadError('SYNTAX', `"\\${letter}" is no escape this language knows`, {
        position,
        fix: 'Use \\n, \\t, \\", \\\\, \\uHHHH or \\UHHHHHHHH; a backslash itself is written \\\\.',
      });
    }
    out += String.fromCodePoint(code);
    from = at + 2 + digits;
  }
  return out + raw.slice(from);
}

function hexadecimal(text: string, from: number, digits: number): number {
  let value = 0;
  for (let i = from; i < from + digits; i++) {
    const c = text.charCodeAt(i);
    const digit = c >= 0x30 && c <= 0x39 ? c - 0x30 : (c | 32) >= 0x61 && (c | 32) <= 0x66 ? (c | 32) - 0x57 : -1;
    if (digit < 0 || Number.isNaN(c)) return Number.NaN;
    value = value * 16 + digit;
  }
  return value;
}
