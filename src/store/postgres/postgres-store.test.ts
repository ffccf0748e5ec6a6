import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startDatabase, type TestDatabase } from '../../../test/database.js';
import { wayTo } from '../../../test/way-to-database.js';
import { until } from '../../../test/agent-service.js';
import { makeLimits, nameOfThis } from '../../base/index.js';
import type { Batch, Range, Store } from '../contract.js';
import { openPostgresStore } from './open.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
}, 120_000);
afterAll(() => database.stop());

const open: Store[] = [];
const ways: { close(): void }[] = [];
afterEach(async () => {
  for (const way of ways.splice(0)) way.close();
  for (const store of open.splice(0)) await store.close();
});

const key = (id: number): Uint8Array => Uint8Array.of(0x10, id);
const put = (id: number, text: string | undefined): Batch['puts'][number] => ({
  key: key(id),
  value: text === undefined ? undefined : Buffer.from(text),
});
const ALL: Range = { start: Uint8Array.of(0), end: Uint8Array.of(0xff) };

async function opened(address: string, options: Parameters<typeof openPostgresStore>[1] = {}): Promise<Store> {
  const store = await openPostgresStore(address, options);
  open.push(store);
  return store;
}

/** A store that reaches its database by a way that can be cut; others reach it by `address`. */
async function behindWay(settings = '') {
  const address = await database.place();
  const way = await wayTo(database.port);
  ways.push(way);
  const store = await opened(`${address.replace(`:${database.port}/`, `:${way.port}/`)}${settings}`);
  return { address, way, store };
}

let versions = 0;
const write = (store: Store, ...puts: Batch['puts']): Promise<void> =>
  store.apply({ version: ++versions, puts }, { expectEpoch: store.epoch });

async function entries(store: Store, snapshot = store.snapshot()): Promise<Record<number, string>> {
  const { keys, values } = await snapshot.range(ALL);
  snapshot.release();
  return Object.fromEntries(keys.map((one, i) => [one[1], Buffer.from(values[i]).toString()]));
}

const schemaOf = (address: string) => /search_path%3D(\w+)/.exec(address)?.[1];

/** Puts that go to the database in several messages. */
const ofManyParts = () =>
  Array.from({ length: 1_200 }, (_, i) => ({
    key: Uint8Array.of(0x10, i >> 8, i & 0xff),
    value: new Uint8Array(3_900).fill(i),
  }));

/** Rows of a place's tables, whatever their version. */
async function rowsIn(address: string, table = 'graphstead_entry'): Promise<number> {
  const { rows } = await database.run(`SELECT count(*)::int AS n FROM ${schemaOf(address)}.${table}`);
  return rows[0].n;
}

const told = (address: string, sets: string) => database.run(`UPDATE ${schemaOf(address)}.graphstead_meta SET ${sets}`);

