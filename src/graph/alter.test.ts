import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { type GraphChange, graphApplier, graphShared, printSchema } from './index.js';
import { recordsOf } from '../../test/stored.js';
import { replay } from '../commit/index.js';
import { createMemoryStore, KeyWriter, MemoryDisk } from '../store/index.js';
import { decodeValue, valueText } from '../values/index.js';
import { atOnce, defaultNames, dgraphNames, GraphsteadError, makeLimits } from '../base/index.js';
import { planAlter } from './alter/request.js';
import {
  collect,
  edgesOf,
  found,
  type GraphFixture,
  openFixture,
  read,
  setEdge,
  setValue,
  text,
  valuesOf,
  write,
} from './fixture.js';
import { tokenRange } from './key.js';
import { GRAPH, type GraphPart } from './part.js';
import { EMPTY_SCHEMA } from './schema.js';
import { readRange } from './source.js';

/** milliseconds until a job that failed is tried again */
const RETRY_MS = 5_000;

describe('alter', () => {
  let fixture: GraphFixture;
  beforeEach(async () => {
    fixture = await openFixture();
  });
  afterEach(() => fixture.close());

  const alter = (lines: string) => fixture.graph.alter({ kind: 'schema', text: lines });
  const values = (predicate: string, uid: number, { graph } = fixture) =>
    read(graph, (r) => valuesOf(r, predicate, uid));
  const lookup = (predicate: string, kind: string, token: string) =>
    read(fixture.graph, (r) => found(r, predicate, kind, token));
  const many = (predicate: string, value: (i: number) => string) =>
    write(fixture.graph, ...Array.from({ length: 2_500 }, (_, i) => setValue(i + 1, predicate, value(i))));

  it('builds an index over what is there, and drops it', async () => {
    await many('name', (i) => `n${i % 5}`);
    await alter('name: string @index(exact) .');
    expect((await lookup('name', 'exact', 'n3')).length).toBe(500);
    await alter('name: string .');
    await expect(lookup('name', 'exact', 'n3')).rejects.toMatchObject({ code: 'MISSING_INDEX' });
    await write(fixture.graph, setValue(4, 'name', 'other'));
    await alter('name: string @index(exact) .');
    expect((await lookup('name', 'exact', 'n3')).length).toBe(499);
    expect(fixture.graph.indexing()).toEqual([]);
  });

  describe('of many values that it has to look at', () => {
    const LINES = 'code: string @index(hash) @unique @upsert .';
    let large: GraphFixture;
    beforeEach(async () => {
      large = await openFixture({ limits: { yieldMs: 1 } });
      await write(large.graph, ...Array.from({ length: 20_000 }, (_, i) => setValue(i + 1, 'code', `c${i}`)));
    });
    afterEach(() => large.close());

    it('lets others have their turn', async () => {
      let turns = 0;
      const turn = () => {
        turns++;
        waiting = setImmediate(turn);
      };
      let waiting = setImmediate(turn);
      await large.graph.checkAlter({ kind: 'schema', text: LINES });
      clearImmediate(waiting);
      expect(turns).toBeGreaterThan(5);
    });

    it('comes to its end although others write them in each of its pauses', async () => {
      const { committer, graph } = large;
      const commit = committer.commit.bind(committer);
      let looks = 0;
      let looking = false;
      let writing: Promise<unknown> = Promise.resolve();
      vi.spyOn(committer, 'commit').mockImplementation((intent) => {
        looking &&= (intent.parts[GRAPH] as GraphPart).kind !== 'alter';
        return commit(intent);
      });
      const begin = committer.begin.bind(committer);
      vi.spyOn(committer, 'begin').mockImplementation(() => {
        if (!looking) {
          looks++;
          looking = true;
          setImmediate(() => {
            if (looking) writing = write(graph, setValue(1, 'code', `again ${looks}`));
          });
        }
        return begin();
      });
      await graph.alter({ kind: 'schema', text: LINES }, { runInBackground: true });
      await writing;
      expect([looks, graph.schema().predicate('code')?.unique]).toEqual([3, true]);
    });
  });

  it('reads nothing of the indexes that a predicate has while it builds another', async () => {
    const { store, graph } = fixture;
    await alter('name: string @index(trigram) .');
    await many('name', (i) => `name ${i % 5}`);
    const trigrams = tokenRange(graph.schema().predicate('name')?.id ?? 0, 'trigram');
    const isTrigram = (key: Uint8Array) =>
      Buffer.compare(key, trigrams.start) >= 0 && Buffer.compare(key, trigrams.end) < 0;
    let looked = 0;
    const take = store.snapshot.bind(store);
    vi.spyOn(store, 'snapshot').mockImplementation(() => {
      const snapshot = take();
      const getMany = snapshot.getMany.bind(snapshot);
      snapshot.getMany = (keys) => {
        looked += keys.filter(isTrigram).length;
        return getMany(keys);
      };
      return snapshot;
    });
    await alter('name: string @index(trigram, exact) .');
    expect([looked, (await lookup('name', 'exact', 'name 3')).length]).toEqual([0, 500]);
    await write(fixture.graph, setValue(1, 'name', 'changed'));
    expect(looked).toBeGreaterThan(0);
  });

  it('builds in the background while commits go on, and refuses queries until it is done', async () => {
    await many('name', (i) => `n${i % 5}`);
    await fixture.graph.alter({ kind: 'schema', text: 'name: string @index(exact) .' }, { runInBackground: true });
    await expect(lookup('name', 'exact', 'n3')).rejects.toMatchObject({ code: 'INDEX_BUILDING' });
    const [build] = fixture.graph.indexing();
    expect(build).toMatchObject({ predicate: 'name', kinds: ['exact'], done: 0 });
    // it is counted meanwhile: what is not known yet is not told
    expect([undefined, 2_500]).toContain(build.total);
    await expect(alter('name: string @index(hash) .')).rejects.toMatchObject({ code: 'INDEX_BUILDING' });
    await write(
      fixture.graph,
      setValue(4, 'name', 'late'),
      setValue(2_400, 'name', 'late'),
      setValue(5_000, 'name', 'n3'),
    );
    await alter('name: string @index(exact) .');
    expect((await lookup('name', 'exact', 'n3')).length).toBe(500);
    expect(await lookup('name', 'exact', 'late')).toEqual([4, 2_400]);
  });

  it('goes on by itself with a build that the store refused, also where it could not be read when that was tried', async () => {
    const { graph, committer } = fixture;
    await many('name', (i) => `n${i % 5}`);
    const [commit, take] = [committer.commit.bind(committer), committer.snapshot.bind(committer)];
    const full = new GraphsteadError('DISK_FULL', 'no room', { fix: 'make room' });
    let refused = 0;
    const isStep = ({ parts }: Parameters<typeof commit>[0]) => (parts[GRAPH] as GraphPart).kind === 'step';
    vi.spyOn(committer, 'commit').mockImplementation((intent) => {
      if (!isStep(intent) || refused === 2) return commit(intent);
      refused++;
      return Promise.reject(full);
    });
    const settled = (count: number) => vi.waitFor(() => expect(vi.getTimerCount()).toBe(count), { interval: 1 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await graph.alter({ kind: 'schema', text: 'name: string @index(exact) .' }, { runInBackground: true });
      await settled(1);
      vi.spyOn(committer, 'snapshot').mockImplementationOnce(() => {
        throw new GraphsteadError('OVERLOADED', 'too many snapshots', { fix: 'ask again' });
      });
      vi.advanceTimersByTime(RETRY_MS); // it cannot be read
      await settled(1);
      vi.mocked(committer.snapshot).mockImplementation(take);
      vi.advanceTimersByTime(RETRY_MS); // the second refusal
      await vi.waitFor(() => expect(refused).toBe(2));
      await settled(1);
      vi.advanceTimersByTime(RETRY_MS);
      await vi.waitFor(() => expect(graph.indexing()).toEqual([]));
    } finally {
      vi.useRealTimers();
      vi.restoreAllMocks();
    }
    expect((await lookup('name', 'exact', 'n3')).length).toBe(500);
  });

  it('counts what a build has before it on snapshots that nobody else has to wait for', async () => {
    const { graph, committer } = fixture;
    await many('name', (i) => `n${i % 5}`);
    const [take, now] = [committer.snapshot.bind(committer), performance.now.bind(performance)];
    let open = 0;
    vi.spyOn(committer, 'snapshot').mockImplementation(() => {
      const snapshot = take();
      const release = snapshot.release.bind(snapshot);
      open++;
      const given = () => {
        open--;
        release();
      };
      return Object.assign(snapshot, { release: given });
    });
    // each look at the clock finds that it is time for a pause
    let looks = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 20 * looks++);
    const counted: unknown[] = [];
    try {
      await graph.alter({ kind: 'schema', text: 'name: string @index(exact) .' }, { runInBackground: true });
      const seen: number[] = [];
      for (let build = graph.indexing()[0]; build; build = graph.indexing()[0]) {
        if (build.total === undefined) seen.push(open);
        else counted.push(build.total);
        await new Promise(setImmediate);
      }
      expect(seen.length).toBeGreaterThan(3);
      expect(Math.max(...seen.slice(1))).toBe(0);
    } finally {
      vi.restoreAllMocks();
    }
    expect(counted[0]).toBe(2_500);
  });

  it('waits for what it asks for, not for what others build; a short build does not wait for a long one', async () => {
    // some thirty steps, however quick they are
    await many('name', (i) => `n${i}`.padEnd(3_000, 'x'));
    await write(fixture.graph, setValue(1, 'few', 'x'));
    const building = () => fixture.graph.indexing().map(({ predicate }) => predicate);
    await fixture.graph.alter({ kind: 'schema', text: 'name: string @index(hash) .' }, { runInBackground: true });
    await alter('other: int .');
    await fixture.graph.alter({ kind: 'dropAttr', name: 'other' });
    expect(building()).toEqual(['name']);
    await alter('few: string @index(hash) .');
    expect(building()).toEqual(['name']);
    await alter('name: string @index(hash) .');
    expect(building()).toEqual([]);
  });

  it('builds in few commits, however few uids a page of a scan has', async () => {
    await many('name', (i) => `n${i % 5}`);
    const batches = () => fixture.store.stats()['batches'];
    const before = batches();
    await alter('name: string @index(exact) .');
    expect(batches() - before).toBeLessThan(15);
  });

  it('goes on with a build after a restart', async () => {
    const disk = new MemoryDisk();
    const first = await openFixture({ disk });
    const names = Array.from({ length: 2_500 }, (_, i) => setValue(i + 1, 'name', `n${i % 5}`));
    await write(first.graph, ...names);
    await first.graph.alter({ kind: 'schema', text: 'name: string @index(exact) .' }, { runInBackground: true });
    await first.close();
    const second = await openFixture({ disk });
    await second.graph.alter({ kind: 'schema', text: 'name: string @index(exact) .' });
    expect((await read(second.graph, (r) => found(r, 'name', 'exact', 'n3'))).length).toBe(500);
    await second.close();
  });

  it('builds reverse edges and counts, and takes them away', async () => {
    const edges = Array.from({ length: 1_500 }, (_, i) => setEdge(i + 1, 'friend', (i % 3) + 10_000));
    await write(fixture.graph, ...edges, setEdge(1, 'friend', 5));
    await alter('friend: [uid] @reverse @count .');
    expect((await read(fixture.graph, (r) => edgesOf(r, 'friend', 10_001, true))).length).toBe(500);
    const counted = (count: number, reverse: boolean) =>
      read(fixture.graph, async (r) => [
        ...(await r.byCount(r.schema.predicate('friend')!, count, count, { reverse })),
      ]);
    expect(await counted(2, false)).toEqual([1]);
    expect(await counted(500, true)).toEqual([10_000, 10_001, 10_002]);
    await alter('friend: [uid] @reverse .');
    await alter('friend: [uid] @reverse @count .');
    expect(await counted(500, true)).toEqual([10_000, 10_001, 10_002]);
    await alter('friend: [uid] .');
    await write(fixture.graph, { op: 'deleteEdge', uid: 1, predicate: 'friend', object: 5 });
    await alter('friend: [uid] @reverse .');
    expect(await read(fixture.graph, (r) => edgesOf(r, 'friend', 5, true))).toEqual([]);
  });

  it('converts values to a new type, or says which cannot be', async () => {
    await many('age', (i) => String(i));
    await alter('age: int @index(int) .');
    const bounds = await read(fixture.graph, async (r) => {
      const seen: number[] = [];
      for await (const page of r.tokens(r.schema.predicate('age')!, 'int', { reverse: true, limit: 3 })) {
        for (const { uids } of page) seen.push(...uids);
      }
      return seen;
    });
    expect(bounds).toEqual([2_500, 2_499, 2_498]);
    await alter('age: string @index(exact) .');
    await write(fixture.graph, setValue(9, 'age', 'nine'));
    await expect(alter('age: int .')).rejects.toMatchObject({ code: 'INVALID_SCHEMA', message: /0x9/ });
    expect(await lookup('age', 'exact', 'nine')).toEqual([9]);
  });

  it('keeps any geometry, and only places under an index', async () => {
    const [line, point] = ['{"type":"LineString","coordinates":[[1,2],[3,4]]}', '{"type":"Point","coordinates":[1,2]}'];
    await alter('track: geo .  home: geo @index(geo) .');
    await write(fixture.graph, setValue(1, 'track', line), setValue(2, 'track', point), setValue(3, 'note', line));
    expect(await values('track', 1)).toEqual([`:${line}`]);
    await expect(write(fixture.graph, setValue(1, 'home', line))).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: 'predicate home: its index cannot hold a LineString',
    });
    const refused = { code: 'INVALID_SCHEMA', message: /LineString of 0x/ };
    await expect(alter('track: geo @index(geo) .')).rejects.toMatchObject(refused);
    await expect(alter('note: geo @index(geo) .')).rejects.toMatchObject(refused);
    await write(fixture.graph, setValue(1, 'track', point));
    await alter('track: geo @index(geo) .');
  });

  it('takes @lang away only where no text has a language, but from a list, and under --compat dgraph anywhere', async () => {
    const compat = await openFixture({ names: dgraphNames });
    const without = { kind: 'schema', text: 'name: string @index(exact) .' } as const;
    for (const { graph } of [fixture, compat]) {
      await graph.alter({ kind: 'schema', text: 'name: string @lang @index(exact) .' });
      await write(
        graph,
        setValue(1, 'name', 'Rome'),
        setValue(1, 'name', 'Roma', 'it'),
        setValue(2, 'name', 'Wien', 'de'),
      );
    }
    await expect(fixture.graph.alter(without)).rejects.toMatchObject({
      code: 'INVALID_SCHEMA',
      message: 'without @lang nothing could ask for the name@it of 0x1 and the name@de of 0x2',
      fix: 'Declare name with @lang, or delete the texts in languages first.',
    });
    expect(await values('name', 1)).toEqual([':Rome', 'it:Roma']);
    await compat.graph.alter(without);
    expect(compat.graph.schema().predicate('name')?.lang).toBe(false);
    await compat.close();
    await alter('name: [string] .');
    expect(await values('name', 1)).toEqual([':Rome', ':Roma']);
    expect(await values('name', 2)).toEqual([':Wien']);
    await alter('title: string @lang .');
    await write(fixture.graph, setValue(1, 'title', 'Emperor'));
    await alter('title: string .');
    expect(fixture.graph.schema().predicate('title')?.lang).toBe(false);
  });

  it('puts no index over texts that mutations are refused under it', async () => {
    await alter('big: string @lang .\nrow: [string] .');
    const word = 'x'.repeat(70_000);
    await write(
      fixture.graph,
      ...[1, 2, 3].map((uid) => setValue(uid, 'big', 'some words '.repeat(uid * 3_000))),
      setValue(9, 'big', word, 'en'),
      ...['a', 'b', 'c'].map((letter) => setValue(4, 'row', letter.repeat(30_000))),
    );
    await expect(alter('big: string @index(exact) @lang .')).rejects.toMatchObject({
      code: 'INVALID_SCHEMA',
      message: 'the index of big cannot hold the values of 0x2, 0x3 and 0x9',
    });
    for (const kind of ['term', 'fulltext']) {
      await expect(alter(`big: string @index(trigram, ${kind}) @lang .`)).rejects.toMatchObject({
        code: 'INVALID_SCHEMA',
        message: 'the index of big cannot hold the value of 0x9',
      });
    }
    await alter('big: string @index(hash, trigram) @lang .\nrow: [string] @index(exact, term) .');
    await write(fixture.graph, { op: 'deletePredicate', uid: 9, predicate: 'big' });
    await alter('big: string @index(term) @lang .');
    expect(await lookup('big', 'term', 'words')).toEqual([1, 2, 3]);
  });

  it('loses nothing of values when a type is changed and changed back', async () => {
    await alter('rate: float @index(float) .');
    await write(fixture.graph, setValue(1, 'rate', '1.6'), setValue(2, 'rate', '1.9'));
    await alter('rate: int @index(int) .');
    expect(await values('rate', 1)).toEqual([':1']);
    await write(fixture.graph, setValue(2, 'rate', '7'), {
      op: 'deleteValue',
      uid: 1,
      predicate: 'rate',
      value: text('2'),
      lang: '',
    });
    await alter('rate: float .');
    expect([await values('rate', 1), await values('rate', 2)]).toEqual([[':1.6'], [':7']]);
  });

  it('turns single values into lists, and refuses what would lose data', async () => {
    await write(fixture.graph, setValue(1, 'tag', 'x'), setEdge(1, 'friend', 2));
    await alter('tag: [string] @index(exact) @count .');
    await write(fixture.graph, setValue(1, 'tag', 'y'));
    expect(await values('tag', 1)).toEqual([':x', ':y']);
    expect(await lookup('tag', 'exact', 'x')).toEqual([1]);
    expect(await read(fixture.graph, async (r) => [...(await r.byCount(r.schema.predicate('tag')!, 2, 2))])).toEqual([
      1,
    ]);
    for (const line of ['tag: string .', 'tag: [uid] .', 'friend: string .', 'friend: uid .']) {
      await expect(alter(line)).rejects.toMatchObject({ code: 'INVALID_SCHEMA' });
    }
  });

  it('keeps the facets of values that become members of a list, and of members that get another type', async () => {
    const sure = (at: number) => [{ key: 'sure', value: { type: 'int', value: at } as const }];
    const facets = () =>
      read(fixture.graph, async (r) => {
        const [held] = await r.allValues(r.schema.predicate('rate')!, Float64Array.of(1), { facets: true });
        return held.map((one) => [valueText(decodeValue(one.value)), one.facets]);
      });
    await alter('rate: string @lang .');
    await write(
      fixture.graph,
      { op: 'setValue', uid: 1, predicate: 'rate', value: text('7'), lang: '', facets: sure(1) },
      { op: 'setValue', uid: 1, predicate: 'rate', value: text('8'), lang: 'en', facets: sure(2) },
      setValue(1, 'rate', '9', 'de'),
    );
    await alter('rate: [string] .');
    const kept = [
      ['7', sure(1)],
      ['8', sure(2)],
      ['9', undefined],
    ];
    expect(await facets()).toEqual(kept);
    await alter('rate: [int] @index(int) .');
    expect(await facets()).toEqual(kept);
    await alter('rate: [float] .');
    expect(await facets()).toEqual(kept);
  });

  it('reads and writes a list as one before the alter that makes it one has come to a value', async () => {
    await alter('rate: string @lang @count .');
    await many('rate', (i) => `0${i % 5}`);
    await write(fixture.graph, setValue(2_500, 'rate', '7', 'en'));
    await fixture.graph.alter({ kind: 'schema', text: 'rate: [int] @index(int) @count .' }, { runInBackground: true });
    const all = Float64Array.of(2_497, 2_498, 2_499, 2_500);
    const shown = () => Promise.all([...all].map(async (uid) => (await values('rate', uid)).sort()));
    const asRead = () =>
      read(fixture.graph, async (r) => {
        const record = r.schema.predicate('rate')!;
        return {
          counts: await r.counts(record, all),
          having: (await collect(r.having(record))).filter((uid) => uid > 2_496),
          held: [...(await r.filterHaving(record, all))],
          first: (await r.values(record, all)).map((value) => value && valueText(decodeValue(value))),
        };
      });
    expect(await shown()).toEqual([[':1'], [':2'], [':3'], [':4', ':7']]);
    expect(await asRead()).toEqual({
      counts: [1, 1, 1, 2],
      having: [...all],
      held: [...all],
      first: ['1', '2', '3', '4'],
    });
    await write(
      fixture.graph,
      { op: 'deletePredicate', uid: 2_497, predicate: 'rate' },
      { op: 'deleteValue', uid: 2_498, predicate: 'rate', value: text('2'), lang: '' },
      setValue(2_499, 'rate', '9'),
      { op: 'deleteValue', uid: 2_500, predicate: 'rate', value: text('4'), lang: '' },
    );
    expect(fixture.graph.indexing()).toMatchObject([{ predicate: 'rate' }]);
    const after = [[], [], [':3', ':9'], [':7']];
    expect(await shown()).toEqual(after);
    const built = {
      counts: [0, 0, 2, 1],
      having: [2_499, 2_500],
      held: [2_499, 2_500],
      first: [undefined, undefined, '3', '7'],
    };
    expect(await asRead()).toEqual(built);
    while (fixture.graph.indexing().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await shown()).toEqual(after);
    expect(await asRead()).toEqual(built);
    const uidsBy = (count: number) =>
      read(fixture.graph, async (r) => [...(await r.byCount(r.schema.predicate('rate')!, count, count))]);
    expect([await uidsBy(2), (await uidsBy(1)).slice(-2)]).toEqual([[2_499], [2_496, 2_500]]);
    expect(fixture.graph.schema().predicate('rate')).toMatchObject({ building: [] });
  });

  it('checks a change by the data without making it, and refuses with the same words', async () => {
    await alter('age: string . tags: [string] . knows: [uid] . empty: string .');
    await write(fixture.graph, setValue(1, 'age', 'old'), setValue(1, 'tags', 'a'), setEdge(1, 'knows', 2));
    const schema = printSchema(fixture.graph.schema(), defaultNames);
    const refusal = (asked: Promise<void>) =>
      asked.then(
        () => undefined,
        (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
      );
    for (const line of ['age: int .', 'age: uid .', 'age: password .', 'tags: string .', 'knows: uid .', 'name: .']) {
      const checked = await refusal(fixture.graph.checkAlter({ kind: 'schema', text: line }));
      expect(checked, line).toMatch(/^(INVALID_SCHEMA|SYNTAX): /);
      expect(checked).toBe(await refusal(alter(line)));
    }
    for (const line of ['age: [string] .', 'empty: uid .', 'new: int @index(int) .', 'age: string .']) {
      expect(await refusal(fixture.graph.checkAlter({ kind: 'schema', text: line })), line).toBeUndefined();
    }
    expect(printSchema(fixture.graph.schema(), defaultNames)).toBe(schema);
  });

  it('drops a predicate, a type, the data, and everything', async () => {
    await alter('name: string @index(exact) .\nage: int .\ntype Person { name }');
    await write(
      fixture.graph,
      setValue(1, 'name', 'a'),
      setValue(1, 'age', '3'),
      setValue(1, 'service.type', 'Person'),
    );
    await fixture.graph.alter({ kind: 'dropAttr', name: 'age' });
    expect(fixture.graph.schema().predicate('age')).toBeUndefined();
    await write(fixture.graph, setValue(2, 'age', '4'));
    expect([await values('age', 1), await values('age', 2)]).toEqual([[], [':4']]);
    await fixture.graph.alter({ kind: 'dropData' });
    expect(await values('name', 1)).toEqual([]);
    expect(await lookup('name', 'exact', 'a')).toEqual([]);
    expect(fixture.graph.schema().type('Person')?.fields).toEqual(['name']);
    await fixture.graph.alter({ kind: 'dropType', name: 'Person' });
    expect(fixture.graph.schema().types).toEqual([]);
    await write(fixture.graph, setValue(1, 'service.type', 'Person'));
    await fixture.graph.alter({ kind: 'dropAll' });
    expect(fixture.graph.schema().predicates.map((predicate) => predicate.name)).toEqual(['service.type']);
    expect(await values('service.type', 1)).toEqual([]);
    await expect(fixture.graph.alter({ kind: 'dropAttr', name: 'service.type' })).rejects.toMatchObject({
      code: 'INVALID_SCHEMA',
    });
  });

  it('sweeps what was dropped', async () => {
    await many('name', (i) => 'x'.repeat(i % 700));
    const size = async () => {
      const snapshot = fixture.store.snapshot();
      const { keys } = await readRange(snapshot, { ...new KeyWriter('graph').range(), keysOnly: true });
      snapshot.release();
      return keys.length;
    };
    const filled = await size();
    await fixture.graph.alter({ kind: 'dropAll' });
    for (let i = 0; i < 5_000 && (await size()) > 20; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(filled).toBeGreaterThan(500);
    expect(await size()).toBeLessThan(20);
  });

  it('is what everybody goes by, also where somebody still reads from before many others', async () => {
    await alter('first: string .');
    const old = await fixture.graph.begin();
    for (let i = 0; i < 12; i++) await alter(`p${i}: string .`);
    const reader = await old.reader();
    expect(reader.schema.predicate('p11')).toBeUndefined();
    reader.release();
    expect(fixture.graph.schema().predicate('p11')).toBeDefined();
    await write(fixture.graph, setValue(1, 'p11', 'a'));
  });

  it('keeps nothing of an index that was dropped, where a write lands together with its sweep', async () => {
    const { graph, committer } = fixture;
    const commit = committer.commit.bind(committer);
    const steps: (() => void)[] = [];
    const held = vi.spyOn(committer, 'commit').mockImplementation((intent) => {
      const { kind } = intent.parts['graph'] as { kind: string };
      if (kind !== 'step') return commit(intent);
      return new Promise((resolve, reject) => steps.push(() => commit(intent).then(resolve, reject)));
    });
    await alter('name: string @index(exact) .');
    await write(graph, setValue(1, 'name', 'old'), setValue(2, 'name', 'other'));
    await alter('name: string .');
    await write(graph, setValue(1, 'name', 'new'));
    await graph.alter({ kind: 'schema', text: 'name: string @index(exact) .' }, { runInBackground: true });
    const transaction = await graph.begin();
    await transaction.stage([setValue(2, 'name', 'old')]);
    await vi.waitFor(() => expect(steps).toHaveLength(1));
    held.mockRestore();
    steps[0]();
    await transaction.commit();
    await vi.waitFor(() => expect(graph.indexing()).toEqual([]));
    expect(await lookup('name', 'exact', 'old')).toEqual([2]);
    expect(await lookup('name', 'exact', 'new')).toEqual([1]);
  });

  it('aborts transactions that staged under the schema of before', async () => {
    await alter('name: string .');
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'name', 'a')]);
    await alter('name: string @index(exact) .');
    await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it.each([
    ['a value that has no place in the new type', 'p: int .', 'abc', /cannot become int/],
    ['a second node with one value', 'p: string @index(exact) @unique .', '5', /which @unique forbids/],
  ])('is refused by what is written while it looks: %s', async (_, declared, value, message) => {
    await fixture.graph.alter({ kind: 'schema', text: 'p: string @index(exact) .' });
    await write(fixture.graph, setValue(1, 'p', '5'));
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(2, 'p', value)]);
    const altering = fixture.graph.alter({ kind: 'schema', text: declared });
    const written = transaction.commit();
    await expect(altering).rejects.toThrow(message);
    await written;
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'p', 2))).toEqual([`:${value}`]);
  });

  it('gives up where it is written all the while', async () => {
    await fixture.graph.alter({ kind: 'schema', text: 'p: string .' });
    await write(fixture.graph, setValue(1, 'p', '5'));
    const commit = fixture.committer.commit.bind(fixture.committer);
    vi.spyOn(fixture.committer, 'commit').mockImplementation(async (intent) => {
      const isAlter = (intent.parts[GRAPH] as GraphPart).kind === 'alter';
      if (isAlter) await write(fixture.graph, setValue(2, 'p', '6'));
      return commit(intent);
    });
    const altered = fixture.graph.alter({ kind: 'schema', text: 'p: int .' });
    await expect(altered).rejects.toMatchObject({
      code: 'TXN_ABORTED',
      message: expect.stringContaining('all the while'),
    });
  });

  it('checks names, types and @unique against what stands', async () => {
    await expect(alter('type Person { name }')).rejects.toMatchObject({ message: /matching predicate for field name/ });
    await expect(alter('service.x: string .')).rejects.toMatchObject({ message: /reserved/ });
    await expect(alter('uid: string .')).rejects.toMatchObject({ code: 'INVALID_SCHEMA', position: { line: 1 } });
    await expect(alter('email: string @unique .')).rejects.toMatchObject({
      message: /is missing, add either hash or exact/,
    });
    for (const line of ['x: uid @unique .', 'x: datetime @index(hour) @unique .', 'x: password @unique .']) {
      // there is no index that could be added
      await expect(alter(line), line).rejects.toMatchObject({
        code: 'INVALID_SCHEMA',
        message: expect.stringContaining('no index finds equal values of type'),
        fix: expect.stringContaining('Leave @unique out'),
      });
    }
    await alter('email: string @unique @index(exact) .');
    expect(fixture.graph.schema().predicate('email')).toMatchObject({ unique: true, upsert: true });
    await alter('email: string @unique @index(exact) .');
    await expect(alter('email: string @unique .')).rejects.toMatchObject({ message: /could not drop index \[exact\]/ });
    await write(fixture.graph, setValue(1, 'nick', 'a'), setValue(2, 'nick', 'a'));
    await expect(alter('nick: string @unique @index(hash) .')).rejects.toMatchObject({ message: /0x1 and 0x2/ });
    const compat = await openFixture({ names: dgraphNames });
    const line = 'email: string @unique @index(exact) .';
    await compat.graph.alter({ kind: 'schema', text: line });
    await expect(compat.graph.alter({ kind: 'schema', text: line })).rejects.toMatchObject({
      message: /could not drop @upsert/,
    });
    const lines = ['code: int .', 'code: int @index(int) .'].map((text) => ({ kind: 'schema', text }) as const);
    for (const { graph } of [fixture, compat]) {
      await write(graph, setValue(1, 'code', '7'), setValue(2, 'code', 'seven'), setValue(3, 'code', 'eight'));
      await expect(graph.alter(lines[1])).rejects.toMatchObject({ message: /code of 0x2 and 0x3 cannot become int/ });
    }
    await expect(fixture.graph.alter(lines[0])).rejects.toMatchObject({ code: 'INVALID_SCHEMA' });
    await compat.graph.alter(lines[0]);
    expect(await values('code', 1, compat)).toEqual([':7']);
    expect(await values('code', 2, compat)).toEqual([]);
    await write(compat.graph, setValue(2, 'code', '8'), { op: 'deletePredicate', uid: 3, predicate: 'code' });
    await compat.graph.alter(lines[1]);
    expect(await values('code', 2, compat)).toEqual([':8']);
    await expect(compat.graph.alter({ kind: 'schema', text: 'dgraph.x: int .' })).rejects.toMatchObject({
      message: /`dgraph.`/,
    });
    // an export holds this line; it declares nothing here
    await compat.graph.alter({ kind: 'schema', text: 'dgraph.graphql.schema: string .\ndgraph.graphql.xid: string .' });
    expect(compat.graph.schema().predicates.map(({ name }) => name)).not.toContain('service.graphql.schema');
    await expect(compat.graph.alter({ kind: 'dropAttr', name: 'dgraph.graphql.schema' })).rejects.toMatchObject({
      message: /`dgraph.`/,
    });
    await compat.close();
  });

  it('tells the nodes and predicates at once whose data refuses it, up to ten of each', async () => {
    const point = (uid: number, type: string, at: string) =>
      setValue(uid, 'spot', `{"type":"${type}","coordinates":${at}}`);
    const many = Array.from({ length: 12 }, (_, i) => setValue(i + 1, 'many', `word ${i}`));
    await write(fixture.graph, ...many, setValue(1, 'code', '7'), setValue(2, 'code', 'a'), setValue(3, 'code', 'b'));
    await write(fixture.graph, ...['x', 'y', 'x', 'y', 'z'].map((text, i) => setValue(i + 1, 'nick', text)));
    await alter('spot: geo .');
    await write(fixture.graph, point(1, 'LineString', '[[1,2],[3,4]]'), point(2, 'Point', '[1,2]'));
    await write(fixture.graph, point(3, 'MultiPoint', '[[1,2]]'));
    const text = 'code: int .\nmany: int .\nspot: geo @index(geo) .\nnick: string @unique @index(hash) .\nfree: int .';
    const messages = [
      'the values of code of 0x2 and 0x3 cannot become int',
      'the values of many of 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa and others cannot become int',
      'the index of spot cannot hold the LineString of 0x1 and the MultiPoint of 0x3',
      '0x1 and 0x3, 0x2 and 0x4 have the same nick, which @unique forbids',
    ];
    const told = messages.map((message) => expect.objectContaining({ code: 'INVALID_SCHEMA', message }));
    await expect(alter(text)).rejects.toMatchObject({ errors: told });
    await expect(fixture.graph.checkAlter({ kind: 'schema', text })).rejects.toMatchObject({ errors: told });
    expect(fixture.graph.schema().predicate('free')).toBeUndefined();
  });

  it('refuses a text that declares a predicate or a type twice, and takes nothing of it', async () => {
    await expect(alter('a: string .\nname: string .\nname: string .')).rejects.toMatchObject({
      code: 'INVALID_SCHEMA',
      position: { line: 3, column: 1 },
    });
    await expect(alter('a: string .\ntype T { a }\ntype T { a }')).rejects.toMatchObject({ code: 'INVALID_SCHEMA' });
    expect(fixture.graph.schema().predicate('a')).toBeUndefined();
  });

  it('prints a schema that reads back as the same', async () => {
    await alter(
      'name: string @index(exact, term) @lang @count .\nfriend: [uid] @reverse @count .\n<ab/c>: [int] .\n"full name": string .\n' +
        'email: string @unique @index(hash) @upsert .\nv: float32vector @index(hnsw(metric: "cosine")) .\n' +
        'type Person { name friend <~friend> }',
    );
    const printed = printSchema(fixture.graph.schema(), defaultNames);
    const other = await openFixture();
    await other.graph.alter({ kind: 'schema', text: printed });
    expect(printSchema(other.graph.schema(), defaultNames)).toBe(printed);
    await other.close();
  });

  it('prints what nobody declared as it reads it back, languages too', async () => {
    const said = { type: 'default', value: 'x' } as const;
    await write(fixture.graph, setValue(1, 'said', said, 'en'), setValue(1, 'typed', 'x', 'en'));
    await write(fixture.graph, setValue(1, 'later', said), setValue(1, 'later', said, 'en'));
    const printed = printSchema(fixture.graph.schema(), defaultNames);
    expect(printed).toContain('<said>: default @lang .');
    const other = await openFixture();
    await other.graph.alter({ kind: 'schema', text: printed });
    expect(printSchema(other.graph.schema(), defaultNames)).toBe(printed);
    await other.close();
  });

  it('makes no predicate of numbers or lists with languages, which no line could declare', async () => {
    const listed = (lang: string) => ({ ...setValue(1, 'many', 'x', lang), list: true }) as GraphChange;
    const [number, tagged, plain] = [setValue(1, 'n', { type: 'int', value: 5 }, 'en'), listed('en'), listed('')];
    for (const changes of [[number], [tagged], [plain, tagged]]) {
      await expect(write(fixture.graph, ...changes)).rejects.toMatchObject({
        code: 'INVALID_VALUE',
        fix: 'Leave the language out: only a single text has one.',
      });
    }
    expect(fixture.graph.schema().predicates).toHaveLength(1);
  });

  it('replays its commits into identical keys', async () => {
    await alter('name: string @index(exact) @lang .');
    await fixture.graph.leaseUids(5);
    await many('name', (i) => `n${i}`);
    await write(fixture.graph, setEdge(1, 'friend', 2), setValue(3, 'new', 'x'));
    await alter('name: string @index(term) @lang .\nfriend: [uid] @reverse @count .');
    await fixture.graph.alter({ kind: 'dropAttr', name: 'new' });
    await fixture.graph.setDocument('sdl', 'x'.repeat(9_000));
    await alter('v: float32vector @index(hnsw(metric: "euclidean")) .');
    const side = (from: number) =>
      Array.from({ length: 60 }, (_, i) => {
        const edges = Array.from({ length: 40 }, (_, k) => setEdge(77_777, 'friend', from + (i * 40 + k) * 1_009));
        const value = Float32Array.of(i, (i * 7) % 11, from % 13);
        return write(fixture.graph, ...edges, setValue(from + i, 'v', { type: 'float32vector', value }));
      });
    await Promise.all([...side(200_000), ...side(5_000_000)]);
    await read(fixture.graph, (r) => collect(r.having(r.schema.predicate('name')!)));
    const target = createMemoryStore();
    const source = fixture.store.snapshot();
    const records = await recordsOf(source);
    expect(records.some((record) => record.together)).toBe(true);
    await replay(records, { store: target, appliers: [graphApplier(graphShared())] });
    const [one, two] = await Promise.all(
      [source, target.snapshot()].map((snapshot) => readRange(snapshot, new KeyWriter('graph').range())),
    );
    expect(two.keys.map((key) => Buffer.from(key).toString('hex'))).toEqual(
      one.keys.map((key) => Buffer.from(key).toString('hex')),
    );
    expect(two.values.map((value) => Buffer.from(value).toString('hex'))).toEqual(
      one.values.map((value) => Buffer.from(value).toString('hex')),
    );
    source.release();
  });
});

