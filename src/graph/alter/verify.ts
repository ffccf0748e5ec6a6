import { createHash } from 'node:crypto';
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

/** Looks for two nodes with one value, before @unique is put over them. Throws INVALID_SCHEMA that names both. */
export async function verifyUnique(reader: GraphReader, before: Predicate, after: Declaration): Promise<void> {
  if (before.unique || !after.unique) return;
  const holders = new Map<string, number>();
  for await (const uids of reader.having(before)) {
    const all = await reader.allValues(before, uids);
    all.forEach((values, i) => {
      for (const { lang, value } of values) {
        const key = `${lang}\n${createHash('sha256').update(value).digest('base64url')}`;
        const other = holders.get(key);
        if (other !== undefined && other !== uids[i]) throw duplicate(before.name, other, uids[i]);
        holders.set(key, uids[i]);
      }
    });
  }
}

function duplicate(name: string, one: number, two: number): GraphsteadError {
  const nodes = `0x${one.toString(16)} and 0x${two.toString(16)}`;
  return new GraphsteadError('INVALID_SCHEMA', `${nodes} have the same ${name}, which @unique forbids`, {
    fix: 'Change or delete one of the values first.',
  });
}
