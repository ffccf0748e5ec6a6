import { GraphsteadError, type Position } from '../../base/index.js';
import type { Value } from '../../values/index.js';

const INT_LIMIT = 2n ** 63n;

/** A number as an exact int, or as a float when it has a point or an exponent. Throws INVALID_VALUE beyond 64 bits. */
export function numberValue(text: string, position: Position): Value {
  if (text.includes('.') || text.includes('e') || text.includes('E')) {
    const value = Number(text);
    if (Number.isFinite(value)) return { type: 'float', value };
    throw new GraphsteadError('INVALID_VALUE', `${text.slice(0, 40)} is too large for a float`, { position });
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
