import { chmodSync, chownSync, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startDatabase, type TestDatabase } from '../../test/database.js';
import { openRelational, type RelationalConnection } from './relational-connection.js';

type Statements = Parameters<Parameters<RelationalConnection['transaction']>[0]>[0];

let database: TestDatabase;
let connection: RelationalConnection;

beforeAll(async () => {
  database = await startDatabase();
  connection = openRelational('db', {
    type: 'relational',
    connStr: database.address,
  });
  await connection.execute('create table item (id int primary key, name text not null)');
}, 120_000);

afterAll(async () => {
  await connection?.close();
  await database?.stop();
});

describe('a relational connection, on a real PostgreSQL', () => {
  it('sends values beside the text', async () => {
    expect(await connection.execute('insert into item values ($1, $2)', [1, "Robert'); drop table item;--"])).toBe(1);
    expect(await connection.query('select name from item where id = $1', [1])).toEqual([
      { name: "Robert'); drop table item;--" },
    ]);
  });

  it('a transaction that throws leaves nothing', async () => {
    const failing = connection.transaction(async (statements) => {
      await statements.execute('insert into item values (2, $1)', ['two']);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await connection.query('select * from item where id = 2')).toEqual([]);
    await connection.transaction((statements) => statements.execute('insert into item values (3, $1)', ['three']));
    expect(await connection.query('select name from item where id = 3')).toEqual([{ name: 'three' }]);
  });

  it('runs nothing behind the end of a transaction that part of its work outlives', async () => {
    await connection.execute('create table outlived (id int)');
    let inserted: Promise<unknown> = Promise.resolve();
    const insertLater = (statements: Statements, id: number) =>
      statements.query('select 1').then(() => {
        inserted = statements.execute('insert into outlived values ($1)', [id]);
        return inserted;
      });
    const refusal = { code: 'CONNECTION_FAILED', message: expect.stringContaining('the transaction has ended') };
    const failing = connection.transaction(async (statements) => {
      const one = statements.query('select 1').then(() => {
        throw new Error('changed my mind');
      });
      await Promise.all([one, insertLater(statements, 1)]);
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await expect(inserted).rejects.toMatchObject(refusal);
    let left: Promise<unknown> = Promise.resolve();
    await connection.transaction(async (statements) => {
      left = insertLater(statements, 2);
      left.catch(() => undefined);
    });
    await expect(left).rejects.toMatchObject(refusal);
    expect(await connection.query('select id from outlived')).toEqual([]);
  });

  it('refuses a transaction that is begun by hand, and nobody else runs in it', async () => {
    const one = openRelational('one', {
      type: 'relational',
      connStr: database.address,
      maxConnections: 1,
    });
    const refusal = { code: 'CONNECTION_FAILED', message: expect.stringContaining('left a transaction open') };
    await one.execute('create table by_hand (id int)');
    await expect(one.execute('begin')).rejects.toMatchObject(refusal);
    await expect(one.execute('begin; insert into by_hand values (1)')).rejects.toMatchObject(refusal);
    expect(await one.execute('insert into by_hand values ($1)', [2])).toBe(1);
    expect(await one.execute('begin; insert into by_hand values (3); commit')).toBe(1);
    expect(await connection.query('select id from by_hand order by id')).toEqual([{ id: 2 }, { id: 3 }]);
    await one.close();
  });

  it('keeps the connection of a statement that fails, unless it leaves a transaction open', async () => {
    const db = openRelational('db', {
      type: 'relational',
      connStr: database.address,
      maxConnections: 1,
    });
    const server = async () => (await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;
    const first = await server();
    const mistakes = ['SELECT 1/0', 'SELECT nothing', 'INSERT INTO none VALUES (1)', 'SELECT 1/$1::int'];
    for (const mistake of mistakes) {
      await expect(db.query(mistake, mistake.includes('$1') ? [0] : [])).rejects.toMatchObject({
        code: 'CONNECTION_FAILED',
      });
      await expect(db.execute(mistake, mistake.includes('$1') ? [0] : [])).rejects.toThrow();
      expect(await server()).toBe(first);
    }
    for (const unfinished of ['BEGIN; SELECT 1/0', 'BEGIN; SELECT 1; SELECT 1/0']) {
      await expect(db.execute(unfinished)).rejects.toThrow('division by zero');
      expect(await db.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    await expect(db.query('SELECT pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
    expect(await server()).not.toBe(first);
    await db.close();
  });

  it('refuses statements of a transaction that has ended', async () => {
    const kept: Statements[] = [];
    await connection.transaction(async (statements) => void kept.push(statements));
    const failing = connection.transaction(async (statements) => {
      kept.push(statements);
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    for (const statements of kept) {
      await expect(statements.execute('select 1')).rejects.toMatchObject({
        message: /"db": the transaction has ended/,
      });
    }
  });

  it('a transaction that goes on after a failed statement fails: the server has rolled it back', async () => {
    const going = connection.transaction(async (statements) => {
      await statements.execute('insert into item values (4, $1)', ['four']);
      await statements.execute('insert into item values (4, $1)', ['again']).catch(() => undefined);
    });
    const failure = { code: 'CONNECTION_FAILED', message: /"db": rolled back/, fix: /SAVEPOINT/ };
    await expect(going).rejects.toMatchObject(failure);
    expect(await connection.query('select * from item where id = 4')).toEqual([]);
  });

  it('a transaction that loses its server between two statements fails with the next, and the connection goes on', async () => {
    const losing = connection.transaction(async (statements) => {
      const [{ pid }] = await statements.query('select pg_backend_pid() as pid');
      await connection.query('select pg_terminate_backend($1)', [pid]);
      const ended = 'select count(*)::int as left from pg_stat_activity where pid = $1';
      for (let left = 1; left > 0; ) left = (await connection.query<{ left: number }>(ended, [pid]))[0].left;
      await statements.execute('insert into item values (5, $1)', ['five']);
    });
    await expect(losing).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(await connection.query('select * from item where id = 5')).toEqual([]);
  });

  it('a query is one statement, and what is executed may be several', async () => {
    const two = 'insert into item values (6, $$six$$); select * from item';
    await expect(connection.query(two)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(await connection.query('select * from item where id = 6')).toEqual([]);
    const script = "insert into item values (7, 'x'), (8, 'x'); delete from item where id = 7; create table other ()";
    expect(await connection.execute(script)).toBe(3);
    expect(await connection.query('select id from item where id > 6')).toEqual([{ id: 8 }]);
  });

  it('errors carry the connection and never the password', async () => {
    const error = await connection.query('selec 1').catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/connection "db": syntax error/);
    const wrong = openRelational('db', {
      type: 'relational',
      connStr: database.address.replace('pa55word', 'wr0ng'),
    });
    const refused = await wrong.query('select 1').catch((thrown: Error) => thrown);
    expect(refused).toMatchObject({ code: 'CONNECTION_FAILED', fix: /password/, details: { sqlState: '28P01' } });
    expect(`${refused}${JSON.stringify(refused)}`).not.toContain('wr0ng');
    await wrong.close();
  });

  it('tells an SQLSTATE only where the server answered', async () => {
    const nowhere = openRelational('db', { type: 'relational', connStr: 'postgres://a:b@127.0.0.1:1/postgres' });
    const details = { connection: 'db' };
    await expect(nowhere.query('select 1')).rejects.toMatchObject({ fix: expect.stringContaining('runs') });
    await expect(nowhere.query('select 1')).rejects.toHaveProperty('details', details);
    await nowhere.close();
  });

  it('a statement that hangs is ended, and the connection goes on', async () => {
    const hasty = openRelational('db', {
      type: 'relational',
      connStr: database.address,
      timeoutMs: 2_000,
    });
    await expect(hasty.query('select pg_sleep(30)')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      fix: expect.stringContaining('timeoutMs'),
    });
    expect(await hasty.query('select 1 as one')).toEqual([{ one: 1 }]);
    await hasty.close();
  });

  it('what a statement waits for a connection is part of its timeoutMs', async () => {
    const connStr = database.address;
    const narrow = openRelational('db', { type: 'relational', connStr, timeoutMs: 20_000, maxConnections: 1 });
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    await Promise.all([narrow.query('select pg_sleep(0.3)'), narrow.query('select 1')]);
    const left = asked.mock.calls.map(([query]) => (query as unknown as { query_timeout: number }).query_timeout);
    asked.mockRestore();
    expect(left).toHaveLength(2);
    expect(left[1]).toBeLessThan(20_000 - 300);
    await narrow.close();
  });

  it('a statement waits for a connection for as long as timeoutMs says, not for as long as one takes to open', async () => {
    const connStr = database.address;
    const narrow = openRelational('db', { type: 'relational', connStr, timeoutMs: 30_000, maxConnections: 1 });
    await narrow.query('select 1');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let letGo: () => void = () => undefined;
      const end = new Promise<void>((done) => (letGo = done));
      let held: Promise<void> = Promise.resolve();
      await new Promise<void>((begun) => {
        held = narrow.transaction(() => {
          begun();
          return end;
        });
      });
      const waiting = narrow.query('select 2 as two');
      await vi.advanceTimersByTimeAsync(20_000);
      letGo();
      await held;
      expect(await waiting).toEqual([{ two: 2 }]);
    } finally {
      vi.useRealTimers();
      await narrow.close();
    }
  });

  it('an answer without an end is cut at the limit, also in a transaction, and the connection goes on', async () => {
    const connStr = database.address;
    const bounded = openRelational('db', { type: 'relational', connStr, maxConnections: 1 }, undefined, 100_000);
    const told = {
      code: 'CONNECTION_FAILED',
      message: 'connection "db": the answer to a statement is larger than 100000 bytes (limits.outboundReplyBytes)',
      fix: expect.stringContaining('LIMIT'),
    };
    const endless = "select repeat('x', 1000) as text, generate_series(1, 100000000)";
    const rows = (count: number) => bounded.query(`select repeat('x', 1000) as text from generate_series(1, ${count})`);
    await expect(bounded.query(endless)).rejects.toMatchObject(told);
    await expect(bounded.execute(endless)).rejects.toMatchObject(told);
    await expect(bounded.query("select repeat('x', 200000000) as text")).rejects.toMatchObject(told);
    const failing = bounded.transaction(async (statements) => {
      await statements.execute('insert into item values (11, $1)', ['eleven']);
      await statements.query(endless).catch(() => undefined);
      await statements.execute('insert into item values (12, $1)', ['twelve']);
    });
    await expect(failing).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(await bounded.query('select id from item where id in (11, 12)')).toEqual([]);
    // each statement has the limit for itself
    for (let time = 0; time < 3; time++) expect(await rows(60)).toHaveLength(60);
    const both = await bounded.transaction(async (statements) => {
      const many = "select repeat('x', 1000) as text from generate_series(1, 60)";
      return [...(await statements.query(many)), ...(await statements.query(many))];
    });
    expect(both).toHaveLength(120);
    await bounded.close();
  });

  it('a transaction whose server falls silent fails within timeoutMs, once, and tells what to do', async () => {
    let silent = false;
    const between = createServer((socket) => {
      const backend = connect(database.port, '127.0.0.1');
      backend.on('data', (part) => silent || socket.write(part));
      socket.on('data', (part) => backend.write(part)).on('close', () => backend.destroy());
    });
    await new Promise<void>((done) => between.listen(0, '127.0.0.1', done));
    const { port: through } = between.address() as { port: number };
    const connStr = `postgres://graphstead:pa55word@127.0.0.1:${through}/postgres`;
    const hasty = openRelational('db', { type: 'relational', connStr, timeoutMs: 2_000 });
    const asked = vi.spyOn(pg.Client.prototype, 'query');
    const failing = hasty.transaction(async (statements) => {
      await statements.execute('insert into item values (9, $1)', ['nine']);
      silent = true;
      await statements.execute('insert into item values (10, $1)', ['ten']);
    });
    await expect(failing).rejects.toMatchObject({ code: 'CONNECTION_FAILED', fix: /timeoutMs/ });
    expect(asked.mock.calls.map(([query]) => (query as { text?: string }).text ?? query)).not.toContain('ROLLBACK');
    asked.mockRestore();
    silent = false;
    expect(await hasty.query('select 1 as one')).toEqual([{ one: 1 }]);
    expect(await connection.query('select id from item where id >= 9')).toEqual([]);
    await hasty.close();
    await new Promise((done) => between.close(done));
  });

  it('a transaction that takes too long as a whole is rolled back and gives its connection free', async () => {
    const connStr = database.address;
    const narrow = openRelational('db', { type: 'relational', connStr, timeoutMs: 2_000, maxConnections: 1 });
    const told = {
      code: 'CONNECTION_FAILED',
      message: 'connection "db": timeout: the transaction has not ended within 2000 ms',
      fix: expect.stringContaining('timeoutMs'),
    };
    let afterwards: Promise<unknown> | undefined;
    const waiting = narrow.transaction(async (statements) => {
      await statements.execute('insert into item values (13, $1)', ['thirteen']);
      await new Promise((done) => narrow.query('select 1').then(done, done));
      afterwards = statements
        .execute('insert into item values (14, $1)', ['fourteen'])
        .catch((error: unknown) => error);
    });
    await expect(waiting).rejects.toMatchObject(told);
    await vi.waitFor(async () => expect(await afterwards).toMatchObject(told), { timeout: 60_000 });
    const many = narrow.transaction(async (statements) => {
      for (;;) await statements.query('select pg_sleep(0.05)');
    });
    await expect(many).rejects.toMatchObject({ code: 'CONNECTION_FAILED', fix: expect.stringContaining('timeoutMs') });
    expect(await narrow.query('select id from item where id in (13, 14)')).toEqual([]);
    await narrow.close();
  });

  it('a server that is not there, or ends a connection, is told with what to do', async () => {
    const nobody = openRelational('db', {
      type: 'relational',
      connStr: 'postgres://a:b@127.0.0.1:1/c',
    });
    await expect(nobody.query('select 1')).rejects.toMatchObject({ fix: /check that the server runs/ });
    await nobody.close();
    const ending = connection.query('select pg_terminate_backend(pg_backend_pid())');
    await expect(ending).rejects.toMatchObject({ code: 'CONNECTION_FAILED', fix: /may have been done or not/ });
    await expect(connection.query('selec')).rejects.toMatchObject({ fix: /^correct the statement/ });
  });

  it('hides a password with an @ in it, and nothing else', async () => {
    const wrong = openRelational('db', {
      type: 'relational',
      connStr: database.address.replace('pa55word', 'g@55word'),
    });
    const message = 'connection "db": password authentication failed for user "graphstead"';
    await expect(wrong.query('select 1').finally(() => wrong.close())).rejects.toMatchObject({ message });
  });

  describe('whose caller ends a call', () => {
    // no statement ends by itself
    const openPatient = (more: object = {}, query = '') =>
      openRelational('db', {
        type: 'relational',
        connStr: `${database.address}${query}`,
        timeoutMs: 600_000,
        ...more,
      });
    const told = {
      code: 'CONNECTION_FAILED',
      message: 'connection "db": the call was ended: enough',
      fix: 'what was under way may have been done or not',
    };
    const ofSleeps = (mark: string) =>
      connection.query("select state from pg_stat_activity where query like $1 and state = 'active'", [
        `%pg_sleep(60), '${mark}'%`,
      ]);
    /** The server speaks TLS, soon. */
    async function secured(): Promise<void> {
      const { data } = database;
      for (const [from, to] of [
        ['localhost.pem', 'server.crt'],
        ['localhost.key', 'server.key'],
      ] as const) {
        copyFileSync(new URL(`../../test/support/tls/${from}`, import.meta.url), join(data, to));
        chownSync(join(data, to), statSync(data).uid, statSync(data).gid);
        chmodSync(join(data, to), 0o600);
      }
      await connection.execute('alter system set ssl = on');
      await connection.execute('select pg_reload_conf()');
    }
    /** Ends a call once the server is at it. */
    async function endOnceActive(mark: string, ending: AbortController): Promise<void> {
      await vi.waitFor(async () => expect(await ofSleeps(mark)).toHaveLength(1), { timeout: 60_000 });
      ending.abort('enough');
    }
    const endsOnServer = (mark: string) =>
      vi.waitFor(async () => expect(await ofSleeps(mark)).toEqual([]), { timeout: 30_000 });

    it('tells so at once, gives the connection free, and ends the statement on the server', async () => {
      const narrow = openPatient({ maxConnections: 1 });
      const ending = new AbortController();
      const failing = narrow.query("select pg_sleep(60), 'one'", [], { signal: ending.signal });
      const waiting = narrow.execute('select 1', [], { signal: ending.signal });
      await Promise.all([
        expect(failing).rejects.toMatchObject(told),
        expect(waiting).rejects.toMatchObject(told),
        endOnceActive('one', ending),
      ]);
      expect(await narrow.query('select 2 as two')).toEqual([{ two: 2 }]);
      await expect(narrow.query('select 3', [], { signal: ending.signal })).rejects.toMatchObject(told);
      await endsOnServer('one');
      await narrow.close();
    });

    it('rolls a transaction back, whether all of it was ended or a statement', async () => {
      const patient = openPatient();
      const whole = new AbortController();
      const part = new AbortController();
      const insert =
        (id: number, mark: string, options: { signal?: AbortSignal }) => async (statements: Statements) => {
          await statements.execute('insert into item values ($1, $2)', [id, mark]);
          await statements.query(`select pg_sleep(60), '${mark}'`, [], options).catch(() => undefined);
          await statements.query('select 1');
        };
      await Promise.all([
        expect(patient.transaction(insert(31, 'whole', {}), { signal: whole.signal })).rejects.toMatchObject(told),
        expect(patient.transaction(insert(32, 'part', { signal: part.signal }))).rejects.toMatchObject(told),
        endOnceActive('whole', whole),
        endOnceActive('part', part),
      ]);
      await Promise.all([endsOnServer('whole'), endsOnServer('part')]);
      expect(await connection.query('select id from item where id > 30')).toEqual([]);
      await expect(patient.transaction(insert(33, 'late', {}), { signal: whole.signal })).rejects.toMatchObject(told);
    });

    it('tells what its address has to say of TLS, and warns of nothing', async () => {
      const warned = vi.spyOn(process, 'emitWarning');
      const failing = async (query: string) => {
        const secure = openPatient({}, query);
        const answer = secure.query('select 1').then(
          () => 'it answered',
          (error: unknown) => error,
        );
        return answer.finally(() => secure.close());
      };
      const none = {
        message: expect.stringContaining('does not support SSL'),
        fix: /^leave sslmode out of the address/,
      };
      for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full&application_name=a'])
        expect(await failing(`?sslmode=${mode}`)).toMatchObject({ code: 'CONNECTION_FAILED', ...none });
      const lost = {
        message: expect.stringContaining('ENOENT'),
        fix: /^correct the path \/none\/ca\.pem in the address/,
      };
      expect(await failing('?sslmode=require&sslrootcert=/none/ca.pem')).toMatchObject(lost);
      await secured();
      const unknown = { message: expect.stringContaining('self-signed'), fix: /sslrootcert=.*sslmode=no-verify/ };
      await vi.waitFor(async () => expect(await failing('?sslmode=require')).toMatchObject(unknown), 60_000);
      const authority = fileURLToPath(new URL('../../test/support/tls/localhost.pem', import.meta.url));
      expect(await failing(`?sslrootcert=${authority}&sslmode=require`)).toBe('it answered');
      const rules = join(database.data, 'pg_hba.conf');
      const given = readFileSync(rules, 'utf8');
      const ruledBy = async (text: string) => {
        writeFileSync(rules, text);
        await connection.execute('select pg_reload_conf()');
      };
      await ruledBy(`hostnossl all all all reject\n${given}`);
      const alone = { message: expect.stringContaining('no encryption'), fix: /^add \?sslmode=require/ };
      await vi
        .waitFor(async () => expect(await failing('')).toMatchObject(alone), 60_000)
        .finally(() => ruledBy(given));
      expect(warned).not.toHaveBeenCalled();
      warned.mockRestore();
    });

    it('ends the statement under TLS too', async () => {
      await secured();
      const openSecure = () => openPatient({}, '?sslmode=no-verify');
      await vi.waitFor(
        async () => {
          const secure = openSecure();
          const { ssl } = (
            await secure.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()').finally(() => secure.close())
          )[0] as { ssl: boolean };
          expect(ssl).toBe(true);
        },
        { timeout: 60_000 },
      );
      const secure = openSecure();
      const ending = new AbortController();
      await Promise.all([
        expect(secure.query("select pg_sleep(60), 'tls'", [], { signal: ending.signal })).rejects.toMatchObject(told),
        endOnceActive('tls', ending),
      ]);
      await endsOnServer('tls');
      await secure.close();
    });

    it('keeps nothing of calls that were over before', async () => {
      const ending = new AbortController();
      const added = vi.spyOn(ending.signal, 'addEventListener');
      const removed = vi.spyOn(ending.signal, 'removeEventListener');
      const options = { signal: ending.signal };
      await connection.query('select 1', [], options);
      await connection.transaction((statements) => statements.query('select 1', [], options), options);
      expect(added.mock.calls.length).toBeGreaterThan(0);
      expect(removed.mock.calls.map(([, stop]) => stop)).toEqual(
        expect.arrayContaining(added.mock.calls.map(([, stop]) => stop)),
      );
    });
  });
});
