import { describe, expect, it } from 'vitest';
import { dgraphNames, GraphsteadErrors } from '../../src/base/index.js';
import { derivedSchema, loadModel, type Model } from '../../src/sdl/index.js';
import { type Case, failures, present } from './case.js';

function load(schema: string): Model | GraphsteadErrors {
  try {
    return loadModel(schema, { names: dgraphNames });
  } catch (error) {
    if (error instanceof GraphsteadErrors) return error;
    throw error;
  }
}

const accepted = (c: Case): string | undefined => {
  const result = load(c.schema);
  return result instanceof GraphsteadErrors ? `refused: ${result.message}` : undefined;
};

const refused = (c: Case): string | undefined => {
  const result = load(c.schema);
  if (!(result instanceof GraphsteadErrors)) return 'accepted';
  if (c.errorCount !== undefined && result.errors.length !== c.errorCount) return `${result.errors.length} errors`;
  return result.errors.every((e) => e.fix && e.position && e.details?.rule) ? undefined : 'no fix, position or rule';
};

/** Predicates and types of schema text, without regard to order. */
function facts(text: string): { predicates: Record<string, string[]>; types: Record<string, string[]> } {
  const types: Record<string, string[]> = {};
  const lines = text.replace(/type\s+(\S+)\s*\{([^}]*)\}/g, (_, name: string, body: string) => {
    types[name] = body
      .split('\n')
      .map((l) => l.trim())
      .filter(Boolean)
      .sort();
    return '';
  });
  const predicates: Record<string, string[]> = {};
  for (const line of lines.split('\n')) {
    const match = /^\s*(\S+):\s*(\S+)\s*(.*?)\s*\.\s*$/.exec(line);
    if (match) predicates[match[1]] = [match[2], ...(match[3].match(/@\w+(\([^)]*\))?/g) ?? []).sort()];
  }
  return { predicates, types };
}

describe.skipIf(!present)('public cases: type definitions', () => {
  it('accepts what is valid', () => {
    expect(failures('schema-valid', accepted)).toEqual([]);
    expect(failures('schema-auth-valid', accepted)).toEqual([]);
  });

  it('refuses what is not', () => {
    expect(failures('schema-invalid', refused)).toEqual([]);
    expect(failures('search-args', refused)).toEqual([]);
    expect(failures('custom-headers-invalid', refused)).toEqual([]);
  });

  it('reads comments', () => {
    expect(failures('secrets', (c) => (c.errors ? refused(c) : accepted(c)))).toEqual([]);
  });

  it('derives the stored schema', () => {
    const problems = failures('stored-schema', (c) => {
      const model = load(c.schema);
      if (model instanceof GraphsteadErrors) return `refused: ${model.message}`;
      const got = derivedSchema(model, dgraphNames);
      const same = JSON.stringify(sorted(facts(got))) === JSON.stringify(sorted(facts(c.output ?? '')));
      return same ? undefined : `differs:\n${got}`;
    });
    expect(problems).toEqual([]);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
