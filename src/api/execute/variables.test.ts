import { buildSchema, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { expect, it, vi } from 'vitest';
import { Pace } from '../../dql/index.js';
import { InvalidDocument } from './document.js';
import { coerceInSteps, coerceVariables } from './variables.js';

const schema = buildSchema(`
  input Item { name: String! size: Int = 7 tags: [String!] parts: [Item] one: Item }
  input Choice @oneOf { item: Item items: [Item] }
  type Query { find(items: [[Item!]!], item: Item, choice: Choice, ids: [ID!]): Int }
`);

function operationOf(given: string): OperationDefinitionNode {
  const [node] = parse(`query (${given}) { find }`).definitions;
  if (node.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  return node;
}

const MANY = 10_000;
const many = <T>(make: (i: number) => T): T[] => Array.from({ length: MANY }, (_, i) => make(i));

/** A declaration and a value, good ones first. */
const GOOD: readonly (readonly [declared: string, value: unknown])[] = [
  ['$v: [ID!]', many((i) => i)],
  ['$v: [[Item!]!]', many((i) => ({ name: `n${i}` }))],
  ['$v: [[Item!]!]', [many((i) => ({ name: `n${i}`, tags: 'one' })), [{ name: 'last', size: null }]]],
  ['$v: Item', { name: 'top', parts: many((i) => (i % 2 ? null : { name: 'x', one: { name: 'y', parts: [] } })) }],
  ['$v: Item!', { name: 'top', one: { name: 'in', tags: many(String) } }],
  ['$v: Choice', { items: many((i) => ({ name: `n${i}`, size: i })) }],
];
const BAD: readonly (readonly [declared: string, value: unknown])[] = [
  ['$v: [ID!]', many((i) => (i === 9_000 ? null : i))],
  ['$v: Item', { parts: many(() => ({ name: 'x' })) }],
  ['$v: Item', { name: 'x', other: 1, parts: many(() => ({ name: 'x' })) }],
  ['$v: Item', { name: 'x', parts: many(() => ({ name: 'x', size: 'wide' })) }],
  ['$v: Choice', { item: { name: 'x' }, items: many(() => ({ name: 'x' })) }],
];

for (const [declared, value] of GOOD) {
  it(`coerces large variables in steps as others: ${declared}`, async () => {
    const operation = operationOf(declared);
    const coerced = coerceInSteps(schema, operation, { v: value }, {});
    expect(coerced).toBeInstanceOf(Promise);
    expect(await coerced).toEqual(coerceVariables(schema, operation, { v: value }));
  });
}

for (const [declared, value] of BAD) {
  it(`refuses large variables as others: ${declared}`, async () => {
    const operation = operationOf(declared);
    const refused = await Promise.resolve(coerceInSteps(schema, operation, { v: value }, {})).catch((error) => error);
    expect(refused).toBeInstanceOf(InvalidDocument);
    expect(() => coerceVariables(schema, operation, { v: value })).toThrow(refused.message);
  });
}

it('pauses between items of many values, however few the items are', async () => {
  const items = Array.from({ length: 100 }, (_, i) => ({ name: `n${i}`, tags: Array.from({ length: 100 }, String) }));
  const paused = vi.spyOn(Pace.prototype, 'pause');
  try {
    await coerceInSteps(schema, operationOf('$v: Item'), { v: { name: 'top', parts: items } }, {});
    expect(paused.mock.calls.length).toBeGreaterThanOrEqual(items.length);
  } finally {
    paused.mockRestore();
  }
});

it('coerces small variables at once', () => {
  expect(coerceInSteps(schema, operationOf('$v: Item'), { v: { name: 'x' } }, {})).toEqual({
    v: { name: 'x', size: 7 },
  });
});

it('takes texts and ids as they are, and nothing else for one', () => {
  const operation = operationOf('$v: ID!, $name: String');
  const coerce = (given: Record<string, unknown>) => coerceInSteps(schema, operation, given, {});
  expect(coerce({ v: '7', name: 'x', more: 1 })).toEqual({ v: '7', name: 'x' });
  expect(coerce({ v: 7, name: 'x' })).toEqual({ v: '7', name: 'x' });
  expect(coerce({ v: '7' })).toEqual({ v: '7' });
  expect(coerce({ v: '7', name: null })).toEqual({ v: '7', name: null });
  expect(() => coerce({ v: '7', name: 1 })).toThrow(InvalidDocument);
  expect(() => coerce({ name: 'x' })).toThrow(InvalidDocument);
  expect(coerceInSteps(schema, operationOf('$v: [ID!], $name: String = "y"'), { v: '7' }, {})).toEqual({
    v: ['7'],
    name: 'y',
  });
});
