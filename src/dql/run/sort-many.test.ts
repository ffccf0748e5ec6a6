import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../test/open-dql.js';

/** more than are sorted at once, and so are those of one of two groups and of a text that begins like others */
const NODES = 12_000;

interface Row {
  readonly uid: number;
  readonly half: number;
  readonly number?: number;
  readonly wide: bigint;
  readonly share: number;
  readonly text?: string;
  readonly time: string;
}

let dql: OpenDql;
let rows: readonly Row[];

function rowOf(i: number): Row {
  const mixed = (i * 7_919) % NODES;
  return {
    uid: i,
    half: i % 2,
    ...(i % 13 ? { number: mixed - 6_000 } : {}),
    wide: 9_007_199_254_740_993n + BigInt(mixed % 5),
    share: (mixed - 5_000) / 7,
    ...(i % 11 ? { text: textOf(mixed) } : {}),
    time: `2020-01-01T00:00:${String(mixed % 60).padStart(2, '0')}.${String(mixed % 7)}+0${mixed % 3}:00`,
  };
}

/** Texts that begin alike for longer than a number holds, ends of others, and the same one many times. */
function textOf(i: number): string {
  if (i % 3 === 0) return 'one and the same text of many nodes';
  if (i % 3 === 1) return `https://host.example/${'a'.repeat(i % 9)}`;
  return `https://host.example/é/${i % 4_001}`;
}

beforeAll(async () => {
  dql = await openDql({
    schema: `half: int .
      number: int .
      wide: int .
      share: float .
      text: string .
      time: datetime .
      to: [uid] .
      type Thing { half }`,
  });
  rows = Array.from({ length: NODES }, (_, i) => rowOf(i + 1));
  const lines: string[] = [];
  for (const { uid, ...values } of rows) {
    lines.push(`<${uid}> <dgraph.type> "Thing" .`, `<0xfffff> <to> <${uid}> .`);
    for (const [name, value] of Object.entries(values)) lines.push(`<${uid}> <${name}> "${value}" .`);
  }
  await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
});
afterAll(() => dql.close());

type Field = Exclude<keyof Row, 'uid'>;
type Key = readonly [field: Field, descending: boolean];

/** -1, 0 or 1; texts by their bytes, times by their instants. */
function compare(field: Field, a: Row, b: Row): number {
  const [x, y] = [a[field], b[field]];
  if (typeof x === 'string' && typeof y === 'string') {
    return field === 'time' ? Math.sign(Date.parse(x) - Date.parse(y)) : Buffer.compare(Buffer.from(x), Buffer.from(y));
  }
  return x === y ? 0 : Number(x as number) < Number(y as number) || (x as bigint) < (y as bigint) ? -1 : 1;
}

function inOrder(keys: readonly Key[]): number[] {
  const sorted = [...rows].sort((a, b) => {
    for (const [field, descending] of keys) {
      const missing = Number(a[field] === undefined) - Number(b[field] === undefined);
      if (missing !== 0) return missing;
      // as Dgraph has it, of two without a value for a descending key the later comes first
      if (a[field] === undefined && descending && keys.length > 1) return b.uid - a.uid;
      if (a[field] === undefined) continue;
      const order = compare(field, a, b);
      if (order !== 0) return descending ? -order : order;
    }
    return a.uid - b.uid;
  });
  return sorted.map(({ uid }) => uid);
}

const orderOf = (keys: readonly Key[]) => keys.map(([field, down]) => `order${down ? 'desc' : 'asc'}: ${field}`).join();

async function uidsOf(query: string): Promise<number[]> {
  const { q } = (await dql.query(`{ ${query} }`)) as { q: { uid: string }[] };
  return q.map(({ uid }) => Number(uid));
}

const ORDERS: readonly (readonly Key[])[] = [
  [['number', false]],
  [['number', true]],
  [['wide', true]],
  [['share', false]],
  [['text', false]],
  [['text', true]],
  [['time', false]],
  [
    ['half', true],
    ['text', false],
    ['number', true],
  ],
  [
    ['text', true],
    ['half', false],
    ['share', true],
  ],
  [
    ['wide', false],
    ['time', true],
  ],
];

describe('the order of many nodes', () => {
  it.each(ORDERS.map((keys) => [orderOf(keys), keys] as const))('is that of their values: %s', async (order, keys) => {
    const wanted = inOrder(keys);
    expect(await uidsOf(`q(func: type(Thing), ${order}) { uid }`)).toEqual(wanted);
    for (const [first, offset] of [
      [5, 0],
      [30, 5_985],
      [3_000, 4_000],
      [-7, 0],
      [100, NODES - 50],
    ]) {
      const page = first < 0 ? wanted.slice(first) : wanted.slice(offset, offset + first);
      expect(await uidsOf(`q(func: type(Thing), ${order}, first: ${first}, offset: ${offset}) { uid }`)).toEqual(page);
    }
  });

  it('is cut to a page of one node’s edges, and follows each of several', async () => {
    const wanted = inOrder([['text', false]]);
    const below = async (order: string) => {
      const [{ to }] = (await dql.query(`{ q(func: uid(0xfffff)) { to(${order}) { uid } } }`)).q as [
        { to: { uid: string }[] },
      ];
      return to.map(({ uid }) => Number(uid));
    };
    expect(await below('orderasc: text, first: 10, offset: 6000')).toEqual(wanted.slice(6_000, 6_010));
    expect(await below('orderasc: text')).toEqual(wanted);
  });

  it('is that of a variable of numbers', async () => {
    const wanted = inOrder([['share', true]]).filter((uid) => rows[uid - 1].number !== undefined);
    const query = `v as var(func: has(number)) { s as share } q(func: uid(v), orderdesc: val(s), first: 50, offset: 3000) { uid }`;
    expect(await uidsOf(query)).toEqual(wanted.slice(3_000, 3_050));
  });
});
