import { expect, it } from 'vitest';
import { atOnce, STEP } from '../base/index.js';
import type { AppManifest, TypeUse } from './contract.js';
import { Converter } from './convert.js';

const fromApp = (converter: Converter, use: TypeUse, value: unknown) => atOnce(converter.fromApp(use, value));

const json: TypeUse = { kind: 'named', name: 'JSON', nullable: true };
const manifest: AppManifest = {
  format: 1,
  operations: [],
  types: [{ kind: 'object', name: 'Order', fields: [{ name: 'extra', type: json }] }],
};
const orders: TypeUse = { kind: 'list', nullable: false, of: { kind: 'named', name: 'Order', nullable: false } };

it('a JSON result that JSON would change is refused with its place, and a Date is its text', () => {
  const converter = new Converter(manifest);
  const given = [{ extra: { at: new Date(0), left: undefined, list: [1, 'a', null] } }];
  expect(fromApp(converter, orders, given)).toEqual(given);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const losses = [
    [{ tags: [new Map()] }, 'extra.tags[0]'],
    [{ price: Number.NaN }, 'extra.price'],
    [[undefined], 'extra[0]'],
    [new Set(), 'extra'],
    [circle, 'extra.self'],
  ] as const;
  for (const [extra, valuePath] of losses) {
    expect(() => fromApp(converter, orders, [{ extra }])).toThrow(
      expect.objectContaining({ code: 'FUNCTION_FAILED', details: { valuePath } }),
    );
  }
  expect(() => fromApp(converter, json, new Map())).toThrow('result is an instance of Map');
});

it('a result of another kind than its type is refused, also one whose fields would all be null', () => {
  const converter = new Converter(manifest);
  const text: TypeUse = { kind: 'named', name: 'String', nullable: true };
  const wrong: readonly (readonly [TypeUse, unknown, string])[] = [
    [orders, new Set([{}]), 'a Set where a list was promised for result'],
    [orders, {}, 'an Object where a list was promised for result'],
    [orders, [[]], 'a list where Order was promised'],
    [orders, [new Map()], 'a Map where Order was promised'],
    [orders, [new Date(0)], 'a Date where Order was promised'],
    [orders, ['x'], 'a string where Order was promised'],
    [text, ['x'], 'a list where String was promised for result'],
  ];
  for (const [use, given, told] of wrong) {
    expect(() => fromApp(converter, use, given)).toThrow(
      expect.objectContaining({ code: 'FUNCTION_FAILED', message: `the function gave ${told}` }),
    );
  }
});

it('a number that is none of those of its type is refused, as an argument and as a result', () => {
  const converter = new Converter(manifest);
  const level: TypeUse = { kind: 'named', name: 'Float', nullable: false, oneOf: [1, 2] };
  const levels: TypeUse = { kind: 'list', nullable: false, of: level };
  expect([converter.toApp(levels, [1, 2]), fromApp(converter, levels, [2, 1])]).toEqual([
    [1, 2],
    [2, 1],
  ]);
  expect(() => converter.toApp(levels, [1, 7])).toThrow(
    expect.objectContaining({ code: 'INVALID_VALUE', message: '7 is none of 1, 2' }),
  );
  expect(() => fromApp(converter, levels, [1, 7])).toThrow(
    expect.objectContaining({
      code: 'FUNCTION_FAILED',
      message: 'the function gave 7 for result, which is none of 1, 2',
    }),
  );
});

it('a value that is not the one of its literal type is refused', () => {
  const converter = new Converter(manifest);
  const sure: TypeUse = { kind: 'named', name: 'Boolean', nullable: true, oneOf: [true] };
  const kind: TypeUse = { kind: 'named', name: 'String', nullable: false, oneOf: ['circle'] };
  expect([converter.toApp(sure, true), converter.toApp(sure, null), converter.toApp(kind, 'circle')]).toEqual([
    true,
    undefined,
    'circle',
  ]);
  expect(() => converter.toApp(sure, false)).toThrow('false is none of true');
  expect(() => converter.toApp(kind, 'square')).toThrow('square is none of circle');
});

it('a time as an argument is read as those of stored types are', () => {
  const converter = new Converter(manifest);
  const time: TypeUse = { kind: 'named', name: 'DateTime', nullable: false };
  const read = (text: string) => (converter.toApp(time, text) as Date).toISOString();
  expect(read('2026-01-31T12:00:00.123456789+02:00')).toBe('2026-01-31T10:00:00.123Z');
  expect(read('1969-12-31T23:59:59.5Z')).toBe('1969-12-31T23:59:59.500Z');
  expect(read('2026-01-31T12:00:00')).toBe('2026-01-31T12:00:00.000Z');
  for (const text of ['2026-02-30T00:00:00Z', '2026-02-30', '1', 'March 7', '', '+010000-01-01T00:00:00Z']) {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  }
});

