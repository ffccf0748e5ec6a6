import { describe, expect, it } from 'vitest';
import { atOnce, GraphsteadError } from '../../base/index.js';
import { parseMutationSteps, parseQuery } from './index.js';

/** What begins with the graph language gets wrong, and what it is told to do. */
const QUERIES: readonly (readonly [text: string, fix: string])[] = [
  ['{ q(func: has(a)) @filter(name == "A") { a } }', 'A condition is a function, as in eq(name, "Ada").'],
  [
    '{ q(func: has(a)) @filter(has(a) && has(b)) { a } }',
    'Join conditions by "and", "or" and "not", and close each bracket.',
  ],
  [
    '{ q(func: has(a)) @filter(has(a), has(b)) { a } }',
    'Join conditions by "and", "or" and "not", and close each bracket.',
  ],
  [
    '{ q(func: has(a)) { b @filter(eq(a, "x") { a } } }',
    'Join conditions by "and", "or" and "not", and close each bracket.',
  ],
  [
    '{ q(func: has(a)) { b @facets(eq(c, 1) { a } } }',
    'Join conditions by "and", "or" and "not", and close each bracket.',
  ],
  ['{ q(func: has(a)) @filter has(b) { a } }', 'Write the condition in brackets, as in (eq(name, "Ada")).'],
  ['{ q(func: has(a) and has(b)) { a } }', 'Conditions beside the function stand in @filter(...), behind the ")".'],
  ['{ q(func: count(b)) { a } }', 'Compare it, as in eq(count(x), 1).'],
  ['{ q(has(a)) { a } }', 'Write func: has(...).'],
  [`{ q(func: eq(a, 'x')) { a } }`, 'Remove it, or put the text in double quotes.'],
  ['{ q(func: has(a)) { * } }', 'Name the fields, or write expand(_all_) for all that the types of a node have.'],
  ['{ q(func: has(a)) { b @recurse(depth: 3) { a } } }', 'q(func: uid(x)) @recurse(depth: 3) { ... }'],
  ['{ q(func: has(a)) { b @recurse { a } } }', 'q(func: uid(x)) @recurse(depth: 3) { ... }'],
  ['{ q(func: has(a)) { x as a y: math(x plus 1) } }', 'Operators are + - * / %, comparisons, && and ||.'],
];

const MUTATIONS: readonly (readonly [text: string, fix: string])[] = [
  [
    'upsert { query { v as var(func: has(a)) } mutation @if(len(v) == 0) { set { uid(v) <a> "x" . } } }',
    'Compare it, as in eq(len(x), 1).',
  ],
  ['upsert { query { v as var(func: has(a)) } set { uid(v) <a> "x" . } }', 'What it does stands in mutation { ... }.'],
];

function told(parse: () => unknown): GraphsteadError {
  try {
    parse();
  } catch (error) {
    if (error instanceof GraphsteadError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a mistake of a beginner is told with what to write', () => {
  const all = [
    ...QUERIES.map(([text, fix]) => [text, fix, () => parseQuery(text)] as const),
    ...MUTATIONS.map(([text, fix]) => [text, fix, () => atOnce(parseMutationSteps(text))] as const),
  ];
  for (const [text, fix, parse] of all) {
    it(text, () => {
      const error = told(parse);
      expect(error.fix).toContain(fix);
      expect(error.position?.line).toBe(1);
    });
  }
});
