import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../test/open-dql.js';
import { type Limits, makeLimits, STEP, systemClock } from '../../base/index.js';
import { parseQuery, runQuery } from '../index.js';
import { BATCH } from './batch.js';

/** Stops 1 to 6: the direct way from 1 to 4 is dear, the way over 2 and 3 cheap; 5 is a dead end, 6 is alone. */
const DATA = `{ set {
  <0x1> <rail> <0x4> (cost=10) .
  <0x1> <rail> <0x2> (cost=1) .
  <0x2> <rail> <0x3> (cost=2) .
  <0x3> <rail> <0x4> (cost=3) .
  <0x2> <rail> <0x4> .
  <0x3> <rail> <0x1> (cost=1) .
  <0x1> <road> <0x5> .
  <0x5> <road> <0x4> .
  <0x1> <name> "one" .
  <0x4> <name> "four" .
} }`;

let dql: OpenDql;
beforeAll(async () => {
  dql = await openDql({ schema: 'rail: [uid] @reverse .\nroad: [uid] .\nname: string @index(exact) .' });
  await dql.mutate(DATA);
});
afterAll(() => dql.close());

/** Each path as the numbers of its stops, with its weight. */
async function paths(block: string): Promise<string[]> {
  const { _path_ } = await dql.query(`{ ${block} }`);
  return ((_path_ ?? []) as Step[]).map((path) => `${stops(path).join('-')} ${path._weight_}`);
}

interface Step {
  readonly uid: string;
  readonly _weight_?: number;
  readonly [edge: string]: unknown;
}

function stops(step: Step): number[] {
  const next = Object.values(step).find((value) => typeof value === 'object') as Step | undefined;
  return [Number(step.uid), ...(next ? stops(next) : [])];
}

describe('shortest', () => {
  it('takes the fewest steps', async () => {
    expect(await paths('shortest(from: 0x1, to: 0x3) { rail }')).toEqual(['1-2-3 2']);
    expect(await paths('shortest(from: 0x1, to: 0x4) { rail road }')).toEqual(['1-4 1']);
    expect(await paths('shortest(from: 0x4, to: 0x1) { ~rail }')).toEqual(['4-1 1']);
  });

  it('takes the cheaper of two edges over one step, with what that one holds', async () => {
    await dql.mutate(`{ set {
      <0x30> <rail> <0x31> (cost=3) .
      <0x30> <rail> <0x32> (cost=0.5) .
      <0x30> <rail> <0x33> .
      <0x30> <road> <0x31> .
      <0x30> <road> <0x32> .
      <0x31> <road> <0x33> .
      <0x32> <rail> <0x33> (cost=1.5) .
    } }`);
    const block = 'shortest(from: 0x30, to: 0x33, numpaths: 2) { rail @facets(cost) road }';
    expect((await dql.query(`{ ${block} }`))._path_).toEqual([
      { uid: '0x30', _weight_: 2, road: { uid: '0x31', road: { uid: '0x33' } } },
      {
        uid: '0x30',
        _weight_: 2,
        rail: { uid: '0x32', 'rail|cost': 0.5, rail: { uid: '0x33', 'rail|cost': 1.5 } },
      },
    ]);
    const single = 'shortest(from: 0x30, to: 0x32) { road rail @facets(cost) }';
    expect((await dql.query(`{ ${single} }`))._path_).toEqual([
      { uid: '0x30', _weight_: 0.5, rail: { uid: '0x32', 'rail|cost': 0.5 } },
    ]);
  });

  it('reads nothing behind what is as far away as the end', async () => {
    const transaction = await dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    const read = async (block: string) => (await runQuery(parseQuery(`{ ${block} }`), reader, {})).numUids['rail'];
    // 2 and 4 lie side by side: the edges of 1 alone are read; where a second path may lead over 4, more
    expect(await read('shortest(from: 0x1, to: 0x2) { rail }')).toBe(1);
    expect(await read('shortest(from: 0x1, to: 0x3) { rail }')).toBe(3);
    expect(await read('shortest(from: 0x1, to: 0x2, numpaths: 2) { rail }')).toBeGreaterThan(1);
    reader.release();
    transaction.abort();
  });

  it('weighs edges by a facet, and takes none without it', async () => {
    expect(await paths('shortest(from: 0x1, to: 0x4) { rail @facets(cost) }')).toEqual(['1-2-3-4 6']);
  });

  it('finds several paths, cheapest first, none twice and none with a stop twice', async () => {
    expect(await paths('shortest(from: 0x1, to: 0x4, numpaths: 5) { rail @facets(cost) }')).toEqual([
      '1-2-3-4 6',
      '1-4 10',
    ]);
    expect(await paths('shortest(from: 0x1, to: 0x4, numpaths: 2) { rail @facets(cost) }')).toHaveLength(2);
    expect((await paths('shortest(from: 0x1, to: 0x4, numpaths: 9) { rail road }')).sort()).toEqual([
      '1-2-3-4 3',
      '1-2-4 2',
      '1-4 1',
      '1-5-4 2',
    ]);
  });

  it('keeps to its weights, its depth and its filters', async () => {
    expect(await paths('shortest(from: 0x1, to: 0x4, numpaths: 5, minweight: 7) { rail @facets(cost) }')).toEqual([
      '1-4 10',
    ]);
    expect(await paths('shortest(from: 0x1, to: 0x4, numpaths: 5, maxweight: 7) { rail @facets(cost) }')).toEqual([
      '1-2-3-4 6',
    ]);
    expect(await paths('shortest(from: 0x1, to: 0x4, depth: 1) { rail @facets(cost) }')).toEqual(['1-4 10']);
    expect(await paths('shortest(from: 0x1, to: 0x4) { rail @facets(cost) @filter(not uid(0x2)) }')).toEqual([
      '1-4 10',
    ]);
  });

  it('finds the one path that weighs enough, also where it goes a dearer way to a stop', async () => {
    const own = await openDql({ schema: 'way: [uid] .' });
    const ways = ['1> <way> <2> (w=1)', '1> <way> <3> (w=1)', '3> <way> <2> (w=5)', '2> <way> <4> (w=1)'];
    await own.mutate(`{ set { ${ways.map((way) => `<${way} .`).join('\n')} } }`);
    const path = async (least: number) => {
      const block = `shortest(from: 1, to: 4, minweight: ${least}) { way @facets(w) }`;
      return (((await own.query(`{ ${block} }`))['_path_'] ?? []) as Step[]).map(stops);
    };
    expect(await path(0)).toEqual([[1, 2, 4]]);
    expect(await path(5)).toEqual([[1, 3, 2, 4]]);
    expect(await path(8)).toEqual([]);
    await own.close();
  });

  it('finds nothing where no way leads', async () => {
    expect(await paths('shortest(from: 0x1, to: 0x6) { rail road }')).toEqual([]);
    expect(await dql.query('{ p as shortest(from: 0x1, to: 0x6) { rail } q(func: uid(p)) { name } }')).toEqual({
      q: [],
    });
  });

  it('takes its ends from variables and gives the stops of the best path, in their order', async () => {
    const { q } = await dql.query(`{
      a as var(func: eq(name, "four")) b as var(func: eq(name, "one"))
      p as shortest(from: uid(a), to: uid(b)) { ~rail @facets(cost) }
      q(func: uid(p)) { uid }
    }`);
    expect(q).toEqual([{ uid: '0x4' }, { uid: '0x3' }, { uid: '0x2' }, { uid: '0x1' }]);
  });

  it('refuses more than one weight', async () => {
    await expect(paths('shortest(from: 0x1, to: 0x4) { rail @facets(cost, other) }')).rejects.toMatchObject({
      code: 'INVALID_QUERY',
    });
  });
});

