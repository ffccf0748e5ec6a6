import { describe, expect, it } from 'vitest';
import { defaultNames } from '../base/index.js';
import type { GraphChange } from './contract.js';
import { changeRecord, graphPart } from './index.js';
import { found, openFixture, read, setEdge, setValue, text, valuesOf, write } from './fixture.js';

/** Turns that the event loop takes while something is done. */
async function turnsWhile(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let timer = setImmediate(function count() {
    turns++;
    timer = setImmediate(count);
  });
  await work();
  clearImmediate(timer);
  return turns;
}

describe('a committed part', () => {
  it('tells its changes as they were made', async () => {
    const fixture = await openFixture();
    const made: GraphChange[] = [
      {
        ...setValue(1, 'name', { type: 'string', value: 'Ada' }),
        lang: 'en',
        facets: [{ key: 'k', value: { type: 'bool', value: true } }],
      } as GraphChange,
      setEdge(1, 'friend', 2),
      { op: 'deleteEdge', uid: 1, predicate: 'friend', object: 2 },
      { op: 'deleteLang', uid: 1, predicate: 'name', lang: 'de' },
      { op: 'deletePredicate', uid: 1, predicate: 'friend' },
      { op: 'deleteValue', uid: 1, predicate: 'name', value: { type: 'string', value: 'Bob' }, lang: '' },
    ];
    const told: unknown[] = [];
    fixture.committer.onCommit((records) => {
      for (const record of records) {
        const { count, entry } = changeRecord(graphPart(record), defaultNames);
        for (let i = 0; i < count; i++) if (entry(i).list === 'changes') told.push(JSON.parse(entry(i).json));
      }
    });
    await write(fixture.graph, ...made);
    expect(told).toEqual([
      { op: 'set', uid: '0x1', predicate: 'name', value: 'Ada', lang: 'en', facets: { k: true } },
      { op: 'set', uid: '0x1', predicate: 'friend', object: '0x2' },
      { op: 'delete', uid: '0x1', predicate: 'friend', object: '0x2' },
      { op: 'delete', uid: '0x1', predicate: 'name', all: true, lang: 'de' },
      { op: 'delete', uid: '0x1', predicate: 'friend', all: true },
      { op: 'delete', uid: '0x1', predicate: 'name', value: 'Bob' },
    ]);
    await fixture.close();
  });
});

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

  it('writes many predicates one at a time, and others have their turn', async () => {
    const fixture = await openFixture({ limits: { yieldMs: 1e-9 } });
    const count = 3_000;
    const changes = Array.from({ length: count }, (_, i) => setValue(1, `p${i}`, 'x'));
    expect(await turnsWhile(() => write(fixture.graph, ...changes))).toBeGreaterThan(count);
    expect(await read(fixture.graph, (reader) => valuesOf(reader, `p${count - 1}`, 1))).toEqual([':x']);
    await fixture.close();
  });

  it('works a long text out a piece at a time, and others have their turn', async () => {
    const fixture = await openFixture({ limits: { yieldMs: 1e-9 } });
    await fixture.graph.alter({ kind: 'schema', text: 'doc: string @index(fulltext, term, trigram) @upsert .' });
    const words = (prefix: string) => Array.from({ length: 5_000 }, (_, i) => `${prefix}${i.toString(36)}`).join(' ');
    const [before, after] = [words('x'), words('y')];
    const pieces = before.length / 1_024;
    const kinds = 3;
    expect(await turnsWhile(() => write(fixture.graph, setValue(1, 'doc', before)))).toBeGreaterThan(
      2 * kinds * pieces,
    );
    const change = () => write(fixture.graph, setValue(1, 'doc', after));
    expect(await turnsWhile(change)).toBeGreaterThan(3 * kinds * pieces);
    const holders = (token: string) => read(fixture.graph, (reader) => found(reader, 'doc', 'term', token));
    expect(await holders('xz')).toEqual([]);
    expect(await holders('yz')).toEqual([1]);
    const remove = () =>
      write(fixture.graph, { op: 'deleteValue', uid: 1, predicate: 'doc', value: text(after), lang: '' });
    expect(await turnsWhile(remove)).toBeGreaterThan(2 * kinds * pieces);
    expect(await holders('yz')).toEqual([]);
    await fixture.close();
  });

  it('merges many changes with pauses, and others have their turn', async () => {
    const fixture = await openFixture({ limits: { yieldMs: 1e-9 } });
    await fixture.graph.alter({ kind: 'schema', text: 'name: string .\nlink: [uid] @reverse .' });
    const many = Array.from({ length: 20_000 }, (_, i) => i + 2);
    const names = () => write(fixture.graph, ...many.map((i) => setValue(i * 100, 'name', 'n')));
    // staged, resolved, fetched, merged and written, each with pauses of its own
    expect(await turnsWhile(names)).toBeGreaterThan(200);
    const links = () => write(fixture.graph, ...many.map((i) => setEdge(1, 'link', i * 100)));
    expect(await turnsWhile(links)).toBeGreaterThan(250);
    const remove = () => write(fixture.graph, { op: 'deletePredicate', uid: 1, predicate: 'link' });
    expect(await turnsWhile(remove)).toBeGreaterThan(150);
    await fixture.close();
  });

  it('stages large values with pauses', async () => {
    const fixture = await openFixture({ limits: { yieldMs: 1e-9 } });
    const transaction = await fixture.graph.begin();
    const large = 'x'.repeat(2 * 1024 * 1024);
    const staging = () => transaction.stage(Array.from({ length: 8 }, (_, i) => setValue(i + 1, 'note', large)));
    expect(await turnsWhile(staging)).toBeGreaterThanOrEqual(8);
    transaction.abort();
    await fixture.close();
  });

  it('refuses a word that is too long for its index wherever it stands', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: 'doc: string @index(term) .' });
    const around = (word: string) => `${'short words '.repeat(10_000)}${word}${' and more'.repeat(10_000)}`;
    await write(fixture.graph, setValue(1, 'doc', around('x'.repeat(60_000))));
    for (const word of ['x'.repeat(65_000), 'é'.repeat(32_500)]) {
      const writing = write(fixture.graph, setValue(1, 'doc', around(word)));
      await expect(writing).rejects.toMatchObject({ code: 'VALUE_TOO_LARGE' });
    }
    await fixture.close();
  });

  it('edits long lists and many facets in time linear in them', async () => {
    const fixture = await openFixture();
    await fixture.graph.alter({ kind: 'schema', text: 'tag: [string] @index(exact) .\nlink: [uid] .' });
    const since = [{ key: 'since', value: { type: 'int', value: 1 } }] as const;
    const many = Array.from({ length: 4_000 }, (_, i) => i + 2);
    const before = process.cpuUsage();
    await write(
      fixture.graph,
      ...many.map((i) => setValue(1, 'tag', `tag number ${i}`)),
      ...many.map((i) => ({ ...setEdge(1, 'link', i), facets: since }) as ReturnType<typeof setEdge>),
    );
    const [tags, facets] = await read(fixture.graph, async (r) => {
      const { facets: rows } = await r.edges(r.schema.predicate('link')!, Float64Array.of(1), { facets: true });
      return [(await valuesOf(r, 'tag', 1)).length, rows?.[0].filter((one) => one !== undefined).length];
    });
    const { user, system } = process.cpuUsage(before);
    expect([tags, facets]).toEqual([4_000, 4_000]);
    expect((user + system) / 1_000).toBeLessThan(5_000);
    await fixture.close();
  });
});
