import { describe, expect, it } from 'vitest';
import { atOnce, GraphsteadError } from '../base/index.js';
import { parseJsonMutationSteps } from './json/index.js';
import { parseMutationSteps, parseQuery } from './parse/index.js';
import { nquadLineParser } from './rdf/index.js';
import { applyMath } from './run/math-operator.js';

const QUERIES = [
  '{ v as var(func: has(w)) { u as w } q(func: eq(a, ["x", 3]), first: -2, orderasc: val(u)) @filter(near(p, [1.5, -2], 10) and regexp(b, /a(b|c)+/i)) { n: a@en:fr y: math(u + cond(u > 1, 2, 3)) } r(func: uid(v)) { a } }',
  'query q($a: int = 2, $b: string = x) { q(func: uid(0x1f)) @filter(gt(a, $a) or eq(b, $b)) @cascade(a, b) { expand(_all_) } r(func: has(a)) @groupby(c) { count(uid) } }',
  '{ q(func: type(T)) @recurse(depth: 3, loop: true) { b @facets(eq(c, 1) and le(d, "x")) @facets(n: e) checkpwd(p, "s") } }',
  'schema(pred: [a, b]) { type index }',
];
const MUTATIONS = [
  'upsert { query { v as var(func: has(a)) } mutation @if(eq(len(v), 0)) { set { uid(v) <a> "x"@en . } delete { <0x1> * * . } } }',
];
const STATEMENTS = [
  '<0x1f> <a@en> "x\\u0041"^^<xs:string> (k="v", n=3) . # end',
  '_:b <c> uid(v) (k=2006-01-02) .',
  'uid(v) <d> val(w) .',
];
const BODIES = [
  '{"query": "{ v as var(func: has(a)) }", "cond": "@if(eq(len(v), 0))", "set": [{"uid": "uid(v)", "a@en": "x", "b|k": 1, "b": -2.5e3, "c": [{"d": null, "e": true}]}]}',
];

/** A text cut short at each place, without each of its characters, and with another in place of it. */
function* damaged(text: string): Generator<string> {
  for (let at = 1; at < text.length; at++) {
    yield text.slice(0, at);
    yield text.slice(0, at) + text.slice(at + 1);
    for (const other of '$"({,.@-7') yield text.slice(0, at) + other + text.slice(at + 1);
  }
}

/** What refuses nothing that is damaged would show nothing; refusals that leave something out are told with their text. */
function unhelpful(texts: readonly string[], read: (text: string) => unknown): { refused: number; found: string[] } {
  const found = new Set<string>();
  let refused = 0;
  for (const text of texts.flatMap((whole) => [...damaged(whole)])) {
    try {
      read(text);
    } catch (error) {
      refused++;
      const { message, position, fix } = error as GraphsteadError;
      if (!(error instanceof GraphsteadError) || !position || !fix) found.add(`${message} <- ${text}`);
    }
  }
  return { refused, found: [...found].slice(0, 20) };
}

describe('a text that is refused', () => {
  it.each([
    ['query', QUERIES, (text: string) => parseQuery(text)],
    ['mutation', MUTATIONS, (text: string) => atOnce(parseMutationSteps(text))],
    ['N-Quad', STATEMENTS, (text: string) => nquadLineParser()(text)],
    ['JSON mutation', BODIES, (text: string) => atOnce(parseJsonMutationSteps(text))],
  ] as const)('is told where and what to do about it: %s', (_what, texts, read) => {
    for (const text of texts) expect(() => read(text)).not.toThrow();
    const { refused, found } = unhelpful(texts, read);
    expect(refused).toBeGreaterThan(100);
    expect(found).toEqual([]);
  });

  it.each([
    ['sqrt', [{ type: 'int', value: -1 }]],
    ['ln', [{ type: 'string', value: 'x' }]],
    ['exp', [{ type: 'int', value: 1000 }]],
    ['cond', [{ type: 'int', value: 1 }]],
    [
      'dot',
      [
        { type: 'int', value: 1 },
        { type: 'int', value: 2 },
      ],
    ],
    [
      '*',
      [
        { type: 'int', value: 2n ** 62n },
        { type: 'int', value: 2 },
      ],
    ],
  ] as const)('says what to do about math that has no result: %s', (op, args) => {
    expect(() => applyMath(op, args, { now: 0 })).toThrow(
      expect.objectContaining({ fix: expect.stringMatching(/\w/) }),
    );
  });
});
