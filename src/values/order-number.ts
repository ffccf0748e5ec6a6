import { assert } from '../base/index.js';
import type { ScalarType, StoredValue } from './contract.js';
import { readFloat, readInteger } from './ordered-bytes.js';
import { storedType } from './stored-value.js';

/** Values whose order numbers tell, as long as all of them are of one kind. */
export type OrderKind = 'number' | 'text' | 'time';

const KINDS: Readonly<Partial<Record<ScalarType, OrderKind>>> = {
  int: 'number',
  float: 'number',
  datetime: 'time',
  default: 'text',
  string: 'text',
};

/** undefined: only comparing tells the order of such values. */
export function orderKind(bytes: StoredValue, start: number): OrderKind | undefined {
  return KINDS[storedType(bytes, start)];
}

/**
 * A number in whose order values of one kind stand, read from bytes[start, end); those with the same number may still differ.
 * @param shared bytes in which all texts begin alike
 */
export function orderNumber(bytes: StoredValue, start: number, end: number, shared: number): number {
  const type = storedType(bytes, start);
  if (type === 'float') return readFloat(bytes, start + 1);
  const kind = KINDS[type];
  assert(kind, `values of type ${type} have no number for their order`);
  return kind === 'text' ? textNumber(bytes, start + 1 + shared, end) : Number(readInteger(bytes, start + 1));
}

/** Bytes of a text that its number holds: with how many they are they fit the 53 bits of a whole number. */
const TEXT_BYTES = 6;

function textNumber(bytes: StoredValue, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < start + TEXT_BYTES; at++) number = number * 256 + (at < end ? bytes[at] : 0);
  return number * 8 + Math.min(end - start, TEXT_BYTES + 1);
}