const endConnections = () =>
  database.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'graphstead'`);

function failure(severity: string, code: string, reason: string): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${reason}`];
  const body = Buffer.from(`${fields.join('\0')}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** The last words of a server that could not bring its log to disk: it reads it again when it comes up, with all that had got there. */
const PANIC = failure('PANIC', '58030', 'could not fsync file "000000010000000000000001": Input/output error');
/** What a cluster answers whose node lost sight of the others in the middle of a commit. */
const AMBIGUOUS = Buffer.concat([failure('ERROR', '40003', 'result is ambiguous'), Buffer.from('5a0000000549', 'hex')]);
const CROSSED = failure('ERROR', '40001', 'could not serialize access due to concurrent update');

describe('a store in a database', () => {
  it('lands a batch whole or not at all where connections end at any moment, and knows which', async () => {
    const store = await opened(await database.place());
    const landed: Record<number, string> = {};
    let ending = true;
    const ends = (async () => {
      while (ending) await endConnections();
    })();
    let refused = 0;
    // on a busy machine connections end less often
    for (let i = 0; i < 60 || refused < 3; i++) {
      const [one, other] = [i % 5, 5 + (i % 7)];
      try {
        await write(store, put(one, `${i}`), put(other, i % 3 === 0 ? undefined : `${i}`));
        landed[one] = `${i}`;
        if (i % 3 === 0) delete landed[other];
        else landed[other] = `${i}`;
      } catch (error) {
        expect(error).toMatchObject({ code: 'OVERLOADED' });
        refused++;
      }
    }
    ending = false;
    await ends;
    expect(refused).toBeGreaterThan(0);
    await until(async () => (await entries(store).catch(() => undefined)) !== undefined);
    expect(await entries(store)).toEqual(landed);
  });

  it.each([
    ['was lost', 'nobody', undefined],
    ['was lost', 'another process', undefined],
    ['was that the server goes down', 'nobody', PANIC],
  ])('knows that a batch has landed whose answer %s, where %s wrote since', async (_, who, instead) => {
    const { address, way, store } = await behindWay();
    await write(store, put(1, 'first'));
    const answered = way.loseNextAnswer(instead);
    const writing = write(store, put(2, 'landed'));
    await answered;
    if (who === 'nobody') {
      way.open();
      await writing;
      expect(await entries(store)).toEqual({ 1: 'first', 2: 'landed' });
      return;
    }
    const second = await opened(address, { takeOver: true });
    expect(await entries(second)).toEqual({ 1: 'first', 2: 'landed' });
    await write(second, put(3, 'since'));
    way.open();
    await writing;
    expect(await entries(store)).toEqual({ 1: 'first', 2: 'landed' });
    await expect(write(store, put(4, 'late'))).rejects.toMatchObject({ code: 'STORE_FENCED' });
  });

  it('knows that a batch has landed that only took away', async () => {
    const { way, store } = await behindWay();
    await write(store, put(1, 'first'));
    const answered = way.loseNextAnswer();
    const writing = write(store, put(1, undefined));
    await answered;
    way.open();
    await writing;
    expect(await entries(store)).toEqual({});
  });

  it('takes no answer for a refusal that says that nothing is known', async () => {
    const { way, store } = await behindWay();
    way.changeNextAnswer(AMBIGUOUS);
    await write(store, put(1, 'landed'));
    expect(await entries(store)).toEqual({ 1: 'landed' });
  });

  it('asks how a batch has ended over another connection where one has fallen silent', async () => {
    const { way, store } = await behindWay('&query_timeout=300');
    const answered = way.loseNextAnswer();
    const writing = write(store, put(1, 'landed'));
    await answered;
    way.ignore('SET version');
    way.open();
    await writing;
    expect(await entries(store)).toEqual({ 1: 'landed' });
  });

  it('does not ask for ever how a batch has ended where its process ends', async () => {
    const { address, way, store } = await behindWay();
    await write(store, put(1, 'first'));
    const answered = way.loseNextAnswer();
    const writing = write(store, put(2, 'landed')).catch((error: unknown) => error);
    await answered;
    store.ending?.();
    expect(await writing).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    way.open();
    await expect(write(store, put(3, 'since'))).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await store.close();
    expect(await entries(await opened(address))).toEqual({ 1: 'first', 2: 'landed' });
  });

  it.each([
    ['nothing', undefined],
    ['that others crossed it', CROSSED],
  ])('lets nothing land late that was told to have failed, where the last that was heard is %s', async (_, instead) => {
    const { way, store } = await behindWay();
    await write(store, put(1, 'first'));
    const held = way.holdNextBatch(instead);
    const writing = write(store, put(2, 'failed'));
    await expect(writing).rejects.toMatchObject({ code: 'OVERLOADED' });
    await (await held)();
    await write(store, put(3, 'since'));
    expect(await entries(store)).toEqual({ 1: 'first', 3: 'since' });
  });

  it('gives up no batch in the place of the one that writes by then', async () => {
    const { address, way, store } = await behindWay();
    await write(store, put(1, 'first'));
    const held = way.holdNextBatch();
    const writing = write(store, put(2, 'failed')).catch((error: unknown) => error);
    await held;
    way.shut();
    const second = await opened(address, { takeOver: true });
    way.open();
    expect(await writing).toMatchObject({ code: 'OVERLOADED' });
    await write(second, put(3, 'since'));
    expect(await entries(second)).toEqual({ 1: 'first', 3: 'since' });
  });

  it('goes on by itself once a database that went away is back', async () => {
    const store = await opened(await database.place());
    await write(store, put(1, 'before'));
    await database.halt();
    await expect(write(store, put(1, 'meanwhile'))).rejects.toMatchObject({ code: 'OVERLOADED' });
    await expect(entries(store)).rejects.toMatchObject({ code: 'OVERLOADED' });
    await database.start();
    await write(store, put(2, 'after'));
    expect(await entries(store)).toEqual({ 1: 'before', 2: 'after' });
  });

  it('leaves a server that takes no writes: another one may, to which the address leads', async () => {
    const address = await database.place();
    const schema = schemaOf(address);
    await database.run(`CREATE ROLE moved_${schema} LOGIN PASSWORD 'pa55word';
      ALTER SCHEMA ${schema} OWNER TO moved_${schema}`);
    const store = await opened(address.replace('//graphstead:', `//moved_${schema}:`));
    await write(store, put(1, 'before'));
    // connections that are opened from now on are as those to a replica
    await database.run(`ALTER ROLE moved_${schema} SET default_transaction_read_only = on`);
    await endConnections();
    await until(async () => {
      const refusal = await write(store, put(2, 'refused')).catch((error: Error) => error);
      return /read-only transaction/.test(refusal?.message ?? '');
    });
    await database.run(`ALTER ROLE moved_${schema} RESET default_transaction_read_only`);
    await write(store, put(3, 'after'));
    expect(await entries(store)).toEqual({ 1: 'before', 3: 'after' });
  });

  it('reads nothing from a server that lacks what was written, and leaves it', async () => {
    const address = await database.place();
    const store = await opened(address, { limits: makeLimits({ storeCacheBytes: 1, storeConnections: 1 }) });
    await write(store, put(1, 'before'));
    await write(store, put(2, 'after'));
    const lags = { code: 'OVERLOADED', message: /has no version/ };
    const snapshot = store.snapshot();
    await told(address, `version = ${snapshot.version - 1}`);
    const connections = async () =>
      (await database.run(`SELECT pid FROM pg_stat_activity WHERE application_name = 'graphstead' ORDER BY 1`)).rows;
    const before = await connections();
    // also those that wait for a connection to it
    const many = Array.from({ length: 10 }, async () => await snapshot.range(ALL));
    for (const one of await Promise.allSettled(many)) expect(one).toMatchObject({ reason: lags });
    await expect(snapshot.get(key(1))).rejects.toMatchObject(lags);
    await told(address, `version = ${snapshot.version}`);
    expect(await entries(store, snapshot)).toEqual({ 1: 'before', 2: 'after' });
    expect(await connections()).not.toEqual(before);
  });

  it('counts as away while the database refuses what it took before', async () => {
    const address = await database.place();
    const store = await opened(address, { limits: makeLimits({ storeCacheBytes: 1 }) });
    await write(store, put(1, 'before'));
    const schema = schemaOf(address);
    await database.run(`ALTER TABLE ${schema}.graphstead_entry RENAME TO elsewhere`);
    await expect(write(store, put(1, 'refused'))).rejects.toMatchObject({
      code: 'OVERLOADED',
      message: /graphstead_entry/,
    });
    await expect(entries(store)).rejects.toMatchObject({ code: 'OVERLOADED' });
    await database.run(`ALTER TABLE ${schema}.elsewhere RENAME TO graphstead_entry`);
    await write(store, put(2, 'after'));
    expect(await entries(store)).toEqual({ 1: 'before', 2: 'after' });
  });

  it('takes versions away that nobody reads, and keeps those that somebody does', async () => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'first'), put(2, 'stays'));
    const held = store.snapshot();
    for (let i = 0; i < 20; i++) await write(store, put(1, `${i}`));
    await write(store, put(1, undefined));
    expect(await entries(store, held)).toEqual({ 1: 'first', 2: 'stays' });
    await write(store, put(3, 'new'));
    await until(async () => (await rowsIn(address)) === 2);
    expect(await entries(store)).toEqual({ 2: 'stays', 3: 'new' });
  });

  it('takes them away while one batch follows the other, too', async () => {
    const address = await database.place();
    const store = await opened(address);
    let rows = 0;
    const writtenUntil = performance.now() + 3_500;
    while (performance.now() < writtenUntil) {
      await write(store, put(1, 'a'));
      rows++;
    }
    expect(rows).toBeGreaterThan(100);
    expect(await rowsIn(address)).toBeLessThan(0.7 * rows);
  });

  it('tells once where they cannot be taken away, and that they can again', async () => {
    const address = await database.place();
    const schema = schemaOf(address);
    await database.run(`CREATE ROLE owner_of_${schema} LOGIN PASSWORD 'pa55word';
      ALTER SCHEMA ${schema} OWNER TO owner_of_${schema}`);
    const told: (string | undefined)[] = [];
    const keepsVersions = (reason?: Error) => told.push(reason?.message);
    const store = await opened(address.replace('//graphstead:', `//owner_of_${schema}:`), { keepsVersions });
    await database.run(`REVOKE DELETE ON ${schema}.graphstead_entry FROM owner_of_${schema}`);
    for (let i = 0; i < 20; i++) await write(store, put(1, `${i}`));
    await until(async () => told.length > 0);
    expect(told[0]).toMatch(/old versions in the database cannot be taken away: permission denied/);
    const { sweepFailures } = store.stats();
    await until(async () => store.stats()['sweepFailures'] > sweepFailures + 1);
    expect(told).toHaveLength(1);
    expect(await store.overdue?.(5)).toBe(5);
    await database.run(`GRANT DELETE ON ${schema}.graphstead_entry TO owner_of_${schema}`);
    await until(async () => told.length === 2);
    expect([told[1], await store.overdue?.(5), await rowsIn(address)]).toEqual([undefined, 0, 1]);
  });

  it('opens for users who own nothing of it, one that writes and one that reads', async () => {
    const address = await database.place();
    await (await openPostgresStore(address)).close();
    const schema = schemaOf(address);
    const as = async (name: string, rights: string) => {
      await database.run(`CREATE ROLE ${name}_${schema} LOGIN PASSWORD 'pa55word';
        GRANT USAGE ON SCHEMA ${schema} TO ${name}_${schema}; ${rights.replaceAll('%', `${name}_${schema}`)}`);
      return address.replace('//graphstead:', `//${name}_${schema}:`);
    };
    const all = `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO %`;
    const store = await opened(await as('writer', all));
    await write(store, put(1, 'a'));
    const some = `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO %;
      GRANT INSERT, UPDATE, DELETE ON ${schema}.graphstead_reader TO %`;
    const reader = await opened(await as('reader', some), { readOnly: true });
    expect(await entries(reader)).toEqual({ 1: 'a' });
  });

  it('lets another process read beside the writer, and keeps what it reads', async () => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'old'));
    const reader = await opened(address, { readOnly: true });
    const held = reader.snapshot();
    for (let i = 0; i < 5; i++) await write(store, put(1, `${i}`));
    // what nobody reads has been taken away
    await until(async () => {
      const { rows } = await database.run(`SELECT horizon::int FROM ${schemaOf(address)}.graphstead_meta`);
      return rows[0].horizon >= held.version;
    });
    expect(await entries(reader)).toEqual({ 1: 'old' });
    await reader.refresh?.();
    expect(await entries(reader)).toEqual({ 1: '4' });
    expect(await entries(reader, held)).toEqual({ 1: 'old' });
    await expect(write(reader, put(1, 'x'))).rejects.toMatchObject({ code: 'READ_ONLY_STORE' });
    await reader.close();
    expect(await rowsIn(address, 'graphstead_reader')).toBe(0);
  });

  it('reads the newest version beside the writer, whatever it has kept of those before', async () => {
    const address = await database.place();
    const store = await opened(address);
    const reader = await opened(address, { readOnly: true });
    const asked = Array.from({ length: 12 }, (_, i) => key(i));
    const id = fc.integer({ min: 0, max: 11 });
    const changes = fc.array(fc.tuple(id, fc.option(fc.string({ maxLength: 5 }), { nil: undefined })), {
      minLength: 1,
    });
    const values = async (of: Store) => {
      const snapshot = of.snapshot();
      const found = await snapshot.getMany(asked);
      const { keys } = await snapshot.range({ ...ALL, keysOnly: true });
      snapshot.release();
      return [found.map((value) => value && Buffer.from(value).toString()), keys.map((one) => one[1])];
    };
    const property = fc.asyncProperty(fc.array(changes, { maxLength: 4 }), fc.boolean(), async (batches, isSlow) => {
      for (const batch of batches) await write(store, ...batch.map(([i, text]) => put(i, text)));
      // as if it had been silent for so long that nothing was left for it
      if (isSlow) await told(address, 'horizon = version');
      await reader.refresh?.();
      expect(await values(reader)).toEqual(await values(store));
      expect(await values(reader)).toEqual(await values(store));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('asks only for what others have changed', async () => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'a'), put(2, 'b'));
    const reader = await opened(address, { readOnly: true });
    await entries(reader);
    const first = reader.snapshot();
    await first.getMany([key(1), key(2)]);
    first.release();
    await write(store, put(2, 'c'));
    await reader.refresh?.();
    await database.run(`UPDATE ${schemaOf(address)}.graphstead_entry SET v = 'x'`);
    const second = reader.snapshot();
    const found = await second.getMany([key(1), key(2)]);
    second.release();
    expect(found.map((value) => Buffer.from(value ?? []).toString())).toEqual(['a', 'x']);
  });

  it('never gives a part of a version: one that another writer took away is refused', async () => {
    const address = await database.place();
    const first = await opened(address, { limits: makeLimits({ storeCacheBytes: 1 }) });
    await write(first, put(1, 'a'), put(2, 'b'));
    const held = first.snapshot();
    const second = await opened(address, { takeOver: true });
    await write(second, put(1, undefined));
    await until(async () => (await rowsIn(address)) === 1);
    await expect(held.get(key(2))).rejects.toMatchObject({ code: 'OVERLOADED', message: /another process writes/ });
    await expect(held.range(ALL)).rejects.toMatchObject({ code: 'OVERLOADED' });
    await expect(write(first, put(3, 'c'))).rejects.toMatchObject({ code: 'STORE_FENCED' });
    expect(await entries(second)).toEqual({ 2: 'b' });
  });

  it('reads what each version holds while others are written, whatever is kept of it here', async () => {
    const address = await database.place();
    const whole = { limits: makeLimits({ storeCacheBytes: 64 * 1024 * 1024 }) };
    const small = { limits: makeLimits({ storeCacheBytes: 600 }) };
    const id = fc.integer({ min: 0, max: 12 });
    const step = fc.record({
      puts: fc.array(fc.tuple(id, fc.option(fc.string({ maxLength: 5 }), { nil: undefined })), { maxLength: 5 }),
      range: fc.option(fc.tuple(id, fc.nat(4)), { nil: undefined, freq: 5 }),
      hold: fc.boolean(),
      cuts: fc.boolean(),
    });
    const run = async (isSmall: boolean, steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
      const store = await openPostgresStore(address, { takeOver: true, ...(isSmall ? small : whole) });
      try {
        const first = store.snapshot();
        let model = await entries(store, first);
        versions = Math.max(versions, first.version);
        const held: [ReturnType<Store['snapshot']>, Record<number, string>][] = [];
        const reads = async (snapshot: ReturnType<Store['snapshot']>, expected: Record<number, string>) => {
          const ids = Array.from({ length: 13 }, (_, i) => i);
          const values = await snapshot.getMany(ids.map(key));
          expect(values.map((value) => value && Buffer.from(value).toString())).toEqual(ids.map((i) => expected[i]));
          const { keys, values: all } = await snapshot.range(ALL);
          expect(Object.fromEntries(keys.map((one, i) => [one[1], Buffer.from(all[i]).toString()]))).toEqual(expected);
          // whoever changes what he was given changes it for himself
          for (const given of [...values, ...keys, ...all]) given?.fill(0xff);
        };
        for (const { puts, range, hold, cuts } of steps) {
          const snapshot = store.snapshot();
          const during = reads(snapshot, model);
          const next = { ...model };
          const [from, length] = range ?? [0, 0];
          for (let i = from; i < from + length; i++) delete next[i];
          for (const [i, text] of puts) {
            if (text === undefined) delete next[i];
            else next[i] = text;
          }
          const deleteRanges = range ? [{ start: key(from), end: key(from + length) }] : [];
          const batch = { version: ++versions, puts: puts.map(([i, text]) => put(i, text)), deleteRanges };
          const writing = store.apply(batch, { expectEpoch: store.epoch });
          if (cuts) await during;
          await Promise.all([writing, during]);
          if (hold) held.push([snapshot, model]);
          else snapshot.release();
          model = next;
          const newest = store.snapshot();
          await Promise.all([reads(newest, model), ...held.map(([one, expected]) => reads(one, expected))]);
          await reads(newest, model);
          newest.release();
        }
        for (const [snapshot] of held) snapshot.release();
      } finally {
        await store.close();
      }
    };
    await fc.assert(fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 8 }), run), {
      numRuns: 40,
    });
  });

  it('keeps every byte in a database that takes a backslash in a text for the beginning of an escape', async () => {
    const address = (await database.place()).replace(
      'search_path',
      'standard_conforming_strings%3Doff%20-c%20search_path',
    );
    const store = await opened(address);
    const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await write(store, { key: all, value: all }, put(0x5c, 'a\\b'));
    const snapshot = store.snapshot();
    expect((await snapshot.getMany([all, key(0x5c)])).map((value) => value && Buffer.from(value))).toEqual([
      all,
      Buffer.from('a\\b'),
    ]);
    snapshot.release();
  });

  it('writes batches of many parts at once', async () => {
    const store = await opened(await database.place());
    const large = ofManyParts();
    await store.apply({ version: ++versions, puts: large }, { expectEpoch: store.epoch });
    const snapshot = store.snapshot();
    const values = await snapshot.getMany(large.map((one) => one.key));
    snapshot.release();
    expect(values.map((value) => value?.[3_899])).toEqual(large.map((_, i) => i & 0xff));
  });
});