describe('the size of a schema', () => {
  let fixture: GraphFixture;
  beforeEach(async () => {
    // service.type is the first of them
    fixture = await openFixture({ limits: { predicates: 3 } });
    await fixture.graph.alter({ kind: 'schema', text: 'a: string .' });
  });
  afterEach(() => fixture.close());

  const tooMany = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('limits.predicates') };

  it('is bounded where predicates and types are declared', async () => {
    const alter = (lines: string) => fixture.graph.alter({ kind: 'schema', text: lines });
    await expect(alter('b: int .\nc: int .')).rejects.toMatchObject(tooMany);
    await alter('a: string @index(hash) .\nb: int .');
    await expect(alter('c: int .')).rejects.toMatchObject(tooMany);
    await expect(alter('type A { a }\ntype B { a }\ntype C { a }\ntype D { a }')).rejects.toMatchObject(tooMany);
    await fixture.graph.alter({ kind: 'dropAttr', name: 'b' });
    await alter('c: int .\ntype A { a }');
  });

  it('is bounded where values make predicates', async () => {
    const two = [setValue(1, 'b', 'x'), setValue(1, 'c', 'x')];
    await expect(write(fixture.graph, ...two)).rejects.toMatchObject(tooMany);
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'b', 'x')]);
    await transaction.stage([setValue(2, 'b', 'y')]);
    await expect(transaction.stage([setValue(1, 'c', 'x')])).rejects.toMatchObject(tooMany);
    await transaction.commit();
    await write(fixture.graph, setValue(3, 'b', 'z'));
  });

  it('is bounded where a load in bulk makes predicates', async () => {
    const folder = testFolder();
    const bulk = await fixture.graph.bulk({ folder });
    expect(['a', 'b', 'b'].map((name) => bulk.add(setValue(1, name, 'x')))).toEqual([true, true, true]);
    expect(() => bulk.add(setValue(1, 'c', 'x'))).toThrow(expect.objectContaining(tooMany));
    bulk.abandon();
  });
});

