import { type GraphQLLeafType, isEnumType } from 'graphql';
import type { JsonWriter } from '../../base/index.js';
import {
  decodeValue,
  dateTimeFromSeconds,
  formatDateTime,
  parseDateTime,
  readStoredInteger,
  storedType,
  type StoredValue,
  valueText,
  writeValue,
} from '../../values/index.js';

/** Writes the stored value in bytes[start, end) as JSON of a GraphQL type; false when it cannot be of that type. */
export type ScalarWriter = (bytes: StoredValue, start: number, end: number, out: JsonWriter) => boolean;

/** What GraphQL's Int holds. */
export const INT_MAX = 2_147_483_647;
export const INT_MIN = -2_147_483_648;

/** How stored values become JSON of this type: straight from bytes where the stored type fits. */
export function scalarWriter(type: GraphQLLeafType): ScalarWriter {
  if (isEnumType(type)) return enumWriter(new Set(type.getValues().map((value) => value.name)));
  const [direct, orDirect] = DIRECT[type.name] ?? [];
  const coerce = COERCE[type.name] ?? ((value: unknown) => leafJson(type, value));
  const write: ScalarWriter = (bytes, start, end, out) => {
    const stored = storedType(bytes, start);
    if (stored === direct || stored === orDirect) {
      writeValue(bytes, out, start, end);
      return true;
    }
    const json = coerce(plain(bytes.subarray(start, end)));
    if (json === undefined) return false;
    out.raw(json);
    return true;
  };
  return type.name === 'Int' ? intWriter(write) : write;
}

/** Stored integers within 32 bits go out as they are. */
function intWriter(other: ScalarWriter): ScalarWriter {
  return (bytes, start, end, out) => {
    if (storedType(bytes, start) !== 'int') return other(bytes, start, end, out);
    const value = readStoredInteger(bytes, start);
    if (typeof value !== 'number' || value > INT_MAX || value < INT_MIN) return false;
    out.integer(value);
    return true;
  };
}

/** Stored types whose JSON is what the GraphQL type asks for already. */
const DIRECT: Readonly<Record<string, readonly string[]>> = {
  String: ['string', 'default'],
  Int64: ['int'],
  Float: ['float'],
  Boolean: ['bool'],
  DateTime: ['datetime'],
};

function enumWriter(names: ReadonlySet<string>): ScalarWriter {
  return (bytes, start, end, out) => {
    const value = decodeValue(bytes.subarray(start, end));
    const text = valueText(value);
    if (!names.has(text)) return false;
    out.string(text);
    return true;
  };
}

/** A stored value as the JavaScript value that custom logic and completion work with. */
export function plain(bytes: StoredValue): unknown {
  const value = decodeValue(bytes);
  switch (value.type) {
    case 'datetime':
      return formatDateTime(value.value);
    case 'float32vector':
      return Array.from(value.value);
    default:
      return value.value;
  }
}

/**
 * A JavaScript value as JSON of a leaf type, by lossless coercion between number, string and boolean; undefined when it
 * is not a value of the type.
 */
export function leafJson(type: GraphQLLeafType, value: unknown): string | undefined {
  if (isEnumType(type)) {
    return typeof value === 'string' && type.getValue(value) ? JSON.stringify(value) : undefined;
  }
  const coerce = COERCE[type.name];
  if (coerce) return coerce(value);
  try {
    const serialized: unknown = type.serialize(value);
    return serialized === undefined ? undefined : JSON.stringify(serialized);
  } catch {
    return undefined;
  }
}

/** As `leafJson`, but of texts only those become booleans that say one: any other would be true, "FALSE" and "0" too. */
export function exactJson(type: GraphQLLeafType, value: unknown): string | undefined {
  return type.name === 'Boolean' && typeof value === 'string' ? said(value) : leafJson(type, value);
}

function said(value: string): string | undefined {
  const lower = value.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower;
  const parsed = number(value);
  return parsed === undefined ? undefined : boolean(parsed);
}

const text = (value: unknown): string | undefined => {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return undefined; // past what a number holds
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `"${value}"`;
  return undefined;
};

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** A number from a number, a decimal text or a boolean. */
function number(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined;
}

function int(value: unknown): string | undefined {
  const parsed = number(value);
  if (parsed === undefined || !Number.isInteger(parsed) || parsed > INT_MAX || parsed < INT_MIN) return undefined;
  return String(parsed === 0 ? 0 : parsed);
}

function int64(value: unknown): string | undefined {
  if (typeof value === 'bigint') return inInt64(value);
  if (typeof value === 'string' && /^[+-]?\d{1,20}$/.test(value)) return inInt64(BigInt(value));
  const parsed = number(value);
  return parsed !== undefined && Number.isInteger(parsed) ? inInt64(BigInt(parsed)) : undefined;
}

function inInt64(value: bigint): string | undefined {
  return BigInt.asIntN(64, value) === value ? String(value) : undefined;
}

function float(value: unknown): string | undefined {
  const parsed = number(value);
  return parsed !== undefined && Number.isFinite(parsed) ? JSON.stringify(parsed) : undefined;
}

function boolean(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(Number(value) !== 0);
  if (typeof value === 'string') return String(value !== '' && value !== 'false');
  return undefined;
}

/** RFC 3339 text, a date alone, or whole seconds since 1970. */
function dateTime(value: unknown): string | undefined {
  try {
    if (typeof value === 'string') return JSON.stringify(formatDateTime(parseDateTime(value)));
    if (!Number.isInteger(value)) return undefined;
    return JSON.stringify(formatDateTime(dateTimeFromSeconds(value as number)));
  } catch {
    return undefined;
  }
}

const COERCE: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  ID: text,
  String: text,
  Int: int,
  Int64: int64,
  Float: float,
  Boolean: boolean,
  DateTime: dateTime,
};
