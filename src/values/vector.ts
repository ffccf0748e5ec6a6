import { invalidValue, shown } from './failure.js';

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A vector from `[1.0, 2.0]`; commas, blanks or both between the numbers; one without dimensions from an empty text. Throws INVALID_VALUE. */
export function parseVector(text: string): Float32Array {
  const body = text.trim();
  if (body === '') return new Float32Array();
  if (!body.startsWith('[') || !body.endsWith(']')) throw notAVector(text);
  const inside = body.slice(1, -1).trim();
  const items = inside === '' ? [] : inside.split(/\s*,\s*|\s+/);
  if (!items.every((item) => NUMBER.test(item))) throw notAVector(text);
  return vectorOf(items.map(Number));
}

/** A vector of finite numbers within 32-bit range. Throws INVALID_VALUE. */
function vectorOf(numbers: readonly number[]): Float32Array {
  const vector = Float32Array.from(numbers);
  if (!vector.every(Number.isFinite)) {
    throw invalidValue('a vector holds finite 32-bit numbers only', 'Scale its numbers below 3.4e38.');
  }
  return vector;
}

function notAVector(text: string): Error {
  return invalidValue(`${shown(text)} is not a vector`, 'Write it as "[1.0, 2.0, 3.0]".');
}

/** The shortest decimal text that gives the same 32-bit float again. */
export function float32Text(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  for (let digits = 6; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

export function vectorText(vector: Float32Array): string {
  return `[${Array.from(vector, float32Text).join(',')}]`;
}
