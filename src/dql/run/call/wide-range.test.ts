import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../../test/open-dql.js';
import { systemClock } from '../../../base/index.js';
import type { GraphReader } from '../../../graph/index.js';
import { parseQuery, runQuery } from '../../index.js';

/** each with a value of its own: more than are united without a pause */
const NODES = 40_000;

let dql: OpenDql;
beforeAll(async () => {
  dql = await openDql({ schema: 'rank: int @index(int) .' });
  const lines = Array.from({ length: NODES }, (_, i) => `<${i + 1}> <rank> "${(i * 7_919) % NODES}" .`);
  await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
});
afterAll(() => dql.close());

/** How often a query looks at the time once it has read the last token of a range, and how many nodes it found. */
async function looksBehindTokens(text: string): Promise<{ readonly looks: number; readonly found: number }> {
  const transaction = await dql.graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  let looks = 0;
  const clock = { ...systemClock, monotonic: () => looks++ };
  const tokens: GraphReader['tokens'] = async function* (...range) {
    yield* reader.tokens(...range);
    looks = 0;
  };
  const watched = new Proxy(reader, {
    get: (target, name) => {
      if (name === 'tokens') return tokens;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const { roots } = await runQuery(parseQuery(text), watched, { clock });
  reader.release();
  transaction.abort();
  return { looks, found: roots[0].rows?.[0].length ?? 0 };
}

it('unites the nodes of a range of very many values with looks at the time', async () => {
  const few = await looksBehindTokens(`{ q(func: ge(rank, ${NODES - 10})) { count(uid) } }`);
  const many = await looksBehindTokens('{ q(func: ge(rank, 10)) { count(uid) } }');
  expect([few.found, many.found]).toEqual([10, NODES - 10]);
  expect(many.looks).toBeGreaterThan(few.looks + 1);
});
