import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGallery } from '../../../test/gallery.js';
import { type OpenDql, openDql } from '../../../test/open-dql.js';
import { type Clock, DEFAULT_LIMITS } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import { parseQuery, type RunOptions, type RunResult, runQuery } from '../index.js';

let dql: OpenDql;
let reader: GraphReader;
beforeAll(async () => {
  dql = await openGallery();
  const transaction = await dql.graph.begin({ bestEffort: true });
  reader = await transaction.reader();
});
afterAll(async () => {
  reader.release();
  await dql.close();
});

function run(options: RunOptions, text = '{ q(func: has(year)) { name painted { name } } }'): Promise<RunResult> {
  return runQuery(parseQuery(text), reader, options);
}

/** A clock that goes on by a step at every look. */
function ticking(step: number): Clock {
  let now = 0;
  return { wall: () => 0, monotonic: () => (now += step) };
}

describe('a running query', () => {
  it('ends at its deadline', async () => {
    await expect(run({ clock: ticking(10), deadline: 25 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    await expect(run({ clock: ticking(10), deadline: 100_000 })).resolves.toBeDefined();
  });

  it('ends when it is cancelled', async () => {
    const controller = new AbortController();
    const running = run({ clock: ticking(20), signal: controller.signal });
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('lets others run between its steps', async () => {
    let turns = 0;
    const immediate = setInterval(() => turns++, 0);
    const before = turns;
    await run({ clock: ticking(11) });
    await new Promise((resolve) => setImmediate(resolve));
    clearInterval(immediate);
    expect(turns).toBeGreaterThanOrEqual(before);
    let yielded = false;
    setImmediate(() => {
      yielded = true;
    });
    await run({ clock: ticking(11) });
    expect(yielded).toBe(true);
  });

  it('touches no more edges than it may', async () => {
    const limits = { ...DEFAULT_LIMITS, queryEdges: 4 };
    await expect(run({ limits })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await expect(run({ limits }, '{ q(func: uid(0x1)) { painted { name } } }')).resolves.toBeDefined();
  });

  it('tells for how many nodes it read each predicate', async () => {
    const { numUids } = await run({}, '{ q(func: type(Artist)) { name painted { name } } }');
    expect(numUids).toEqual({ name: 9, painted: 3, _total: 12 });
  });

  it('gives its variables', async () => {
    const { variables } = await run(
      {},
      '{ a as var(func: type(Artist)) { c as count(painted) } q(func: uid(a)) { val(c) } }',
    );
    expect([...(variables.get('a')?.uids ?? [])]).toEqual([1, 2, 3]);
    expect(variables.get('c')?.values?.values.map((one) => one.value)).toEqual([3, 2, 1]);
  });
});

describe('a long answer', () => {
  it('comes whole from many nodes', async () => {
    const big = await openDql({ schema: 'n: int .\nto: [uid] .' });
    const lines = Array.from({ length: 3_000 }, (_, i) => `<${i + 2}> <n> "${i}" .\n<1> <to> <${i + 2}> .`);
    await big.mutate(`{ set {\n${lines.join('\n')}\n} }`);
    const { q } = await big.query('{ q(func: uid(1)) { to { n } } }');
    expect((q as [{ to: { n: number }[] }])[0].to.map((one) => one.n)).toEqual(lines.map((_, i) => i));
    await big.close();
  });
});