it('plans a long alter in steps, and refuses it as a short one', () => {
  const lines = Array.from({ length: 2_000 }, (_, i) => `p${i}: string .`);
  const plan = (text: string) => planAlter({ kind: 'schema', text }, EMPTY_SCHEMA, defaultNames, makeLimits());
  let pauses = 0;
  const steps = plan(lines.join('\n'));
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  // to read them, to check each, to find what is new
  expect(pauses).toBeGreaterThan(18);
  expect(step.value?.part?.declare).toHaveLength(2_000);
  expect(() => atOnce(plan([...lines, 'p0: int .'].join('\n')))).toThrow(/declared twice/);
});

it('lets others have their turn while a long alter lands', async () => {
  const fixture = await openFixture();
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 20));
  const lines = (type: string) => Array.from({ length: 2_560 }, (_, i) => `p${i}: ${type} .`).join('\n');
  const turns = async (type: string): Promise<number> => {
    let count = 0;
    let timer = setImmediate(function next() {
      count++;
      timer = setImmediate(next);
    });
    await fixture.graph.alter({ kind: 'schema', text: lines(type) });
    clearImmediate(timer);
    return count;
  };
  // ten each to find what is new, to check it, and to write it
  expect(await turns('string')).toBeGreaterThan(50);
  expect(await turns('int')).toBeGreaterThan(50);
  clock.mockRestore();
  await fixture.close();
});