describe('who writes to a database', () => {
  it('is one process: another is told which', async () => {
    const address = await database.place();
    await opened(address);
    const second = openPostgresStore(address, { waitMs: 0 });
    await expect(second).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: new RegExp(`process ${process.pid} of`),
    });
  });

  it('is one of those that begin at once', async () => {
    for (let round = 0; round < 5; round++) {
      const address = await database.place();
      const begun = await Promise.allSettled([1, 2, 3].map(() => opened(address, { waitMs: 0 })));
      const stores = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(stores).toHaveLength(1);
      await write(stores[0], put(1, 'a'));
    }
  });

  it('writes nothing more once it was replaced, though the other has not written yet', async () => {
    const address = await database.place();
    const first = await opened(address);
    await write(first, put(1, 'a'));
    const second = await opened(address, { takeOver: true });
    await expect(write(first, put(2, 'late'))).rejects.toMatchObject({ code: 'STORE_FENCED' });
    await write(second, put(3, 'b'));
    expect(await entries(second)).toEqual({ 1: 'a', 3: 'b' });
  });

  it.each(['it writes', 'it says that it is there', 'it takes old versions away'])(
    'is told that it was replaced when %s',
    async (how) => {
      const address = await database.place();
      const told: unknown[] = [];
      const first = await opened(address, { fenced: (error) => told.push(error) });
      await write(first, put(1, 'a'));
      if (how === 'it takes old versions away') await write(first, put(1, 'b'));
      else await until(async () => (await rowsIn(address)) === 1);
      const second = await opened(address, { takeOver: true });
      await write(second, put(2, 'of the second'));
      if (how === 'it writes') await write(first, put(3, 'c')).catch(() => undefined);
      await until(async () => told.length > 0);
      expect(told[0]).toMatchObject({ code: 'STORE_FENCED', message: /another process took over the database/ });
      expect([first.stale, second.stale]).toEqual([told[0], undefined]);
      await expect(write(first, put(3, 'c'))).rejects.toMatchObject({ code: 'STORE_FENCED' });
      expect(told).toHaveLength(1);
    },
  );

  it('says with each batch that it is there: its other words may meet batches, and be refused for it', async () => {
    const address = await database.place();
    const store = await opened(address);
    const later = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 20_000);
    try {
      expect(store.stale).toMatchObject({ code: 'OVERLOADED' });
      await told(address, "held_until = now() - interval '1 second'");
      await write(store, put(1, 'a'));
      expect(store.stale).toBe(undefined);
    } finally {
      later.mockRestore();
    }
    await expect(openPostgresStore(address, { waitMs: 0 })).rejects.toMatchObject({ code: 'STORE_LOCKED' });
  });

  it('is replaced once it has been silent for long, which is waited for', async () => {
    const address = await database.place();
    await opened(address);
    const waited: string[] = [];
    const second = opened(address, { waits: (holder) => waited.push(holder) });
    await until(async () => waited.length === 1);
    await told(address, "held_until = now() - interval '1 second'");
    expect((await second).epoch).toBe(2);
  });

  it('is replaced where it fell silent in the middle of a batch, too', async () => {
    const address = await database.place();
    const way = await wayTo(database.port);
    try {
      const first = await opened(address.replace(`:${database.port}/`, `:${way.port}/`));
      await write(first, put(1, 'kept'));
      const held = way.holdNextBatch();
      const writing = first.apply({ version: ++versions, puts: ofManyParts() }, { expectEpoch: first.epoch });
      const refused = writing.catch((error: unknown) => error);
      await held;
      const second = await opened(address, { takeOver: true });
      expect(await entries(second)).toEqual({ 1: 'kept' });
      await write(second, put(2, 'goes on'));
      expect(await refused).toMatchObject({ code: 'OVERLOADED' });
      await expect(write(first, put(3, 'late'))).rejects.toMatchObject({ code: 'STORE_FENCED' });
    } finally {
      way.close();
    }
  }, 30_000);

  it('is replaced at once where it was a process of this machine that is gone', async () => {
    const address = await database.place();
    const first = await opened(address);
    await write(first, put(1, 'kept'));
    const gone = { ...JSON.parse(nameOfThis()), pid: 2 ** 22 + 1, started: '1' };
    // as of another machine of the same name, whose processes are none here
    await told(address, `holder = '${JSON.stringify({ ...gone, boot: 'another' })}'`);
    await expect(openPostgresStore(address, { waitMs: 0 })).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await told(address, `holder = '${JSON.stringify(gone)}'`);
    expect(await entries(await opened(address, { waitMs: 0 }))).toEqual({ 1: 'kept' });
  });
});

