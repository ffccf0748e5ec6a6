import { describe, expect, it } from 'vitest';
import { atOnce, dgraphNames, GraphsteadError } from '../../src/base/index.js';
import { nquadLineParser, type Triple } from '../../src/dql/index.js';
import { JsonTriples, scanJson } from '../../src/dql/json/index.js';
import { formatDateTime, type Value } from '../../src/values/index.js';
import { problemOf, type UnitCase, unitCases } from './unit-case.js';

const lines = unitCases('chunker_rdf_parser_test.json');
const objects = unitCases('chunker_json_parser_test.json');

const TYPES: Readonly<Record<string, string>> = { string: 'str', float: 'double' };

/** Large integers as the cases' JSON has them; passwords, which are kept as a hash, by nothing. */
function shownValue(value: Value): unknown {
  if (value.type === 'password') return '';
  if (typeof value.value === 'bigint') return Number(value.value);
  return value.type === 'datetime' ? formatDateTime(value.value) : value.value;
}

function node(reference: Triple['subject']): string {
  if (reference.kind === 'uid') return String(reference.uid);
  if (reference.kind === 'blank') return `_:${reference.name}`;
  if (reference.kind === 'variable') return `uid(${reference.name})`;
  return reference.kind === 'iri' ? reference.iri : '_STAR_ALL';
}

/** A triple in the shape of the cases; what they leave out is left out. */
function described(triple: Triple): Record<string, unknown> {
  const { object, facets } = triple;
  const star = { type: 'default', value: '_STAR_ALL' };
  const shown = facets.map(({ key, value }) => ({ key, type: value.type, value: shownValue(value) }));
  return {
    subject: node(triple.subject),
    predicate: triple.predicate,
    ...(triple.lang ? { lang: triple.lang } : {}),
    ...(object.kind === 'literal'
      ? { objectValue: { type: TYPES[object.value.type] ?? object.value.type, value: shownValue(object.value) } }
      : object.kind === 'all'
        ? { objectValue: star }
        : { objectId: object.kind === 'value' ? `val(${object.variable})` : node(object) }),
    ...(shown.length > 0 ? { facets: shown } : {}),
  };
}

/** Uids as decimal text, without what is no part of a triple here (namespaces, facets' tokens). */
function normalized(value: unknown): unknown {
  const uid = (text: unknown) => (/^0x[0-9a-f]+$/i.test(String(text)) ? String(Number(text)) : text);
  const { namespace: _, subject, objectId, objectValue, facets, ...rest } = value as Record<string, unknown>;
  const literal = objectValue as { type: string; value: unknown } | undefined;
  return {
    ...rest,
    subject: uid(subject),
    ...(literal ? { objectValue: literal.type === 'password' ? { ...literal, value: '' } : literal } : {}),
    ...(objectId === undefined ? {} : { objectId: uid(objectId) }),
    ...(facets === undefined
      ? {}
      : { facets: (facets as Record<string, unknown>[]).map(({ tokens: _tokens, ...facet }) => facet) }),
  };
}

function attempt<T>(read: () => T): T | GraphsteadError {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof GraphsteadError) return thrown;
    throw thrown;
  }
}

function verdict(c: UnitCase, accepted: boolean): string[] {
  return c.valid === null || c.valid === accepted ? [] : [`${c.name}: ${accepted ? 'accepted' : 'refused'}`];
}

describe.skipIf(lines.length === 0)('N-Quads', () => {
  it('are read as the public cases have it', () => {
    const wrong = lines.flatMap((c) => {
      const got = attempt(() => nquadLineParser()(c.input));
      if (c.empty) return got === undefined ? [] : [`${c.name}: not empty`];
      if (got instanceof GraphsteadError || got === undefined) return verdict(c, false);
      const expected = c.checks?.find(({ kind, path }) => kind === 'equal' && !path)?.value;
      const shown = described(got);
      if (expected !== undefined) expect(normalized(shown), c.name).toEqual(normalized(expected));
      return verdict(c, true);
    });
    expect(wrong).toEqual([]);
  });
});

describe.skipIf(objects.length === 0)('JSON mutations', () => {
  it('are read as the public cases have it', () => {
    const wrong = objects.flatMap((c) => {
      const got = attempt(() =>
        atOnce(
          new JsonTriples({ names: dgraphNames, text: c.input, blankPrefix: 'dg.1' }).convert(
            scanJson(c.input),
            c.mode ?? 'set',
          ),
        ),
      );
      if (got instanceof GraphsteadError) return verdict(c, false);
      const view = got.map((triple) => {
        const shown = described(triple);
        const value = shown['objectValue'] as { value: unknown } | undefined;
        return {
          ...(normalized(shown) as object),
          Predicate: shown['predicate'],
          ObjectValue: { strVal: value?.value },
          Facets: shown['facets'] ?? [],
        };
      });
      for (const check of c.checks ?? []) {
        if (check.kind === 'equal' && check.path?.length === 1) {
          expect(view[check.path[0] as number], c.name).toMatchObject(normalized(check.value) as object);
        }
      }
      const others = (c.checks ?? []).filter(({ kind, path }) => kind === 'count' || (path?.length ?? 0) > 1);
      const problems = others.map((check) => problemOf(view, check)).filter((problem) => problem !== undefined);
      return [...verdict(c, true), ...problems.map((problem) => `${c.name}: ${problem}`)];
    });
    expect(wrong).toEqual([]);
  });
});
