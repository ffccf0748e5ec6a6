import { endianness } from 'node:os';
import { assert, type JsonWriter } from '../base/index.js';
import { compareBigFloatText, parseBigFloat } from './bigfloat.js';
import type { DateTime, Geometry, ScalarType, StoredValue, Value } from './contract.js';
import { formatDateTime, writeUtc } from './date-time.js';
import { geometryText } from './geo/geojson.js';
import { compareBytes, floatBytes, integerBytes, integerLength, readFloat, readInteger } from './ordered-bytes.js';
import { utf8Bytes } from './utf8.js';
import { float32Text } from './vector.js';

/** the order of bytes in stored vectors is that of this machine */
const IS_LITTLE = endianness() === 'LE';

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Type bytes. They stand in stored data: a number is never given away again. */
const TYPES: readonly ScalarType[] = [
  'default',
  'string',
  'int',
  'float',
  'bool',
  'datetime',
  'geo',
  'password',
  'float32vector',
  'bigfloat',
];
const BYTE = Object.fromEntries(TYPES.map((type, i) => [type, i])) as Readonly<Record<ScalarType, number>>;
const [DEFAULT, STRING, INT, FLOAT, BOOL, DATETIME, GEO, PASSWORD, VECTOR, BIGFLOAT] = TYPES.map((_, i) => i);

/** A value as it lies in the store. Equal values have equal bytes; offsets of a datetime count. */
export function encodeValue(value: Value): StoredValue {
  const bytes = withRoom(value);
  bytes[0] = BYTE[value.type];
  return bytes;
}

/** The payload behind one byte that is still free. */
function withRoom(value: Value): Uint8Array {
  switch (value.type) {
    case 'int':
      return behindRoom(integerBytes(value.value));
    case 'float':
      return behindRoom(floatBytes(value.value));
    case 'bool':
      return Uint8Array.of(0, value.value ? 1 : 0);
    case 'datetime':
      return dateTimeBytes(value.value);
    case 'geo':
      return utf8Bytes(geometryText(value.value), 1);
    case 'float32vector':
      return vectorBytes(value.value);
    case 'bigfloat':
      return utf8Bytes(parseBigFloat(value.value), 1);
    default:
      return utf8Bytes(value.value, 1);
  }
}

function behindRoom(payload: Uint8Array, tail = 0): Uint8Array {
  const bytes = new Uint8Array(1 + payload.length + tail);
  bytes.set(payload, 1);
  return bytes;
}

/** Seconds, then nanoseconds and offset, which whole seconds in UTC leave out. */
function dateTimeBytes(time: DateTime): Uint8Array {
  const seconds = integerBytes(time.seconds);
  if (time.nanos === 0 && time.offset === 0) return behindRoom(seconds);
  const bytes = behindRoom(seconds, TAIL_BYTES);
  const tail = new DataView(bytes.buffer, 1 + seconds.length);
  tail.setUint32(0, time.nanos);
  tail.setInt16(4, time.offset);
  return bytes;
}

const TAIL_BYTES = 6;

function vectorBytes(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(1 + vector.length * 4);
  const view = new DataView(bytes.buffer, 1);
  for (let i = 0; i < vector.length; i++) view.setFloat32(i * 4, vector[i], true);
  return bytes;
}

/** The type of the stored value that begins at `start`. */
export function storedType(bytes: StoredValue, start = 0): ScalarType {
  const type = TYPES[bytes[start]];
  assert(type, `unknown type byte ${bytes[start]} of a stored value`);
  return type;
}

/** The integer in stored bytes that begin at `start` and are of type int. */
export function readStoredInteger(bytes: StoredValue, start: number): number | bigint {
  return readInteger(bytes, start + 1);
}

/** The value of stored bytes. */
export function decodeValue(bytes: StoredValue): Value {
  return decodeValueIn(bytes, 0, bytes.length);
}

/** The value stored in bytes[start, end). */
export function decodeValueIn(bytes: StoredValue, start: number, end: number): Value {
  const type = storedType(bytes, start);
  switch (type) {
    case 'int':
      return { type, value: readInteger(bytes, start + 1) };
    case 'float':
      return { type, value: readFloat(bytes, start + 1) };
    case 'bool':
      return { type, value: bytes[start + 1] === 1 };
    case 'datetime':
      return { type, value: readDateTime(bytes, start, end) };
    case 'geo':
      return { type, value: JSON.parse(text(bytes, start, end)) as Geometry };
    case 'float32vector':
      return { type, value: readVector(bytes.subarray(start, end)) };
    default:
      return { type, value: text(bytes, start, end) };
  }
}

