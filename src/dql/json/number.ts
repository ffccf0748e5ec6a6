import { GraphsteadError, type Position } from '../../base/index.js';
import { parseBigFloat, type Value } from '../../values/index.js';

const INT_LIMIT = 2n ** 63n;
/** a double keeps this many digits of every decimal */
const SURE_DIGITS = 15;

/** A number as an exact int, or as a float when it has a point or an exponent. Throws INVALID_VALUE beyond 64 bits. */
export function numberValue(text: string, position: Position): Value {
  if (text.includes('.') || text.includes('e') || text.includes('E')) {
    const value = Number(text);
    if (Number.isFinite(value))
      return isExact(text, value) ? { type: 'float', value } : { type: 'float', value, written: text };
    throw new GraphsteadError('INVALID_VALUE', `${text.slice(0, 40)} is too large for a float`, {
      position,
      fix: 'Put it in quotes when its predicate is a bigfloat or a string.',
    });
  }
  const small = Number(text);
  if (Number.isSafeInteger(small)) return { type: 'int', value: small };
  const value = text.length > 20 ? INT_LIMIT : BigInt(text);
  if (value >= INT_LIMIT || value < -INT_LIMIT) {
    throw new GraphsteadError('INVALID_VALUE', `${text.slice(0, 40)} does not fit in an int of 64 bits`, {
      position,
      fix: 'Put it in quotes when its predicate is a float, a bigfloat or a string.',
    });
  }
  return { type: 'int', value };
}

/** Whether a double holds all digits; of what no bigfloat takes either it is no matter. */
function isExact(text: string, value: number): boolean {
  if (text.length <= SURE_DIGITS || text === String(value)) return true;
  try {
    return parseBigFloat(text) === parseBigFloat(String(value));
  } catch {
    return true;
  }
}
