import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce, GraphsteadError, makeLimits } from '../../base/index.js';
import { parseJsonMutationSteps, parseJsonTriples } from '../json/index.js';
import { NQuadReader, nquadLineParser } from '../rdf/index.js';
import { nquadSteps, parseMutationSteps, parseQuery } from './index.js';
import { outlineMutationSteps } from './mutation.js';

const nquads = (text: string) => atOnce(nquadSteps(new NQuadReader({}), text));

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  parseQuery: (text) => parseQuery(text, { variables: { $a: '3' } }),
  parseMutation: (text) => atOnce(parseMutationSteps(text)),
  outlineMutation: (text) => atOnce(outlineMutationSteps(text, {})),
  parseJsonMutation: (text) => atOnce(parseJsonMutationSteps(text)),
  parseJsonTriples: (text) => parseJsonTriples(text),
  nquads,
  nquadLine: (text) => nquadLineParser()(text),
};

/** Pieces of all three languages: most texts of them go deep into a parser before they are refused. */
const PIECES = [
  ...'(){}[]<>:,@.*+-/%=!&|"\'\\#~$^;_?',
  ...['\n', ' ', '\t', '\u0000', 'é', '💥', '\ud800', '\ufeff'],
  ...['query', 'func', 'uid', 'var', 'as', 'and', 'or', 'not', 'count', 'val', 'math', 'expand', '_all_', 'schema'],
  ...[
    'fragment',
    'upsert',
    'mutation',
    'set',
    'delete',
    '@if',
    '@filter',
    '@facets',
    '@groupby',
    '@cascade',
    '@recurse',
  ],
  ...[
    'eq',
    'has',
    'regexp',
    'near',
    'first',
    'orderasc',
    'shortest',
    'from',
    'to',
    'name',
    'x',
    '$a',
    '0x1',
    '12',
    '-1.5e3',
  ],
  ...[
    '...f',
    '@en',
    '_:a',
    '<0x1>',
    '<name>',
    '"text"',
    '^^<xs:int>',
    '(a=1)',
    '{"set":',
    '"uid":',
    'null',
    'true',
    '\\u0041',
  ],
];
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((list) => list.join(' '));
const dense = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((list) => list.join(''));
const anything = fc.string({ unit: 'binary', maxLength: 200 });

const SAMPLES = [
  '{ q(func: eq(name@en, ["a", "b"]), first: -2, orderasc: val(n)) @filter(not has(x) and (ge(count(f), 1))) @cascade(a) { n as age f @facets(w as since) { uid } m: math(n * (2 + 1)) ...g } } fragment g { count(uid) }',
  'query t($a: int = 2) { p as shortest(from: 0x1, to: 0x2, numpaths: $a) { friend } q(func: uid(p)) @recurse(depth: 3) { name } }',
  'upsert { query { q(func: regexp(name, /^a\\/b/i)) { v as uid } } mutation @if(eq(len(v), 0)) { set { _:a <name@en> "x\\n" (k=1, l="m") . uid(v) <p> val(v) . } delete { uid(v) * * . } } }',
  '{"query": "{ v as var(func: has(a)) }", "set": [{"uid": "uid(v)", "name@en": "x", "f": [{"uid": "_:b", "f|k": 1.5}], "g": {"type": "Point", "coordinates": [1, 2]}}], "cond": "@if(gt(len(v), 0))"}',
  '<0x1> <name> "a \\u0041"^^<xs:string> (since=2006-01-02T15:04:05, x=true) .',
];

/** A sample with a few of its characters cut, doubled or replaced. */
const mutated = fc
  .tuple(
    fc.constantFrom(...SAMPLES),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 8 }), fc.constantFrom('', ...PIECES)), { minLength: 1, maxLength: 4 }),
  )
  .map(([sample, edits]) => {
    let text = sample;
    for (const [at, cut, piece] of edits) {
      const from = at % (text.length + 1);
      text = text.slice(0, from) + piece + text.slice(from + cut);
    }
    return text;
  });

