import { createHash } from 'node:crypto';
import { GraphsteadError } from '../../base/index.js';
import { convert, decodeValue, isPlace, type ScalarType } from '../../values/index.js';
import type { GraphReader, Predicate, LangValue } from '../contract.js';
import { retyped } from '../retype.js';
import type { Declaration } from './part.js';

/** Looks for a value that cannot become the new type. Throws INVALID_SCHEMA that names it. */
export async function verifyConversion(reader: GraphReader, before: Predicate, after: Declaration): Promise<void> {
  if (before.type === after.type || before.type === 'uid' || after.type === 'uid') return;
  await eachValue(reader, before, (uid, { value }) => check(uid, value, before, after.type as ScalarType));
}

async function eachValue(
  reader: GraphReader,
  predicate: Predicate,
  visit: (uid: number, value: LangValue) => void,
): Promise<void> {
  for await (const uids of reader.having(predicate)) {
    const all = await reader.allValues(predicate, uids);
    all.forEach((values, i) => {
      for (const value of values) visit(uids[i], value);
    });
  }
}

/** Looks for a geometry that the geo index cannot hold, before one is built. Throws INVALID_SCHEMA that names it. */
export async function verifyPlaces(reader: GraphReader, before: Predicate, after: Declaration): Promise<void> {
  if (after.type !== 'geo' || after.indexes.length === 0 || before.type === 'uid') return;
  if (before.type === 'geo' && before.indexes.length > 0) return;
  await eachValue(reader, before, (uid, { value }) => {
    const geometry = retyped(value, 'geo');
    const stored = geometry && decodeValue(geometry);
    if (stored?.type !== 'geo' || isPlace(stored.value)) return;
    throw new GraphsteadError(
      'INVALID_SCHEMA',
      `the index of ${before.name} cannot hold the ${stored.value.type} of 0x${uid.toString(16)}`,
      { fix: 'Keep points, polygons and multipolygons in a predicate of their own, and put the index there.' },
    );
  });
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
  await eachValue(reader, before, (uid, { lang, value }) => {
    const key = `${lang}\n${createHash('sha256').update(value).digest('base64url')}`;
    const other = holders.get(key);
    if (other !== undefined && other !== uid) throw duplicate(before.name, other, uid);
    holders.set(key, uid);
  });
}

function duplicate(name: string, one: number, two: number): GraphsteadError {
  const nodes = `0x${one.toString(16)} and 0x${two.toString(16)}`;
  return new GraphsteadError('INVALID_SCHEMA', `${nodes} have the same ${name}, which @unique forbids`, {
    fix: 'Change or delete one of the values first.',
  });
}
