import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atOnce, DEFAULT_LIMITS, GraphsteadError } from '../../src/base/index.js';
import { parseSchemaInSteps, type SchemaText } from '../../src/graph/text/parse.js';

const root = process.env.CONFORMANCE ?? join(import.meta.dirname, '../../../shared/conformance');
const file = join(root, 'dql/unit/schema_parse_test.json');

interface Check {
  readonly kind: 'equal' | 'count' | 'isNull';
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

interface SchemaCase {
  readonly name: string;
  readonly input: string;
  readonly valid: boolean;
  readonly error?: { readonly contains?: readonly string[] };
  readonly checks?: readonly Check[];
}

const cases: readonly SchemaCase[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).cases : [];

function attempt(input: string): SchemaText | GraphsteadError {
  try {
    return atOnce(parseSchemaInSteps(input, DEFAULT_LIMITS));
  } catch (error) {
    if (error instanceof GraphsteadError) return error;
    throw error;
  }
}

/** A parsed text in the shape in which the cases describe one. */
function described({ declarations, types }: SchemaText): Record<string, unknown> {
  const preds = declarations.map((one) => ({
    predicate: one.name,
    valueType: one.type.toUpperCase(),
    ...(one.indexes.length > 0 ? { tokenizer: one.indexes.map((index) => index.kind), directive: 'INDEX' } : {}),
    ...(one.reverse ? { directive: 'REVERSE' } : {}),
    ...(one.count ? { count: true } : {}),
    ...(one.list ? { list: true } : {}),
  }));
  const byName = <T>(value: (one: (typeof preds)[number]) => T) =>
    Object.fromEntries(preds.map((one) => [one.predicate, value(one)]));
  return {
    Preds: preds.length > 0 ? preds : null,
    Types: types.map((type) => ({ typeName: type.name, fields: type.fields.map((predicate) => ({ predicate })) })),
    predicates: byName((one) => one),
    isIndexed: byName((one) => one.directive === 'INDEX'),
    isReversed: byName((one) => one.directive === 'REVERSE'),
    tokenizer: byName((one) => (one.tokenizer ?? []).map((kind) => ({ 'Name()': kind }))),
  };
}

function at(value: unknown, path: Check['path']): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

function holds(check: Check, value: unknown): boolean {
  const found = at(value, check.path);
  if (check.kind === 'isNull') return found === null || found === undefined;
  if (check.kind !== 'count') return JSON.stringify(sorted(found)) === JSON.stringify(sorted(check.value));
  return Object.keys(found as object).length === check.value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe.skipIf(cases.length === 0)('public cases for schema texts', () => {
  it('are accepted, refused and read as they say', () => {
    const wrong = cases.flatMap((one) => {
      const result = attempt(one.input);
      if (result instanceof GraphsteadError) {
        if (one.valid) return [`${one.name}: refused: ${result.message}`];
        const missing = (one.error?.contains ?? []).filter((text) => !result.message.includes(text));
        return missing.length > 0 ? [`${one.name}: says "${result.message}"`] : [];
      }
      if (!one.valid) return [`${one.name}: accepted`];
      const value = described(result);
      return (one.checks ?? [])
        .filter((check) => !holds(check, value))
        .map((check) => `${one.name}: ${check.path.join('.')}`);
    });
    expect(wrong).toEqual([]);
  });
});