describe.each(Object.entries(PARSERS))('%s', (_name, parse) => {
  it('answers any text with a tree or a GraphsteadError, at once', () => {
    fc.assert(
      fc.property(fc.oneof(pieces, dense, anything, mutated), (text) => {
        const from = process.cpuUsage();
        try {
          parse(text);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GraphsteadError);
          const error = thrown as GraphsteadError;
          expect(error.code).not.toBe('INTERNAL');
          if (error.position) expect(Number.isInteger(error.position.line) && error.position.column > 0).toBe(true);
        }
        // passwords are hashed slowly on purpose; no sample holds one
        expect(cpuSince(from)).toBeLessThan(500);
      }),
      { numRuns: 600 },
    );
  });

  it.each([
    ['an opening', '{', 200_000],
    ['a bracket', '(', 200_000],
    ['a list', '[', 200_000],
    ['a quote', '"', 200_001],
    ['a slash', '/', 200_001],
    ['a less-than', '<', 200_000],
    ['a backslash', '"\\', 100_000],
    ['an open name', '<a', 100_000],
    ['a set block', '{ set { <', 30_000],
    ['an upsert', 'upsert { query ', 30_000],
    ['a filter', '{ q(func: has(x)) @filter(not ', 30_000],
    ['a line', '_:a <b> "', 30_000],
    ['a JSON object', '{"set":', 100_000],
    ['a JSON list', '[{"a":', 100_000],
    ['an order', '(orderasc: a)', 20_000],
    ['a language', 'a:', 100_000],
  ])('stays linear in %s repeated', (_what, piece, times) => {
    const from = process.cpuUsage();
    expect(() => parse(piece.repeat(times))).toThrow(GraphsteadError);
    expect(cpuSince(from)).toBeLessThan(2_000);
  });
});

const LONG = makeLimits({ syntaxTokens: 5_000_000, queryFields: 1_000_000 });
/** no edge or value has more */
const facetsOf = (n: number) => Math.ceil((n * LONG.facets) / 40_000);
const readLong = (text: string) => parseQuery(text, { limits: LONG });

it.each<[string, (n: number) => void]>([
  ['arguments', (n) => readLong(`{ q(func: has(a)) { f ${indexed(n, (i) => `(orderasc: a${i})`)} } }`)],
  ['languages', (n) => readLong(`{ q(func: has(a)) { f@en${':en'.repeat(n)} } }`)],
  ['facets of a field', (n) => readLong(`{ q(func: has(a)) { f @facets(${indexed(n, (i) => `a${i}`, ',')}) } }`)],
  ['facets of a statement', (n) => nquads(`_:a <b> "c" (${indexed(facetsOf(n), (i) => `a${i}=1`, ',')}) .`)],
  ['facets of an object', (n) => parseJsonTriples(`{"a": 1, ${indexed(facetsOf(n), (i) => `"a|${i}": 1`, ',')}}`)],
  ['keys with facets', (n) => parseJsonTriples(`{${indexed(n, (i) => `"a${i}": 1, "a${i}|f": 2`, ',')}}`)],
  ['blocks', (n) => readLong(`{ ${indexed(n, (i) => `b${i}(func: has(a)) { uid }`)} }`)],
  [
    'variables',
    (n) =>
      readLong(
        `{ ${indexed(n, (i) => `v${i} as var(func: has(a))`)} q(func: uid(${indexed(n, (i) => `v${i}`, ',')})) }`,
      ),
  ],
  ['fields', (n) => readLong(`{ q(func: has(a)) { ${indexed(n, (i) => `f${i}`)} } }`)],
  ['conditions', (n) => readLong(`{ q(func: has(a)) @filter(has(b)${' or has(b) and has(c)'.repeat(n)}) }`)],
])('many %s take linear time', (_what, parse) => {
  // four times as many: linear work takes four times as long, quadratic work sixteen times
  const few = cpuOf(() => parse(10_000));
  expect(cpuOf(() => parse(40_000))).toBeLessThan(10 * few + 100);
});

/** CPU time in ms: what else the machine does is left out. */
function cpuSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

/** The least of three runs. */
function cpuOf(work: () => void): number {
  const runs = Array.from({ length: 3 }, () => {
    const from = process.cpuUsage();
    work();
    return cpuSince(from);
  });
  return Math.min(...runs);
}

function indexed(n: number, make: (i: number) => string, separator = ' '): string {
  return Array.from({ length: n }, (_, i) => make(i)).join(separator);
}