function text(bytes: StoredValue, start = 0, end = bytes.length): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start + 1, end - start - 1).toString();
}

function readDateTime(bytes: StoredValue, start = 0, end = bytes.length): DateTime {
  const seconds = Number(readInteger(bytes, start + 1));
  const tail = start + 1 + integerLength(bytes, start + 1);
  if (tail >= end) return { seconds, nanos: 0, offset: 0 };
  const view = new DataView(bytes.buffer, bytes.byteOffset + tail, TAIL_BYTES);
  return { seconds, nanos: view.getUint32(0), offset: view.getInt16(4) };
}

/** A vector whose bytes are alone in their buffer, each number on its boundary, is read where it lies. */
function readVector(bytes: StoredValue): Float32Array {
  const { buffer, byteOffset } = bytes;
  const isAlone = byteOffset + 1 === FLOAT_BYTES && byteOffset + bytes.length === buffer.byteLength;
  if (IS_LITTLE && isAlone) return new Float32Array(buffer, FLOAT_BYTES);
  const vector = new Float32Array((bytes.length - 1) / 4);
  if (IS_LITTLE) new Uint8Array(vector.buffer).set(bytes.subarray(1));
  else {
    const view = new DataView(bytes.buffer, bytes.byteOffset + 1, bytes.length - 1);
    for (let i = 0; i < vector.length; i++) vector[i] = view.getFloat32(i * 4, true);
  }
  return vector;
}

/** JSON of the stored value in bytes[start, end), written without decoding texts and geometries. */
export function writeValue(bytes: StoredValue, out: JsonWriter, start = 0, end = bytes.length): void {
  switch (bytes[start]) {
    case DEFAULT:
    case STRING:
    case PASSWORD:
      out.utf8(bytes, start + 1, end);
      break;
    case INT:
      out.integer(readInteger(bytes, start + 1));
      break;
    case FLOAT:
      out.number(readFloat(bytes, start + 1));
      break;
    case BOOL:
      out.ascii(bytes[start + 1] === 1 ? 'true' : 'false');
      break;
    case DATETIME:
      writeDateTime(bytes, start, end, out);
      break;
    case GEO:
    case BIGFLOAT:
      out.bytes(bytes, start + 1, end);
      break;
    case VECTOR:
      writeVector(bytes.subarray(start, end), out);
      break;
    default:
      storedType(bytes, start);
  }
}

/** Whole seconds in UTC are written digit by digit. */
function writeDateTime(bytes: StoredValue, start: number, end: number, out: JsonWriter): void {
  const isWhole = start + 1 + integerLength(bytes, start + 1) >= end;
  if (isWhole) writeUtc(Number(readInteger(bytes, start + 1)), out);
  else out.ascii(`"${formatDateTime(readDateTime(bytes, start, end))}"`);
}

function writeVector(bytes: StoredValue, out: JsonWriter): void {
  const vector = readVector(bytes);
  out.byte(0x5b);
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) out.byte(0x2c);
    out.ascii(float32Text(vector[i]));
  }
  out.byte(0x5d);
}

/** Order of two stored values, without decoding where both have one type; the same order as compareValues. */
export function compareStored(a: StoredValue, b: StoredValue): number {
  if (a[0] !== b[0]) return compareMixed(a, b);
  if (a[0] === DATETIME) return compareInstants(a, b);
  if (a[0] === BIGFLOAT) return compareBigFloatText(text(a), text(b));
  if (a[0] === VECTOR) return compareVectors(readVector(a), readVector(b));
  return compareBytes(a, b, 1);
}

function compareInstants(a: StoredValue, b: StoredValue): number {
  const [x, y] = [readDateTime(a), readDateTime(b)];
  return Math.sign(x.seconds - y.seconds) || Math.sign(x.nanos - y.nanos);
}

function compareVectors(a: Float32Array, b: Float32Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
  return Math.sign(a.length - b.length);
}

const NUMBERS = new Set([INT, FLOAT, BIGFLOAT]);
const TEXTS = new Set([DEFAULT, STRING, PASSWORD]);

/** Numbers compare across their types and texts across theirs; anything else by type. */
function compareMixed(a: StoredValue, b: StoredValue): number {
  if (TEXTS.has(a[0]) && TEXTS.has(b[0])) return compareBytes(a, b, 1);
  if (!NUMBERS.has(a[0]) || !NUMBERS.has(b[0])) return Math.sign(a[0] - b[0]);
  return compareBigFloatText(exactText(a), exactText(b));
}

/** Decimal text of a stored number, exact also for floats beyond whole numbers. */
function exactText(bytes: StoredValue): string {
  const { value } = decodeValue(bytes);
  return parseBigFloat(String(value));
}