describe('a database that went back to an older state', () => {
  /** As after a failover to a replica that lacked what came last, or a restored copy. */
  async function keptState(address: string): Promise<{ bringBack(): Promise<unknown> }> {
    const schema = schemaOf(address);
    const tables = ['graphstead_meta', 'graphstead_entry'];
    await database.run(
      tables.map((table) => `CREATE TABLE ${schema}.old_${table} AS TABLE ${schema}.${table}`).join(';'),
    );
    const back = tables.map(
      (table) => `DELETE FROM ${schema}.${table}; INSERT INTO ${schema}.${table} TABLE ${schema}.old_${table}`,
    );
    return { bringBack: () => database.run(`BEGIN; ${back.join(';')}; COMMIT`) };
  }
  const older = { code: 'STORE_FENCED', message: /the database holds an older state/ };

  it.each(['it writes', 'it says that it is there', 'it takes old versions away'])(
    'takes nothing more from the one that wrote the newer one, which is told when %s',
    async (how) => {
      const address = await database.place();
      const told: unknown[] = [];
      const store = await opened(address, { fenced: (error) => told.push(error) });
      await write(store, put(1, 'kept'));
      const old = await keptState(address);
      await write(store, put(1, 'lost'), put(2, 'lost'));
      if (how !== 'it takes old versions away') await until(async () => (await rowsIn(address)) === 2);
      await old.bringBack();
      if (how === 'it writes') await expect(write(store, put(3, 'on top'))).rejects.toMatchObject(older);
      await until(async () => told.length > 0);
      expect(told).toEqual([expect.objectContaining({ code: 'STORE_FENCED' })]);
      expect([told[0], store.stale]).toMatchObject([older, older]);
      await store.close();
      const next = await opened(address);
      expect(await entries(next)).toEqual({ 1: 'kept' });
      await write(next, put(3, 'goes on'));
      expect(await entries(next)).toEqual({ 1: 'kept', 3: 'goes on' });
    },
  );

  it('takes nothing more where nothing is left that says what it holds', async () => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'kept'));
    await database.run(`DELETE FROM ${schemaOf(address)}.graphstead_meta`);
    await expect(write(store, put(2, 'on top'))).rejects.toMatchObject(older);
    expect(await rowsIn(address)).toBe(1);
  });

  it('is told to who only reads, since what he keeps was never there', async () => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'kept'));
    const old = await keptState(address);
    await write(store, put(1, 'lost'));
    const told: unknown[] = [];
    const reader = await opened(address, { readOnly: true, fenced: (error) => told.push(error) });
    await old.bringBack();
    await expect(reader.refresh?.()).rejects.toMatchObject(older);
    expect([told, reader.stale]).toMatchObject([[older], older]);
  });
});

