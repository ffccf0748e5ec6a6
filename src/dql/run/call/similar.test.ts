import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenDql, openDql } from '../../../../test/open-dql.js';
import { systemClock } from '../../../base/index.js';
import { parseQuery, runQuery } from '../../index.js';

/** More than are compared one by one without an index. */
const VECTORS = 2_100;

describe('similar_to among many', () => {
  let dql: OpenDql;
  beforeAll(async () => {
    dql = await openDql({ schema: 'v: float32vector @index(hnsw(metric: "euclidean")) .\nodd: bool @index(bool) .' });
    const set = Array.from({ length: VECTORS }, (_, i) => ({
      v: `[${i % 50}, ${Math.floor(i / 50)}]`,
      odd: i % 2 === 1,
    }));
    await dql.mutateJson({ set });
  });
  afterAll(() => dql.close());

  /** How often a query looks whether to pause. */
  async function looksOf(block: string): Promise<number> {
    const transaction = await dql.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    let looks = 0;
    const clock = { ...systemClock, monotonic: () => looks++ };
    await runQuery(parseQuery(`{ q(${block}) { uid } }`), reader, { clock });
    reader.release();
    transaction.abort();
    return looks;
  }

  it('looks whether to pause while it walks the index', async () => {
    const few = await looksOf('func: similar_to(v, 5, "[20, 20]", ef: 20)');
    expect((await looksOf('func: similar_to(v, 5, "[20, 20]", ef: 1000)')) - few).toBeGreaterThan(30);
  });

  it('looks whether to pause while it compares with each that passes', async () => {
    const few = await looksOf('func: uid(0x1)) @filter(similar_to(v, 1200, "[20, 20]")');
    const many = await looksOf('func: eq(odd, true)) @filter(similar_to(v, 1200, "[20, 20]")');
    expect(many - few).toBeGreaterThan(3);
  });
});
