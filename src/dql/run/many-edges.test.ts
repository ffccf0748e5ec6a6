import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../test/open-dql.js';
import { systemClock } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import { parseQuery, runQuery } from '../index.js';

const NODES = 3_000;
const MANY = Array.from({ length: NODES }, (_, i) => i).join(', ');

describe('what is worked out of many edges lets others have their turn', () => {
  let dql: OpenDql;
  let reader: GraphReader;

  beforeAll(async () => {
    dql = await openDql({
      schema: 'name: string .\nage: int .\ngrp: int .\nhub: uid .\nknows: [uid] @reverse .',
    });
    const lines: string[] = [];
    for (let i = 1; i <= NODES; i++) {
      lines.push(`<${i}> <service.type> "Node" .`, `<${i}> <age> "${i}" .`);
      lines.push(`<${i}> <grp> "1" .`, `<99999> <knows> <${i}> (w=${(i * 7_919) % NODES}) .`);
      for (let k = 1; k <= 3; k++) lines.push(`<${i}> <knows> <${((i * k * 31) % NODES) + 1}> (w=${(i * k) % 97}) .`);
    }
    await dql.mutate(`{ set {\n${lines.join('\n')}\n} }`);
    reader = await (await dql.graph.begin({ bestEffort: true })).reader();
  });
  afterAll(async () => {
    reader.release();
    await dql.close();
  });

  /** How often the query looks whether it is time to pause. */
  const looksOf = async (text: string): Promise<number> => {
    let looks = 0;
    const clock = { ...systemClock, monotonic: () => looks++ };
    await runQuery(parseQuery(text), reader, { clock });
    return looks;
  };

  it.each([
    [
      'ordered by a facet',
      'q(func: has(grp)) { knows @facets(orderasc: w) }',
      'q(func: has(grp)) { knows @facets(w) }',
      20,
    ],
    [
      'of one node, ordered',
      'q(func: uid(99999)) { knows @facets(orderasc: w) }',
      'q(func: uid(99999)) { knows @facets }',
      2,
    ],
    ['filtered', 'q(func: has(grp)) { knows @facets(gt(w, 5)) }', 'q(func: has(grp)) { knows @facets }', 20],
    [
      'of one node, in a variable',
      'var(func: uid(99999)) { knows @facets(x as w) } q(func: uid(x), first: 1) { uid }',
      'q(func: uid(99999)) { knows @facets(w) } p(func: uid(1)) { uid }',
      20,
    ],
    [
      'in a group',
      'var(func: has(age)) { a as age } q(func: has(age)) @groupby(grp) { max(val(a)) avg(val(a)) }',
      'var(func: has(age)) { a as age } q(func: has(age)) @groupby(grp) { count(uid) } p(func: uid(a), first: 1) { uid }',
      20,
    ],
    [
      'compared with many values',
      `q(func: has(age)) @filter(eq(age, [${MANY}]))`,
      'q(func: has(age)) @filter(eq(age, 5))',
      20,
    ],
    ['expanded', 'q(func: has(grp)) { expand(_all_) }', 'q(func: has(grp)) { service.type }', 8],
    [
      // what hangs on a variable of its own may differ at each level: edges are compared with those that were taken
      'recursed',
      'q(func: has(grp)) @recurse(depth: 2) { u as uid knows @filter(not uid(u) or uid(u)) }',
      'q(func: has(grp)) @recurse(depth: 2, loop: true) { u as uid knows @filter(not uid(u) or uid(u)) }',
      10,
    ],
  ])('%s', async (_, work, before, least) => {
    expect((await looksOf(`{ ${work} }`)) - (await looksOf(`{ ${before} }`))).toBeGreaterThanOrEqual(least);
  });

  it('in the same order as few', async () => {
    const { q } = await dql.query('{ q(func: uid(99999)) { knows @facets(orderdesc: w) { uid } } }');
    const [{ knows }] = q as [{ knows: { 'knows|w': number }[] }];
    const weights = knows.map((edge) => edge['knows|w']);
    expect(weights).toHaveLength(NODES);
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    const back = await dql.query('{ q(func: uid(1)) { ~knows @facets { uid } } }');
    expect(JSON.stringify(back)).toContain('{"uid":"0x1869f","~knows|w":1919}');
  });
});

it('a text that takes long to be parsed lets others have their turn before it runs', async () => {
  const dql = await openDql({ schema: 'name: string .', limits: { yieldMs: 1 } });
  const uids = Array.from({ length: 50_000 }, (_, i) => i + 1).join(', ');
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  // what is wrong stands behind it
  await expect(dql.query(`{ q(func: uid(${uids})) { name } } }`)).rejects.toMatchObject({ code: 'SYNTAX' });
  expect(turned).toBe(true);
  await dql.close();
});
