import { setImmediate as endOfTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dgraphNames, TYPE_PREDICATE } from '../base/index.js';
import { checkPassword } from '../values/index.js';
import { indexConflictKey } from './conflict.js';
import type { GraphChange, GraphReader } from './contract.js';
import {
  edgesOf,
  found,
  type GraphFixture,
  FakeClock,
  openFixture,
  read,
  setEdge,
  setValue,
  text,
  valuesOf,
  write,
} from './fixture.js';

const ABORTED = 'Transaction has been aborted. Please retry.';

describe('a transaction', () => {
  let fixture: GraphFixture;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = new FakeClock();
    fixture = await openFixture({
      clock,
      limits: { transactions: 4, snapshotMs: 5_000, transactionIdleMs: 60_000, transactionIdleFullMs: 30_000 },
    });
    await fixture.graph.alter({
      kind: 'schema',
      text: 'name: string @index(exact) @lang .\nemail: string @index(exact) @upsert .\nfriend: [uid] @reverse @count .\nbest: uid .\nfree: string @noconflict .',
    });
  });
  afterEach(() => fixture.close());

  const seen = async (
    transaction: Awaited<ReturnType<GraphFixture['graph']['begin']>>,
    predicate: string,
    uid: number,
  ) => {
    const reader = await transaction.reader();
    try {
      return await valuesOf(reader, predicate, uid);
    } finally {
      reader.release();
    }
  };

  it('hashes passwords while others have their turn, and deletes none by its text', async () => {
    await fixture.graph.alter({ kind: 'schema', text: 'pw: password .' });
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const users = Array.from({ length: 5 }, (_, i) => i + 1);
    await write(fixture.graph, ...users.map((uid) => setValue(uid, 'pw', `secret-${uid}`)));
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(users.length);
    await write(fixture.graph, { op: 'deleteValue', uid: 1, predicate: 'pw', value: text('secret-1'), lang: '' });
    for (const uid of users) {
      const [stored] = await read(fixture.graph, (reader) => valuesOf(reader, 'pw', uid));
      expect(await checkPassword(stored.slice(1), `secret-${uid}`)).toBe(true);
    }
    await expect(write(fixture.graph, setValue(9, 'pw', 'short'))).rejects.toThrow(
      'predicate pw: the password is too short',
    );
  });

  it('stores a password that a literal spells as its hash, under a predicate of text and a new one too', async () => {
    const value = { type: 'password', value: 'secret' } as const;
    await write(
      fixture.graph,
      ...['free', 'fresh'].map((predicate) => ({ op: 'setValue', uid: 1, predicate, value, lang: '' }) as const),
    );
    await write(fixture.graph, { op: 'deleteValue', uid: 1, predicate: 'free', value, lang: '' });
    for (const predicate of ['free', 'fresh']) {
      const [stored] = await read(fixture.graph, (reader) => valuesOf(reader, predicate, 1));
      expect(await checkPassword(stored.slice(1), 'secret')).toBe(true);
    }
    await fixture.graph.alter({ kind: 'schema', text: 'n: int .' });
    await expect(write(fixture.graph, { op: 'setValue', uid: 1, predicate: 'n', value, lang: '' })).rejects.toThrow(
      'predicate n: a value of type password cannot become int',
    );
  });

  it('reads its own changes, and nobody else does before the commit', async () => {
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'name', 'Ada'), setEdge(1, 'friend', 2), setValue(1, 'fresh', 'new')]);
    expect(await seen(transaction, 'name', 1)).toEqual([':Ada']);
    expect(await seen(transaction, 'fresh', 1)).toEqual([':new']);
    await transaction.stage([setValue(1, 'name', 'Grace'), setEdge(1, 'friend', 3)]);
    const reader = await transaction.reader();
    expect(await found(reader, 'name', 'exact', 'Ada')).toEqual([]);
    expect(await found(reader, 'name', 'exact', 'Grace')).toEqual([1]);
    expect(await edgesOf(reader, 'friend', 1)).toEqual([2, 3]);
    expect(await edgesOf(reader, 'friend', 3, true)).toEqual([1]);
    reader.release();
    expect(await read(fixture.graph, (r) => valuesOf(r, 'name', 1))).toEqual([]);
    await transaction.commit();
    expect(await read(fixture.graph, (r) => valuesOf(r, 'name', 1))).toEqual([':Grace']);
    expect(await read(fixture.graph, (r) => valuesOf(r, 'fresh', 1))).toEqual([':new']);
  });

  it('reads its own changes in requests that come at the same time', async () => {
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'name', 'Ada')]);
    const reads = [1, 2, 3].map(() => seen(transaction, 'name', 1));
    expect(await Promise.all(reads)).toEqual([[':Ada'], [':Ada'], [':Ada']]);
  });

  it('writes and reads predicates that others created meanwhile', async () => {
    const transaction = await fixture.graph.begin();
    await write(fixture.graph, setValue(7, 'later', 'theirs'));
    await transaction.stage([setValue(8, 'later', 'mine')]);
    expect([await seen(transaction, 'later', 7), await seen(transaction, 'later', 8)]).toEqual([[], [':mine']]);
    await transaction.commit();
    expect(await read(fixture.graph, (r) => valuesOf(r, 'later', 8))).toEqual([':mine']);
  });

  it('sees the graph as it was when it began', async () => {
    await write(fixture.graph, setValue(1, 'name', 'old'));
    const transaction = await fixture.graph.begin();
    await write(fixture.graph, setValue(1, 'name', 'new'));
    expect(await seen(transaction, 'name', 1)).toEqual([':old']);
    transaction.abort();
  });

  it('loses to a transaction that committed the same value first', async () => {
    const [first, second] = [await fixture.graph.begin(), await fixture.graph.begin()];
    await first.stage([setValue(1, 'name', 'a')]);
    await second.stage([setValue(1, 'name', 'b')]);
    await first.commit();
    await expect(second.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED', message: ABORTED });
    await expect(second.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    await expect(second.stage([setValue(1, 'name', 'c')])).rejects.toMatchObject({ code: 'TXN_FINISHED' });
  });

  const both = async (
    a: Parameters<typeof write>[1],
    b: Parameters<typeof write>[1],
    notes: readonly string[] = [],
  ) => {
    const [first, second] = [await fixture.graph.begin(), await fixture.graph.begin()];
    first.noteRead(notes);
    second.noteRead(notes);
    await first.stage([a]);
    await second.stage([b]);
    await first.commit();
    return second.commit().then(
      () => 'committed',
      (error) => error.code,
    );
  };

  it('lets different values, edges and languages of lists commit side by side', async () => {
    expect(await both(setEdge(1, 'friend', 2), setEdge(1, 'friend', 3))).toBe('committed');
    expect(await both(setEdge(1, 'friend', 9), setEdge(1, 'friend', 9))).toBe('TXN_ABORTED');
    expect(await both(setEdge(1, 'best', 2), setEdge(1, 'best', 3))).toBe('TXN_ABORTED');
    expect(await both(setEdge(1, 'friend', 4), { op: 'deletePredicate', uid: 1, predicate: 'friend' })).toBe(
      'TXN_ABORTED',
    );
    await fixture.graph.alter({ kind: 'schema', text: 'tag: [string] .' });
    expect(await both(setValue(1, 'tag', 'a'), setValue(1, 'tag', 'b'))).toBe('committed');
    expect(await both(setValue(1, 'tag', 'c'), setValue(1, 'tag', 'c'))).toBe('TXN_ABORTED');
    expect(await both(setValue(1, 'tag', 'd'), { op: 'deletePredicate', uid: 1, predicate: 'tag' })).toBe(
      'TXN_ABORTED',
    );
    expect(await both(setValue(1, 'free', 'a'), setValue(1, 'free', 'b'))).toBe('committed');
    expect(await read(fixture.graph, (r) => edgesOf(r, 'friend', 1))).toEqual([2, 3, 4, 9]);
  });

  it('treats the index keys of @upsert, and those both looked up and written, as exclusive', async () => {
    expect(await both(setValue(1, 'email', 'x'), setValue(2, 'email', 'x'))).toBe('TXN_ABORTED');
    expect(await both(setValue(1, 'name', 'y'), setValue(2, 'name', 'y'))).toBe('committed');
    const key = indexConflictKey('name', 'exact', Buffer.from('z'));
    expect(await both(setValue(1, 'name', 'z'), setValue(2, 'name', 'z'), [key])).toBe('TXN_ABORTED');
    expect(await both(setValue(1, 'name', 'v'), setValue(2, 'name', 'w'), [key])).toBe('committed');
  });

  it('takes the index keys of a value under @upsert that it deletes', async () => {
    await write(fixture.graph, setValue(1, 'email', 'x'));
    const deleted: GraphChange = { op: 'deleteValue', uid: 1, predicate: 'email', lang: '', value: text('x') };
    expect(await both(deleted, setValue(2, 'email', 'x'))).toBe('TXN_ABORTED');
  });

  it('does not delete a node that another has just led an edge to', async () => {
    await write(fixture.graph, setValue(2, TYPE_PREDICATE, 'Person'));
    for (const [kept, outcome] of [
      [3, 'fulfilled'],
      [2, 'rejected'],
    ] as const) {
      const [leads, deletes] = [await fixture.graph.begin(), await fixture.graph.begin()];
      await leads.stage([setEdge(1, 'friend', kept), { op: 'keepNode', uid: kept }]);
      await deletes.stage([{ op: 'deleteNode', uid: 2 }]);
      await leads.commit();
      const [{ status }] = await Promise.allSettled([deletes.commit()]);
      expect([kept, status]).toEqual([kept, outcome]);
      await write(fixture.graph, setValue(2, TYPE_PREDICATE, 'Person'));
    }
  });

  it.each(['dropData', 'dropAll'] as const)('loses to %s', async (kind) => {
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'name', 'a')]);
    await fixture.graph.alter({ kind });
    await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('commits what was being staged when it was told to, and refuses what is staged when it is over', async () => {
    await fixture.graph.alter({ kind: 'schema', text: 'pw: password .' });
    const secret = (uid: number) => setValue(uid, 'pw', 'secret12'); // takes its time
    const kept = await fixture.graph.begin();
    const staging = kept.stage([secret(1), setValue(1, 'name', 'kept')]);
    await kept.commit();
    await staging;
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'name', 1))).toEqual([':kept']);
    const left = await fixture.graph.begin();
    const late = left.stage([secret(2), setValue(2, 'name', 'late')]);
    await endOfTurn();
    left.abort();
    await expect(late).rejects.toMatchObject({ code: 'TXN_FINISHED' });
  });

  it('takes back what is not accepted, and nothing else', async () => {
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'name', 'a')]);
    const refused = transaction.stage([setValue(1, 'name', 'b'), setValue(2, 'email', 'x')], async () => {
      expect(await seen(transaction, 'name', 1)).toEqual([':b']);
      throw new Error('not so');
    });
    await expect(refused).rejects.toThrow('not so');
    expect([await seen(transaction, 'name', 1), await seen(transaction, 'email', 2)]).toEqual([[':a'], []]);
    await write(fixture.graph, setValue(3, 'email', 'x'));
    await transaction.commit();
    expect(await read(fixture.graph, (reader) => valuesOf(reader, 'name', 1))).toEqual([':a']);
  });

  describe('that holds its reads', () => {
    const holding = async () => {
      const transaction = await fixture.graph.begin();
      transaction.holdReads();
      return transaction;
    };
    beforeEach(async () => {
      await write(fixture.graph, setValue(1, 'name', 'Ada'), setValue(2, 'name', 'Ben'), setEdge(1, 'friend', 2));
    });

    it.each([
      ['a value', (reader: GraphReader) => valuesOf(reader, 'name', 1), [setValue(1, 'name', 'Eve')]],
      ['what was not there', (reader: GraphReader) => valuesOf(reader, 'name', 7), [setValue(7, 'name', 'Eve')]],
      ['edges', (reader: GraphReader) => edgesOf(reader, 'friend', 1), [setEdge(1, 'friend', 3)]],
      ['edges that come in', (reader: GraphReader) => edgesOf(reader, 'friend', 2, true), [setEdge(3, 'friend', 2)]],
      ['a lookup', (reader: GraphReader) => found(reader, 'name', 'exact', 'Eve'), [setValue(7, 'name', 'Eve')]],
    ])('loses to one that changed %s', async (_what, look, change) => {
      const transaction = await holding();
      const reader = await transaction.reader();
      await look(reader);
      reader.release();
      await transaction.stage([setValue(9, 'free', 'written')]);
      await write(fixture.graph, ...change);
      await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED', message: ABORTED });
    });

    it('does not lose to other values, nor to others that only read the same', async () => {
      const two = [await holding(), await holding()];
      for (const transaction of two) {
        expect(await seen(transaction, 'name', 1)).toEqual([':Ada']);
        await transaction.stage([setValue(transaction.startTs, 'free', 'written')]);
      }
      await write(fixture.graph, setValue(2, 'name', 'Eve'), setEdge(1, 'friend', 3));
      for (const transaction of two) await transaction.commit();
    });

    describe('of what it looked up under @upsert', () => {
      const EMAILS = [setValue(1, 'email', 'ada'), setValue(2, 'email', 'ben')];
      const lookedUp = async (...emails: readonly string[]) => {
        const transaction = await holding();
        const reader = await transaction.reader();
        for (const email of emails) await found(reader, 'email', 'exact', email);
        reader.release();
        await transaction.stage([setValue(9, 'free', 'written')]);
        return transaction;
      };
      beforeEach(() => write(fixture.graph, ...EMAILS));

      it('does not lose to those that came under other values, or left them', async () => {
        const transaction = await lookedUp('ada', 'eve');
        await write(fixture.graph, setValue(3, 'email', 'carl'), setValue(2, 'email', 'dan'));
        await transaction.commit();
      });

      it.each<[string, GraphChange]>([
        ['came under a value that nobody had', setValue(3, 'email', 'eve')],
        ['came under a value that another has', setValue(3, 'email', 'ada')],
        ['left a value for another', setValue(1, 'email', 'carl')],
        ['left a value for none', { op: 'deletePredicate', uid: 1, predicate: 'email' }],
      ])('loses to one that %s', async (_what, change) => {
        const transaction = await lookedUp('ada', 'eve');
        await write(fixture.graph, change);
        await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
      });

      it('loses to every change where it looked for very many', async () => {
        const transaction = await lookedUp(...Array.from({ length: 1_001 }, (_, i) => `nobody ${i}`));
        await write(fixture.graph, setValue(3, 'email', 'carl'));
        await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
      });
    });

    it('loses to a schema that changed what it read', async () => {
      const transaction = await holding();
      await seen(transaction, 'name', 1);
      await transaction.stage([setValue(9, 'free', 'written')]);
      await fixture.graph.alter({ kind: 'dropAttr', name: 'name' });
      await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    });

    it('takes a predicate as a whole where it read many of its nodes', async () => {
      const transaction = await holding();
      const reader = await transaction.reader();
      const name = reader.schema.predicate('name');
      if (name === undefined) throw new Error('no predicate');
      await reader.values(
        name,
        Float64Array.from({ length: 2_000 }, (_, i) => i + 1),
      );
      reader.release();
      await transaction.stage([setValue(9, 'free', 'written')]);
      await write(fixture.graph, setValue(5_000, 'name', 'Eve'));
      await expect(transaction.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    });
  });

  it('is found by its start timestamp, with the right hash, until it is over', async () => {
    const transaction = await fixture.graph.begin();
    await transaction.stage([setValue(1, 'name', 'Ada')]);
    expect(fixture.graph.open(transaction.startTs)).toBe(transaction);
    expect(fixture.graph.open(transaction.startTs, transaction.hash)).toBe(transaction);
    expect(() => fixture.graph.open(transaction.startTs, 'wrong')).toThrow(/hash/);
    expect(() => fixture.graph.open(987_654)).toThrow(/no open transaction/);
    const committed = await transaction.commit();
    expect(await fixture.graph.open(transaction.startTs).commit()).toEqual(committed);
  });

  it('is refused while it is staged when it would change too much', async () => {
    const small = await openFixture({ limits: { commitDeltas: 100 } });
    const changes = Array.from({ length: 50_000 }, (_, i): GraphChange => ({ op: 'deleteNode', uid: i + 1 }));
    let looked = 0;
    const counted = new Proxy(changes, {
      get: (target, key) => {
        looked++;
        return Reflect.get(target, key);
      },
    });
    await write(small.graph, setValue(1, 'service.type', 'T'));
    const transaction = await small.graph.begin();
    await expect(transaction.stage(counted)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(looked).toBeLessThan(5_000);
    transaction.abort();
    await small.close();
  });

  it('holds its changes no more while they are committed, and is not forgotten meanwhile', async () => {
    const transaction = await held();
    await transaction.stage([setValue(1, 'name', 'Ada')]);
    const committed = transaction.commit();
    for (let i = 1; i < 4; i++) await (await held()).stage([setValue(i + 1, 'free', 'a')]);
    expect(transaction.committing).toBe(true);
    expect(transaction.conflicts).toEqual([]);
    expect(transaction.predicates).toEqual(['name']);
    await expect(held()).rejects.toMatchObject({ code: 'TOO_MANY_TRANSACTIONS' });
    expect(await transaction.commit()).toEqual(await committed);
  });

  const held = () => fixture.graph.begin({ held: { client: 'one' } });

  it('expires when idle, and the oldest without changes makes room for others', async () => {
    const idle = await held();
    await idle.stage([setValue(1, 'name', 'a')]);
    clock.now += 60_000;
    expect(() => fixture.graph.open(idle.startTs)).toThrow(/idle/);
    const clean = await held();
    for (let i = 0; i < 4; i++) await (await held()).stage([setValue(i + 1, 'name', 'a')]);
    expect(() => fixture.graph.open(clean.startTs)).toThrow(/idle/);
    await expect(held()).rejects.toMatchObject({ code: 'TOO_MANY_TRANSACTIONS' });
  });

  it('is begun where clients hold as many as they may, when no client holds it', async () => {
    for (let i = 0; i < 4; i++) await (await held()).stage([setValue(i + 1, 'name', 'a')]);
    await write(fixture.graph, setValue(9, 'name', 'Ada'));
    const reading = await fixture.graph.begin({ held: { client: 'one', ifRoom: true } });
    expect([reading.held, await seen(reading, 'name', 9)]).toEqual([false, [':Ada']]);
    reading.abort();
  });

  it('makes room after limits.transactionIdleFullMs, unless a request works with it', async () => {
    const open: Awaited<ReturnType<typeof held>>[] = [];
    for (let i = 0; i < 4; i++) {
      open.push(await held());
      await open[i].stage([setValue(i + 1, 'name', 'a')]);
    }
    const [working, first, second, third] = open;
    const reader = await working.reader();
    clock.now += 30_000;
    await seen(fixture.graph.open(first.startTs), 'name', 1);
    await (await held()).stage([setValue(9, 'name', 'a')]);
    expect(() => fixture.graph.open(second.startTs)).toThrow(/idle/);
    for (const { startTs } of [working, first, third]) expect(fixture.graph.open(startTs).startTs).toBe(startTs);
    reader.release();
  });

  it('ends those that were left open with changes, where they are most, before one that has just begun to read', async () => {
    for (let i = 0; i < 3; i++) await (await held()).stage([setValue(i + 1, 'name', 'a')]);
    clock.now += 30_000;
    const reading = await held();
    const next = await held();
    expect(fixture.graph.open(reading.startTs).startTs).toBe(reading.startTs);
    await reading.stage([setValue(8, 'name', 'b')]);
    await next.stage([setValue(9, 'name', 'b')]);
  });

  it('ends readers, where they are most, before one that idles with changes', async () => {
    const idle = await held();
    await idle.stage([setValue(1, 'name', 'a')]);
    clock.now += 30_000;
    for (let i = 0; i < 6; i++) await held();
    expect(fixture.graph.open(idle.startTs).startTs).toBe(idle.startTs);
  });

  it('takes no more changes where clients hold limits.openChangesBytes of them open', async () => {
    const small = await openFixture({ clock, limits: { openChangesBytes: 1_000, transactionIdleFullMs: 30_000 } });
    const long = (uid: number) => [setValue(uid, 'note', 'x'.repeat(600))];
    const client = () => small.graph.begin({ held: { client: 'one' } });
    const [first, second] = [await client(), await client()];
    await first.stage(long(1));
    await second.stage(long(2));
    for (const open of [second, await client()]) {
      await expect(open.stage(long(3))).rejects.toMatchObject({ code: 'TOO_MANY_TRANSACTIONS' });
    }
    await write(small.graph, ...long(4));
    clock.now += 20_000;
    (await second.reader()).release();
    clock.now += 10_000;
    await second.stage(long(3));
    expect(() => small.graph.open(first.startTs)).toThrow(/idle/);
    await second.commit();
    expect(await read(small.graph, (reader) => valuesOf(reader, 'note', 3))).toHaveLength(1);
    await small.close();
  });

  it('moves to now after limits.snapshotMs when nothing that it read has changed', async () => {
    await write(fixture.graph, setValue(1, 'name', 'Ada'));
    const calm = await fixture.graph.begin();
    const late = await fixture.graph.begin();
    expect(await seen(calm, 'name', 1)).toEqual([':Ada']);
    expect(await seen(late, 'email', 1)).toEqual([]);
    await calm.stage([setValue(2, 'email', 'me')]);
    await write(fixture.graph, setValue(9, 'email', 'other'));
    clock.now += 5_001;
    expect(await seen(calm, 'name', 1)).toEqual([':Ada']);
    expect(await seen(calm, 'email', 2)).toEqual([':me']);
    expect(await seen(calm, 'email', 9)).toEqual([':other']);
    await expect(late.reader()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('keeps its snapshot for as long as somebody reads from it', async () => {
    await write(fixture.graph, setValue(1, 'name', 'Ada'));
    const transaction = await fixture.graph.begin({ held: { client: 'a' } });
    const reader = await transaction.reader();
    await write(fixture.graph, setValue(1, 'name', 'Ben'));
    clock.now += 5_001;
    fixture.graph.open(transaction.startTs); // which lets go of what was held too long
    expect(await valuesOf(reader, 'name', 1)).toEqual([':Ada']);
    reader.release();
    await expect(transaction.reader()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('does not move to now when a predicate was made that it had found missing', async () => {
    const late = await fixture.graph.begin();
    const other = await fixture.graph.begin();
    expect(await seen(late, 'made', 1)).toEqual([]);
    late.noteRead([], ['made']);
    other.noteRead([], ['never']);
    await write(fixture.graph, setValue(1, 'made', 'a'));
    clock.now += 5_001;
    await expect(late.reader()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    expect(await seen(other, 'made', 1)).toEqual([':a']);
  });

  it('loses to another that made the predicate which both had found missing', async () => {
    const [first, second, blind] = [
      await fixture.graph.begin(),
      await fixture.graph.begin(),
      await fixture.graph.begin(),
    ];
    for (const one of [first, second]) one.noteRead([], ['made']);
    for (const [i, one] of [first, second, blind].entries()) await one.stage([setValue(i + 1, 'made', 'a')]);
    await first.commit();
    await expect(second.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    const next = await fixture.graph.begin();
    await next.stage([setValue(8, 'made', 'a')]);
    await next.commit();
  });

  it('that holds its reads loses to one that makes a predicate which it found missing', async () => {
    const held = await fixture.graph.begin();
    held.holdReads();
    expect(await seen(held, 'made', 1)).toEqual([]);
    await held.stage([setValue(2, 'name', 'none was made')]);
    await write(fixture.graph, setValue(1, 'made', 'a'));
    await expect(held.commit()).rejects.toMatchObject({ code: 'TXN_ABORTED' });
  });

  it('refuses changes when it is read-only, and bad ones whole', async () => {
    const readOnly = await fixture.graph.begin({ readOnly: true });
    await expect(readOnly.stage([setValue(1, 'name', 'a')])).rejects.toMatchObject({ code: 'TXN_READ_ONLY' });
    const transaction = await fixture.graph.begin();
    const bad = [setValue(1, 'name', 'kept?'), setValue(1, 'friend', 'scalar')];
    await expect(transaction.stage(bad)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await expect(transaction.stage([setEdge(1, 'name', 2)])).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await expect(transaction.stage([setValue(1, 'email', 'a', 'en')])).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await expect(transaction.stage([setValue(0, 'name', 'a')])).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await expect(transaction.stage([setValue(1, 'service.x', 'a')])).rejects.toMatchObject({
      code: 'INVALID_MUTATION',
    });
    await expect(transaction.stage([setEdge(1, '~friend', 2)])).rejects.toMatchObject({
      code: 'INVALID_MUTATION',
      message: '~friend names edges that are read backwards',
    });
    await expect(transaction.stage([setValue(1, 'uid', 'a')])).rejects.toMatchObject({ code: 'INVALID_MUTATION' });
    expect(await seen(transaction, 'name', 1)).toEqual([]);
  });

  it.each([
    '',
    'two words',
    'tab\t',
    'line\n',
    '\u0001',
    'a>b',
    'a<b',
    'a"b',
    'a{b',
    'a}b',
    'a|b',
    'a^b',
    'a`b',
    'a\\b',
    '\\u12',
  ])('refuses the name %j, which no query, schema or N-Quad could write', async (name) => {
    const transaction = await fixture.graph.begin();
    await expect(transaction.stage([setValue(1, name, 'a')])).rejects.toMatchObject({
      code: 'INVALID_MUTATION',
      fix: expect.any(String),
    });
  });

  it('takes any other name', async () => {
    const transaction = await fixture.graph.begin();
    const names = ['公司', 'http://a.b/c#d?e=f&g', 'a\\u0020b', '_', '1', "it's", '(a)', 'a,b', '@id', '$v', '😀'];
    await transaction.stage(names.map((name) => setValue(1, name, 'a')));
    for (const name of names) expect(await seen(transaction, name, 1)).toEqual([':a']);
  });

  it('keeps @unique values unique, while staged and at commit', async () => {
    await fixture.graph.alter({ kind: 'schema', text: 'login: string @unique @index(hash) .' });
    await write(fixture.graph, setValue(1, 'login', 'ada'));
    const violation = {
      code: 'UNIQUE_VIOLATION',
      message: 'could not insert duplicate value [ada] for predicate [login]',
    };
    await expect(write(fixture.graph, setValue(2, 'login', 'ada'))).rejects.toMatchObject(violation);
    await expect(write(fixture.graph, setValue(3, 'login', 'x'), setValue(4, 'login', 'x'))).rejects.toMatchObject({
      code: 'UNIQUE_VIOLATION',
    });
    await write(fixture.graph, setValue(1, 'login', 'ada'));
    await write(fixture.graph, setValue(5, 'login', 'bob'));
    await write(fixture.graph, setValue(1, 'login', 'bob'), setValue(5, 'login', 'ada'));
    await write(fixture.graph, setValue(1, 'login', 'ada'), setValue(5, 'login', 'bob'));
    const moving = await fixture.graph.begin();
    await moving.stage([{ op: 'deleteValue', uid: 1, predicate: 'login', value: text('ada'), lang: '' }]);
    await moving.stage([setValue(2, 'login', 'ada')]);
    await moving.commit();
    expect(await read(fixture.graph, (r) => valuesOf(r, 'login', 2))).toEqual([':ada']);
  });

  it('asks of @unique values what a whole request comes to, not what it did on the way', async () => {
    await fixture.graph.alter({
      kind: 'schema',
      text: 'login: string @unique @lang @index(hash) .\ntag: [string] @unique @index(exact) .',
    });
    const gone = (uid: number, lang?: string): GraphChange =>
      lang === undefined
        ? { op: 'deletePredicate', uid, predicate: 'login' }
        : { op: 'deleteLang', uid, predicate: 'login', lang };
    const less = (uid: number, predicate: string, value: string): GraphChange => {
      return { op: 'deleteValue', uid, predicate, value: text(value), lang: '' };
    };
    const german = (uid: number, value: string): GraphChange => {
      return { op: 'setValue', uid, predicate: 'login', value: text(value), lang: 'de' };
    };
    const taken = { code: 'UNIQUE_VIOLATION' };
    const refused = (...changes: GraphChange[]) =>
      expect(write(fixture.graph, ...changes)).rejects.toMatchObject(taken);

    await write(fixture.graph, setValue(1, 'login', 'ada'), german(1, 'adele'));
    await refused(gone(1, 'de'), setValue(2, 'login', 'ada'));
    await refused(less(1, 'login', 'bob'), setValue(2, 'login', 'ada'));
    await refused(gone(1), setValue(1, 'login', 'ada'), setValue(2, 'login', 'ada'));
    await write(fixture.graph, gone(1, 'de'), german(2, 'adele'));
    await write(fixture.graph, less(1, 'login', 'ada'), setValue(2, 'login', 'ada'));
    await write(fixture.graph, gone(2), setValue(3, 'login', 'ada'), german(3, 'adele'));
    await write(fixture.graph, setValue(4, 'login', 'x'), setValue(4, 'login', 'y'), setValue(5, 'login', 'x'));
    const logins = await read(fixture.graph, (r) =>
      Promise.all([1, 2, 3, 4, 5].map((uid) => valuesOf(r, 'login', uid))),
    );
    expect(logins).toEqual([[], [], [':ada', 'de:adele'], [':y'], [':x']]);

    await write(fixture.graph, setValue(1, 'tag', 'a'), setValue(1, 'tag', 'b'));
    const staging = await fixture.graph.begin();
    await expect(staging.stage([setValue(1, 'tag', 'c'), setValue(2, 'tag', 'b')])).rejects.toMatchObject(taken);
    await refused(less(1, 'tag', 'a'), setValue(2, 'tag', 'b'));
    await write(fixture.graph, less(1, 'tag', 'b'), setValue(2, 'tag', 'b'));
    expect(await read(fixture.graph, (r) => Promise.all([1, 2].map((uid) => valuesOf(r, 'tag', uid))))).toEqual([
      [':a'],
      [':b'],
    ]);
  });

  it('refuses a @unique value that the same request deletes, where the peer does', async () => {
    const peer = await openFixture({ names: dgraphNames });
    try {
      await peer.graph.alter({ kind: 'schema', text: 'login: string @unique @index(hash) .' });
      await write(peer.graph, setValue(1, 'login', 'ada'));
      const gone: GraphChange = { op: 'deletePredicate', uid: 1, predicate: 'login' };
      const moved = write(peer.graph, gone, setValue(2, 'login', 'ada'));
      await expect(moved).rejects.toMatchObject({ code: 'UNIQUE_VIOLATION' });
      await write(peer.graph, setValue(1, 'login', 'eve'), setValue(2, 'login', 'ada'));
    } finally {
      await peer.close();
    }
  });

  it('moves amounts between nodes side by side without losing any', async () => {
    const accounts = [1, 2, 3, 4, 5];
    await write(fixture.graph, ...accounts.map((uid) => setValue(uid, 'amount', { type: 'int', value: 100 })));
    const transfer = async (from: number, to: number): Promise<void> => {
      const transaction = await fixture.graph.begin();
      const balance = async (uid: number) => Number((await seen(transaction, 'amount', uid))[0].slice(1));
      const [a, b] = [await balance(from), await balance(to)];
      await transaction.stage([
        setValue(from, 'amount', { type: 'int', value: a - 7 }),
        setValue(to, 'amount', { type: 'int', value: b + 7 }),
      ]);
      await transaction.commit();
    };
    let done = 0;
    for (let round = 0; round < 20; round++) {
      const moves = [
        transfer(1 + (round % 5), 1 + ((round + 1) % 5)),
        transfer(1 + ((round * 3) % 5), 1 + ((round * 3 + 2) % 5)),
      ];
      const outcomes = await Promise.allSettled(moves);
      done += outcomes.filter((outcome) => outcome.status === 'fulfilled').length;
    }
    const amounts = await read(fixture.graph, (r) => Promise.all(accounts.map((uid) => valuesOf(r, 'amount', uid))));
    expect(amounts.reduce((sum, [amount]) => sum + Number(amount.slice(1)), 0)).toBe(500);
    expect(done).toBeGreaterThanOrEqual(20);
  });

  it('leaves no trace of a commit that is refused inside a group', async () => {
    await fixture.graph.alter({ kind: 'schema', text: 'login: string @unique @index(exact) .' });
    const { groups } = fixture.committer.stats();
    const attempts = await Promise.all(Array.from({ length: 6 }, () => fixture.graph.begin()));
    for (const [i, attempt] of attempts.entries()) {
      await attempt.stage([
        setValue(i + 1, 'login', `before ${i}`),
        setValue(i + 1, 'login', 'same'),
        setEdge(i + 1, 'friend', 99),
        setValue(i + 1, `p${i}`, 'v'),
      ]);
    }
    const outcomes = await Promise.allSettled(attempts.map((attempt) => attempt.commit()));
    expect(fixture.committer.stats()['groups']).toBe(groups + 1);
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled').length).toBe(1);
    const winner = outcomes.findIndex((outcome) => outcome.status === 'fulfilled');
    expect(await read(fixture.graph, (r) => edgesOf(r, 'friend', 99, true))).toEqual([winner + 1]);
    expect(fixture.graph.schema().predicate(`p${winner}`)).toBeDefined();
    const others = [0, 1, 2, 3, 4, 5].filter((i) => i !== winner);
    expect(others.filter((i) => fixture.graph.schema().predicate(`p${i}`) !== undefined)).toEqual([]);
    const logins = (uid: number) => read(fixture.graph, (r) => valuesOf(r, 'login', uid));
    expect(await Promise.all(others.map((i) => logins(i + 1)))).toEqual(others.map(() => []));
    expect(await logins(winner + 1)).toEqual([':same']);
  });
});
