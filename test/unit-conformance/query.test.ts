import { describe, expect, it } from 'vitest';
import { atOnce, dgraphNames, GraphsteadError } from '../../src/base/index.js';
import { readQuerySteps } from '../../src/dql/parse/query.js';
import { outlineMutationSteps } from '../../src/dql/parse/mutation.js';
import { viewOf } from './peer-query.js';
import { problemOf, type UnitCase, unitCases } from './unit-case.js';

const files = ['dql_parser_test.json', 'dql_dql_test.json', 'dql_upsert_test.json', 'dql_state_test.json'];
const cases = files.flatMap(unitCases);

/** What the peer finds out only when it runs the query; we say it at once. */
const LATER = /there is no function|unknown flags|cannot start from uid_in|stands twice among|len\(\.\.\.\) is only/;
/** A lexer takes what no parser does; what it refuses, none may take. */
const lexerOnly = ({ kind, valid }: UnitCase): boolean => kind === 'lex' && valid === true;

function attempt(c: UnitCase): { view: unknown } | GraphsteadError {
  try {
    const mutation = c.kind === 'mutation' || /^\s*(upsert|\{\s*(set|delete)\s*\{)/.test(c.input);
    if (mutation) {
      const { mutations } = atOnce(outlineMutationSteps(c.input, { names: dgraphNames }));
      return { view: { Mutations: mutations } };
    }
    const { document, refused } = atOnce(readQuerySteps(c.input, { variables: c.vars ?? {} }));
    if (refused && !LATER.test(refused.message)) throw refused;
    return { view: viewOf(document) };
  } catch (thrown) {
    if (thrown instanceof GraphsteadError) return thrown;
    throw thrown;
  }
}

describe.skipIf(cases.length === 0)('texts of the query language', () => {
  it('are accepted and refused as the public cases have it', () => {
    const wrong = cases
      .filter((c) => !lexerOnly(c))
      .flatMap((c) => {
        const got = attempt(c);
        const accepted = !(got instanceof GraphsteadError);
        return c.valid === null || c.valid === accepted ? [] : [`${c.name}: ${accepted ? 'accepted' : got.message}`];
      });
    expect(wrong).toEqual([]);
  });

  it('mean what the public cases say', () => {
    const wrong = cases
      .filter((c) => c.valid === true && c.kind === 'query')
      .flatMap((c) => {
        const got = attempt(c);
        if (got instanceof GraphsteadError) return [];
        const problems = (c.checks ?? []).map((check) => problemOf(got.view, check)).filter((p) => p !== undefined);
        return problems.map((problem) => `${c.name}: ${problem}`);
      });
    expect(wrong).toEqual([]);
  });
});
