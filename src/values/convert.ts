import type { GraphsteadError } from '../base/index.js';
import { parseBigFloat } from './bigfloat.js';
import type { ScalarType, Value } from './contract.js';
import { dateTimeFromSeconds, parseDateTime } from './date-time.js';
import { invalidValue, shown } from './failure.js';
import { parseGeometry } from './geo/geojson.js';
import { hashPassword, isPasswordHash } from './password.js';
import { valueText } from './value-text.js';
import { parseVector } from './vector.js';

const INTEGER = /^[+-]?\d{1,25}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);
const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;

/**
 * A value as another type. Text converts to everything that it spells; numbers, booleans and instants to each other
 * (an instant is its seconds since 1970); everything converts to text. Throws INVALID_VALUE.
 */
export function convert(value: Value, to: ScalarType): Value {
  if (value.type === 'password') return fromPassword(value.value, to);
  if (value.type === to) return value;
  if (to === 'default' || to === 'string') return { type: to, value: valueText(value) };
  if (value.type === 'default' || value.type === 'string') return fromText(value.value, to);
  const converted = fromNumeric(value, to);
  if (!converted) throw noConversion(value.type, to);
  return converted;
}

/** As convert, but a number with a fraction does not become an int: it would lose the fraction. Throws INVALID_VALUE. */
export function convertWhole(value: Value, to: ScalarType): Value {
  if (to === 'int' && hasFraction(value)) {
    throw invalidValue(
      `${valueText(value)} is not an int`,
      'Write a whole number; for fractions the type of the predicate is float.',
    );
  }
  return convert(value, to);
}

/** Of a bigfloat by its text, which writes no zeros behind the point: a double holds no fraction beyond 2^53. */
function hasFraction({ type, value }: Value): boolean {
  if (type === 'bigfloat') return value.includes('.');
  return type === 'float' && !Number.isInteger(value);
}

function noConversion(from: ScalarType, to: ScalarType): GraphsteadError {
  return invalidValue(`a value of type ${from} cannot become ${to}`, `Give a value of type ${to}, or text.`);
}

/** A password leaves its type as its hash, never as the text that a literal may hold. */
function fromPassword(text: string, to: ScalarType): Value {
  if (to !== 'password' && to !== 'string' && to !== 'default') throw noConversion('password', to);
  return { type: to, value: passwordHash(text) };
}

function passwordHash(text: string): string {
  return isPasswordHash(text) ? text : hashPassword(text);
}

function fromText(text: string, to: ScalarType): Value {
  switch (to) {
    case 'int':
      return { type: to, value: parseInteger(text) };
    case 'float':
      return { type: to, value: parseFloating(text) };
    case 'bool':
      return { type: to, value: parseBoolean(text) };
    case 'datetime':
      return { type: to, value: parseDateTime(text) };
    case 'geo':
      return { type: to, value: parseGeometry(text) };
    case 'password':
      return { type: to, value: passwordHash(text) };
    case 'float32vector':
      return { type: to, value: parseVector(text) };
    case 'bigfloat':
      return { type: to, value: parseBigFloat(text) };
    default:
      return { type: to, value: text };
  }
}

/** A 64-bit integer: a number where it is safe, a bigint otherwise. Throws INVALID_VALUE. */
function parseInteger(text: string): number | bigint {
  if (!INTEGER.test(text)) throw invalidValue(`${shown(text)} is not an int`, 'Write a whole number, such as 42.');
  return boundedInteger(BigInt(text.replace(/^\+/, '')), text);
}

function boundedInteger(value: bigint, text: string): number | bigint {
  if (value < INT_MIN || value > INT_MAX) {
    throw invalidValue(
      `${shown(text)} does not fit in 64 bits`,
      'Use a smaller number, or a bigfloat or string predicate.',
    );
  }
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** A finite float. Throws INVALID_VALUE, also for NaN and infinity, which JSON cannot show. */
function parseFloating(text: string): number {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) {
    throw invalidValue(`${shown(text)} is not a float`, 'Write a finite number, such as 1.5.');
  }
  return value;
}

function parseBoolean(text: string): boolean {
  if (TRUE.has(text)) return true;
  if (FALSE.has(text)) return false;
  throw invalidValue(`${shown(text)} is not a bool`, 'Write true or false.');
}

/** From int, float, bool, bigfloat and datetime; undefined where there is no conversion. */
function fromNumeric(value: Value, to: ScalarType): Value | undefined {
  switch (value.type) {
    case 'int':
      return to === 'bigfloat' ? { type: to, value: value.value.toString() } : fromNumber(value.value, to);
    case 'float':
      return to === 'bigfloat'
        ? { type: to, value: parseBigFloat(value.written ?? String(value.value)) }
        : fromNumber(value.value, to);
    case 'bigfloat':
      return to === 'int' ? { type: to, value: wholePart(value.value) } : fromNumber(Number(value.value), to);
    case 'bool':
      return to === 'datetime' ? undefined : fromNumber(value.value ? 1 : 0, to);
    case 'datetime':
      if (to === 'bool') return undefined;
      return fromNumber(to === 'int' ? value.value.seconds : value.value.seconds + value.value.nanos / 1e9, to);
    default:
      return undefined;
  }
}

/** Of a bigfloat, digit by digit: a double would give another int beyond 2^53. */
function wholePart(text: string): number | bigint {
  return boundedInteger(BigInt(text.split('.')[0]), text);
}

function fromNumber(value: number | bigint, to: ScalarType): Value | undefined {
  switch (to) {
    case 'int':
      return { type: to, value: truncated(value) };
    case 'float':
      return { type: to, value: Number(value) };
    case 'bool':
      return { type: to, value: Number(value) !== 0 };
    case 'datetime':
      return { type: to, value: dateTimeFromSeconds(Number(value)) };
    default:
      return undefined;
  }
}

function truncated(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return value;
  const whole = Math.trunc(value);
  return Number.isSafeInteger(whole) ? whole || 0 : boundedInteger(BigInt(whole), String(value));
}
