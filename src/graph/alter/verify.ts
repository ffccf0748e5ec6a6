import { GraphsteadError } from '../../base/index.js';
import { convert, decodeValue, type ScalarType } from '../../values/index.js';
import type { GraphReader, Predicate } from '../contract.js';
import type { Declaration } from './part.js';

/** Looks for a value that cannot become the new type. Throws INVALID_SCHEMA that names it. */
export async function verifyConversion(reader: GraphReader, before: Predicate, after: Declaration): Promise<void> {
  if (before.type === after.type || before.type === 'uid' || after.type === 'uid') return;
  for await (const uids of reader.having(before)) {
    const all = await reader.allValues(before, uids);
    all.forEach((values, i) => {
      for (const { value } of values) check(uids[i], value, before, after.type as ScalarType);
    });
  }
}

function check(uid: number, stored: Uint8Array, before: Predicate, to: ScalarType): void {
  try {
    convert(decodeValue(stored), to);
  } catch (cause) {
    const where = `0x${uid.toString(16)}`;
    throw new GraphsteadError('INVALID_SCHEMA', `the value of ${before.name} of ${where} cannot become ${to}`, {
      fix: `Change or delete the values that do not fit, or drop ${before.name} first.`,
      cause,
    });
  }
}
