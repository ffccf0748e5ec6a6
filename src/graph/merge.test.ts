import { describe, expect, it } from 'vitest';
import { openFixture, read, setEdge, setValue, valuesOf, write } from './fixture.js';

describe('one group', () => {
  it('takes the first language of a predicate beside values without one', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: 'name: string @index(exact) @lang .' });
    await Promise.all([
      write(fixture.graph, setValue(1, 'name', 'plain')),
      write(fixture.graph, setValue(5_000, 'name', 'tagged', 'en')),
      write(fixture.graph, setValue(2, 'name', 'late')),
    ]);
    const seen = await read(fixture.graph, async (r) => [
      await valuesOf(r, 'name', 1),
      await valuesOf(r, 'name', 5_000),
    ]);
    expect(seen).toEqual([[':plain'], ['en:tagged']]);
    await fixture.close();
  });

  it('edits long lists and many facets in time linear in them', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: 'tag: [string] @index(exact) .\nlink: [uid] .' });
    const since = [{ key: 'since', value: { type: 'int', value: 1 } }] as const;
    const many = Array.from({ length: 4_000 }, (_, i) => i + 2);
    await write(
      fixture.graph,
      ...many.map((i) => setValue(1, 'tag', `tag number ${i}`)),
      ...many.map((i) => ({ ...setEdge(1, 'link', i), facets: since }) as ReturnType<typeof setEdge>),
    );
    const [tags, facets] = await read(fixture.graph, async (r) => {
      const { facets: rows } = await r.edges(r.schema.predicate('link')!, Float64Array.of(1), { facets: true });
      return [(await valuesOf(r, 'tag', 1)).length, rows?.[0].filter((one) => one !== undefined).length];
    });
    expect([tags, facets]).toEqual([4_000, 4_000]);
    await fixture.close();
  }, 5_000);
});
