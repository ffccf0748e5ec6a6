import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokensOf } from '../values/index.js';
import { type GraphFixture, collect, openFixture, read, setValue, write } from './fixture.js';

/** Uids far apart and close together, ascending. */
const UIDS = Array.from({ length: 4_000 }, (_, i) => i * 97 + (i % 7) * 3 + 1);
const FIRST_OF_LANG = 1_500;

describe('scans', () => {
  let fixture: GraphFixture;
  beforeAll(async () => {
    fixture = await openFixture();
    await fixture.graph.alter({
      kind: 'schema',
      text: 'even: bool @index(bool) .\ndigit: int @index(int) .\nnote: string @lang .',
    });
    const changes = UIDS.flatMap((uid, i) => [
      setValue(uid, 'even', { type: 'bool', value: uid % 2 === 0 }),
      setValue(uid, 'digit', { type: 'int', value: i % 40 === 0 ? i : uid % 3 }),
      ...(i % 2 === 0 ? [setValue(uid, 'note', 'n'.repeat(400))] : []),
      ...(i >= FIRST_OF_LANG ? [setValue(uid, 'note', 'l'.repeat(300), 'en')] : []),
    ]);
    for (let from = 0; from < changes.length; from += 3_000)
      await write(fixture.graph, ...changes.slice(from, from + 3_000));
  });
  afterAll(() => fixture.close());

  it('find every uid of values and languages once, from any uid on', async () => {
    const expected = UIDS.filter((_, i) => i % 2 === 0 || i >= FIRST_OF_LANG);
    for (const after of [0, 1, 5_000, UIDS[2_000], UIDS[3_999]]) {
      const seen = await read(fixture.graph, (r) => collect(r.having(r.schema.predicate('note')!, { after })));
      expect(seen).toEqual(expected.filter((uid) => uid > after));
    }
    const asked = Float64Array.from(UIDS, (uid) => uid + 1);
    const both = Float64Array.from([...UIDS, ...asked]).sort();
    const held = await read(fixture.graph, async (r) => [...(await r.filterHaving(r.schema.predicate('note')!, both))]);
    expect(held).toEqual(expected);
  });

  it('walk tokens with long and short lists in both directions, within bounds', async () => {
    const lists = await read(fixture.graph, async (r) => {
      const walk = async (reverse: boolean) => {
        const pages: number[][] = [];
        for await (const page of r.tokens(r.schema.predicate('digit')!, 'int', { reverse })) {
          for (const { uids } of page) pages.push([...uids]);
        }
        return pages;
      };
      return { forward: await walk(false), backward: await walk(true) };
    });
    const byDigit = new Map<number, number[]>();
    UIDS.forEach((uid, i) => {
      const digit = i % 40 === 0 ? i : uid % 3;
      byDigit.set(digit, [...(byDigit.get(digit) ?? []), uid]);
    });
    const expected = [...byDigit].sort(([a], [b]) => a - b).map(([, uids]) => uids);
    expect(lists.forward).toEqual(expected);
    expect(lists.backward).toEqual(expected.reverse());
    const odd = UIDS.filter((uid) => uid % 2 === 1);
    const [tokens, bounded] = await read(fixture.graph, async (r) => {
      const even = r.schema.predicate('even')!;
      const all = [];
      for await (const page of r.tokens(even, 'bool', {})) all.push(...page);
      const within = [];
      for await (const page of r.tokens(even, 'bool', { from: all[0].token, fromExclusive: true, limit: 1 }))
        within.push(...page);
      return [all.map(({ uids }) => uids.length), within.map(({ uids }) => uids.length)];
    });
    expect(tokens).toEqual([odd.length, UIDS.length - odd.length]);
    expect(bounded).toEqual([UIDS.length - odd.length]);
  });

  it('read as much of one list as is asked for, from any uid on', async () => {
    const held = UIDS.filter((uid) => uid % 2 === 0);
    const far = held[held.length - 1];
    await read(fixture.graph, async (r) => {
      const even = r.schema.predicate('even')!;
      const token = tokensOf('bool', { type: 'bool', value: true })[0];
      expect(await r.postingCounts(even, 'bool', [token, Uint8Array.of(9)])).toEqual([held.length, 0]);
      for (const after of [0, 1, held[0], held[700] - 1, held[700], far - 1, far, far + 5]) {
        for (const count of [0, 1, 40, 900, Number.POSITIVE_INFINITY]) {
          const before = r.metrics.uidsRead;
          const found = [...(await r.firstPostings(even, 'bool', token, { after, count }))];
          const expected = held.filter((uid) => uid > after);
          expect(found.length).toBeGreaterThanOrEqual(Math.min(count, expected.length));
          expect(found).toEqual(expected.slice(0, found.length));
          if (count <= 40) expect(r.metrics.uidsRead - before).toBeLessThan(held.length / 2 + 1_000);
        }
      }
      expect(await r.firstPostings(even, 'bool', Uint8Array.of(9), { after: 0, count: 3 })).toHaveLength(0);
    });
  });
});