it('what is not given is null where the type knows no undefined', () => {
  const named = { kind: 'named', name: 'String', nullable: true } as const;
  const fields = [
    { name: 'must', type: { ...named, null: true, present: true } },
    { name: 'may', type: { ...named, null: true } },
  ];
  const converter = new Converter({ format: 1, operations: [], types: [{ kind: 'input', name: 'In', fields }] });
  const given = (value: object) => converter.toApp({ kind: 'named', name: 'In', nullable: false }, value);
  expect(given({})).toStrictEqual({ must: null });
  expect(given({ must: 'a', may: null })).toStrictEqual({ must: 'a', may: null });
  expect(converter.toApp(fields[0].type, undefined)).toBe(null);
  expect(converter.toApp(fields[1].type, undefined)).toBe(undefined);
});

it('a field that is named as what every object has is null where it is not given', () => {
  const text = { kind: 'named', name: 'String', nullable: true } as const;
  const fields = [{ name: 'constructor', type: text }];
  const converter = new Converter({ format: 1, operations: [], types: [{ kind: 'object', name: 'Car', fields }] });
  const given = (value: object) => fromApp(converter, { kind: 'named', name: 'Car', nullable: false }, value);
  expect(given({})).toStrictEqual({ constructor: null });
  expect(given({ constructor: 'Lotus' })).toStrictEqual({ constructor: 'Lotus' });
});

it('a result whose objects lead back to each other is converted once each, and one that is too deep is told', () => {
  const named = (name: string, nullable = true): TypeUse => ({ kind: 'named', name, nullable });
  const tagged = (type: string) => [
    { name: 'kind', type: named('String', false) },
    { name: 'next', type: named(type) },
    { name: 'other', type: named(type) },
  ];
  const converter = new Converter({
    format: 1,
    operations: [],
    types: [
      { kind: 'object', name: 'Step', fields: tagged('Step') },
      { kind: 'object', name: 'Door', fields: tagged('Way') },
      { kind: 'union', name: 'Way', discriminant: 'kind', members: [{ type: 'Door', values: ['door'] }] },
    ],
  });
  interface Step {
    readonly kind: string;
    next?: Step;
    other?: Step;
  }
  for (const [type, extra] of [
    ['Step', {}],
    ['Way', { __typename: 'Door' }],
  ] as const) {
    const last: Step = { kind: 'door' };
    let first = last;
    // two ways to each: all ways together are 2 ** 40
    for (let i = 0; i < 40; i++) first = { kind: 'door', next: first, other: first };
    last.next = first;
    let at = fromApp(converter, named(type), first) as Step;
    for (let i = 0; i < 100; i++) at = (i % 2 === 0 ? at.next : (at.other ?? at.next)) as Step;
    expect(at).toMatchObject({ kind: 'door', ...extra });
  }
  let deep: Step = { kind: 'door' };
  for (let i = 0; i < 100_000; i++) deep = { kind: 'door', next: deep };
  expect(() => fromApp(converter, named('Step'), deep)).toThrow(
    expect.objectContaining({ code: 'FUNCTION_FAILED', message: expect.stringContaining('nests deeper') }),
  );
});

it('stops now and then in a long list, also of an object, and gives the same', () => {
  const page: TypeUse = { kind: 'named', name: 'Page', nullable: false };
  const fields = [
    { name: 'orders', type: orders },
    { name: 'at', type: { kind: 'named', name: 'DateTime', nullable: false } },
  ] as const;
  const converter = new Converter({
    ...manifest,
    types: [...manifest.types, { kind: 'object', name: 'Page', fields }],
  });
  const long = Array.from({ length: 10 * STEP }, (_, i) => ({ extra: i, more: 'left out' }));
  for (const [use, given, stops] of [
    [orders, long, 10],
    [page, { orders: long, at: new Date(0) }, 10],
    [orders, long.slice(0, STEP - 1), 0],
  ] as const) {
    const steps = converter.fromApp(use, given);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect(count).toBe(stops);
    expect(step.value).toEqual(fromApp(converter, use, given));
  }
  expect(fromApp(converter, page, { orders: long.slice(0, 1), at: new Date(0) })).toEqual({
    orders: [{ extra: 0 }],
    at: '1970-01-01T00:00:00.000Z',
  });
});

it('tells of an Int64 that no number holds how functions take it, and how messages, which carry no bigint', () => {
  const converter = new Converter(manifest);
  const int64: TypeUse = { kind: 'named', name: 'Int64', nullable: false };
  expect(converter.toApp(int64, '9007199254740991')).toBe(9007199254740991);
  expect(converter.toApp({ ...int64, bigint: true }, '9007199254740993')).toBe(9007199254740993n);
  expect(() => converter.toApp(int64, '9007199254740993')).toThrow(
    expect.objectContaining({
      code: 'INVALID_VALUE',
      message: '9007199254740993 is too large for an Int64 that is a number',
      fix: 'declare it as bigint; what a handler of an agent takes, as text',
    }),
  );
});
