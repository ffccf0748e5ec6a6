import { convert, decodeValue, encodeValue, type ScalarType, type StoredValue, storedType } from '../values/index.js';

/** A stored value in a predicate's type of now; undefined when it cannot be one. */
export function retyped(value: StoredValue, type: ScalarType): StoredValue | undefined {
  if (storedType(value) === type) return value;
  try {
    return encodeValue(convert(decodeValue(value), type));
  } catch {
    return undefined;
  }
}