describe('a database that cannot be opened', () => {
  it('is told without its password', async () => {
    const address = (await database.place()).replace('pa55word', 'wr0ng');
    const failure = await openPostgresStore(address).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CONFIG', message: /password/ });
    expect(JSON.stringify(failure)).not.toContain('wr0ng');
    const away = openPostgresStore('postgres://graphstead:pa55word@127.0.0.1:1/postgres');
    await expect(away).rejects.toMatchObject({ code: 'OVERLOADED', message: /ECONNREFUSED/ });
    await expect(openPostgresStore('postgres://graphstead:pa55word@host:port/db')).rejects.toMatchObject({
      code: 'CONFIG',
    });
  });

  it('speaks no TLS where the address asks for it, or lacks the file that the address names', async () => {
    const failing = openPostgresStore(`${await database.place()}&sslmode=require`);
    const fix = /^leave sslmode out of the address/;
    await expect(failing).rejects.toMatchObject({ code: 'CONFIG', message: /does not support SSL/, fix });
    const lost = openPostgresStore(`${await database.place()}&sslrootcert=/none/ca.pem`);
    await expect(lost).rejects.toMatchObject({
      code: 'CONFIG',
      fix: /^correct the path \/none\/ca\.pem in the address/,
    });
  });

  it('holds a newer store, or none', async () => {
    const address = await database.place();
    const reading = () => openPostgresStore(address, { readOnly: true });
    await expect(reading()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await (await opened(address)).close();
    await told(address, 'format = 2');
    await expect(openPostgresStore(address)).rejects.toMatchObject({ code: 'STORE_FORMAT', message: /format 2/ });
    await expect(reading()).rejects.toMatchObject({ code: 'STORE_FORMAT' });
  });

  it.each([
    'DROP TABLE graphstead_entry',
    'DROP TABLE graphstead_meta',
    'DROP TABLE graphstead_meta, graphstead_reader',
    'DELETE FROM graphstead_meta',
  ])('holds a part of a store, and is not taken for an empty one: %s', async (loss) => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'kept'));
    await store.close();
    await database.run(`SET search_path TO ${schemaOf(address)}; ${loss}`);
    const tables = `SELECT count(*)::int AS n FROM information_schema.tables WHERE table_schema = '${schemaOf(address)}'`;
    const left = (await database.run(tables)).rows;
    await expect(openPostgresStore(address)).rejects.toMatchObject({ code: 'STORE_CORRUPT', fix: /Restore/ });
    expect((await database.run(tables)).rows).toEqual(left);
  });

  it('is copied by its own means', async () => {
    const store = await opened(await database.place());
    await expect(store.backup('/nowhere')).rejects.toMatchObject({ code: 'INVALID_REQUEST', fix: /pg_dump/ });
  });

  it('is another life of itself once it was copied back, by the statement that the guide has', async () => {
    const address = await database.place();
    const store = await opened(address);
    await write(store, put(1, 'one'));
    await store.close();
    const guide = readFileSync(new URL('../../../docs/guides/deployment.md', import.meta.url), 'utf8');
    const statement = /`(UPDATE graphstead_meta [^`]+)`/.exec(guide)?.[1];
    await database.run(`SET search_path TO ${schemaOf(address)}; ${statement}`);
    const restored = await opened(address);
    expect(restored.incarnation).not.toBe(store.incarnation);
    expect(restored.incarnation).toMatch(/^[0-9a-f]{32}$/);
    expect(await entries(restored)).toEqual({ 1: 'one' });
  });
});
