import { buildSchema, type GraphQLOutputType, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { selectionOf } from './selection.js';

const SCHEMA = buildSchema(`
  type Query { pair: Pair fan: Fan wide: Wide deep: Deep0 plain: [Plain!]! count: Int either: Either }
  type Pair { name: String left: Pair right: Pair }
  type Fan { a: Fan b: Fan c: Fan d: Fan e: Fan f: Fan name: String }
  type Wide { ${Array.from({ length: 1_200 }, (_, i) => `f${i}: Int`).join(' ')} }
  ${Array.from({ length: 10 }, (_, i) => `type Deep${i} { a: Deep${i + 1} b: Deep${i + 1} }`).join(' ')}
  type Deep10 { x: Int }
  type Plain { name: String inner: Inner again: Inner }
  type Inner { size: Int }
  union Either = Plain | Inner
`);

const of = (field: string) => selectionOf(SCHEMA.getQueryType()?.getFields()[field].type as GraphQLOutputType);
const isAnswered = (field: string) => validate(SCHEMA, parse(`{ ${field}${of(field).text} }`)).length === 0;

it('is everything, and nothing of a scalar', () => {
  expect(of('plain')).toEqual({ text: ' { name inner { size } again { size } }' });
  expect(of('count')).toEqual({ text: '' });
  expect(of('either').text).toBe(
    ' { __typename ... on Plain { name inner { size } again { size } } ... on Inner { size } }',
  );
});

it('goes into each field of a type that holds itself as deep as into the others', () => {
  const level = (left: number): string =>
    left === 0 ? '{ __typename }' : `{ name left ${level(left - 1)} right ${level(left - 1)} }`;
  const { text, levels } = of('pair');
  expect(levels).toBeLessThanOrEqual(8);
  expect(text).toBe(` ${level(levels ?? 0)}`);
});

it('goes less deep where there would be too many fields, and stays a document that is answered', () => {
  const fan = of('fan');
  // 7 + 6 * 7 + 36 * 7 are 301, and the next level has 216 * 7
  expect(fan.levels).toBe(3);
  expect(fan.text.match(/\bname\b/g)).toHaveLength(1 + 6 + 36);
  expect(['pair', 'fan', 'plain', 'wide', 'deep', 'count', 'either'].map(isAnswered)).not.toContain(false);
});

it('tells how many fields it has where the result has more', () => {
  expect([of('wide').fields, of('deep').fields, of('plain').fields]).toEqual([1_000, 1_000, undefined]);
});