describe('in any graph, shortest', () => {
  const NODES = 6;
  const node = fc.integer({ min: 1, max: NODES });
  const edge = fc.record({ from: node, to: node, road: fc.boolean(), cost: fc.option(fc.integer({ min: 0, max: 4 })) });
  type Edge = Readonly<{ from: number; to: number; road: boolean; cost: number | null }>;

  /** Weights of all ways from 1 to 2 without a stop twice, by their stops; a road costs 1, a rail what it says, and none without it. */
  function ways(edges: readonly Edge[], weighed: boolean): Map<string, number> {
    const costs = new Map<string, number>();
    // of two of one kind over one step the last holds
    const kinds = new Map(edges.map((one) => [`${one.from}-${one.to} ${one.road}`, one]));
    for (const { from, to, road, cost } of kinds.values()) {
      const own = road || !weighed ? 1 : cost;
      if (own !== null) costs.set(`${from}-${to}`, Math.min(own, costs.get(`${from}-${to}`) ?? own));
    }
    const found = new Map<string, number>();
    const go = (way: readonly number[], weight: number): void => {
      const last = way[way.length - 1];
      if (last === 2) found.set(way.join('-'), weight);
      for (let next = 1; last !== 2 && next <= NODES; next++) {
        const cost = costs.get(`${last}-${next}`);
        if (cost !== undefined && !way.includes(next)) go([...way, next], weight + cost);
      }
    };
    go([1], 0);
    return found;
  }

  it('finds all ways, cheapest first, and the best alone', async () => {
    let graphs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(edge, { maxLength: 20 }), fc.boolean(), async (edges, weighed) => {
        const base = ++graphs * 0x100;
        const line = ({ from, to, road, cost }: Edge) =>
          `<${base + from}> <${road ? 'road' : 'rail'}> <${base + to}> ${cost === null ? '' : `(cost=${cost})`} .`;
        await dql.mutate(`{ set {\n${edges.map(line).join('\n')}\n} }`);
        const all = ways(edges, weighed);
        const weights = [...all.values()].sort((a, b) => a - b);
        const ask = async (args: string) => {
          const block = `shortest(from: ${base + 1}, to: ${base + 2}, ${args}) { road rail ${weighed ? '@facets(cost)' : ''} }`;
          const { _path_ } = await dql.query(`{ ${block} }`);
          return ((_path_ ?? []) as Step[]).map((path) => {
            const way = stops(path).map((stop) => stop - base);
            expect(all.get(way.join('-'))).toBe(path._weight_);
            return path._weight_;
          });
        };
        expect(await ask('numpaths: 100')).toEqual(weights);
        expect(await ask('numpaths: 1')).toEqual(weights.slice(0, 1));
        expect(await ask('numpaths: 2, minweight: 3')).toEqual(weights.filter((weight) => weight >= 3).slice(0, 2));
        expect(await ask('numpaths: 100, maxfrontiersize: 1000, maxweight: 4')).toEqual(
          weights.filter((weight) => weight <= 4),
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe('the routes that are open', () => {
  // 1, then 20 stops, each with ways to 20 more, and those to 2: 400 ways through
  const layers = [[1], range(100), range(200), [2]];
  const lines = layers.flatMap((layer, i) =>
    layer.flatMap((from) => (layers[i + 1] ?? []).map((to) => `<${from}> <leads> <${to}> .`)),
  );
  const ask = async (args: string, limits: Partial<Limits> = {}) => {
    const open = await openDql();
    await open.mutate(`{ set {\n${lines.join('\n')}\n} }`);
    const transaction = await open.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    try {
      const query = parseQuery(`{ p as shortest(from: 1, to: 2, ${args}) { leads } q(func: uid(p)) { uid } }`);
      const { roots } = await runQuery(query, reader, { limits: makeLimits(limits) });
      return roots.flatMap(({ paths = [] }) => paths);
    } finally {
      reader.release();
      transaction.abort();
      await open.close();
    }
  };

  function range(from: number): number[] {
    return Array.from({ length: 20 }, (_, i) => from + i);
  }

  it('are bounded, by a limit that the refusal names', async () => {
    await expect(ask('numpaths: 400', { shortestRoutes: 300 })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('limits.shortestRoutes'),
    });
    expect(await ask('numpaths: 400')).toHaveLength(400);
  });

  it('are the best of them where the query says how many', async () => {
    const paths = await ask('numpaths: 400, maxfrontiersize: 100', { shortestRoutes: 300 });
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.length).toBeLessThan(400);
  });

  it('are one for each node where one path is asked for', async () => {
    expect(await ask('numpaths: 1', { shortestRoutes: 40 })).toHaveLength(1);
  });
});

it('looks whether to pause while it goes through the many edges of one node', async () => {
  const open = await openDql();
  const lines = Array.from({ length: 5_000 }, (_, i) => `<0x1> <leads> <${0x100 + i}> .`);
  await open.mutate(`{ set {\n${lines.join('\n')}\n<0x2> <leads> <0x1> . } }`);
  const transaction = await open.graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  let looks = 0;
  const clock = { ...systemClock, monotonic: () => looks++ };
  // to nowhere, so that all are looked at
  const query = '{ p as shortest(from: 0x2, to: 0xffff) { leads } q(func: uid(p)) { uid } }';
  await runQuery(parseQuery(query), reader, { clock });
  // while each is pushed, and while what they lead to is looked at
  expect(looks).toBeGreaterThan((2 * 5_000) / STEP);
  reader.release();
  transaction.abort();
  await open.close();
});

it('looks whether to pause while it gathers a level of many nodes', async () => {
  const open = await openDql();
  const many = 20_000;
  const lines = Array.from({ length: many }, (_, i) => `<${0x100 + (i % 100)}> <leads> <${0x1000 + i}> .`);
  for (let i = 0; i < 100; i++) lines.push(`<0x1> <leads> <${0x100 + i}> .`);
  await open.mutate(`{ set {\n${lines.join('\n')}\n} }`);
  const transaction = await open.graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  const looksOf = async (args: string): Promise<number> => {
    let looks = 0;
    const clock = { ...systemClock, monotonic: () => looks++ };
    const query = `{ p as shortest(from: 0x1, to: 0xffffff, ${args}) { leads } q(func: uid(p)) { uid } }`;
    await runQuery(parseQuery(query), reader, { clock });
    return looks;
  };
  // the nodes of the third level are read a batch at a time
  expect((await looksOf('depth: 3')) - (await looksOf('depth: 2'))).toBeGreaterThan((2 * many) / BATCH);
  reader.release();
  transaction.abort();
  await open.close();
});
