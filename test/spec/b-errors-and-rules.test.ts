// "Errors, Data mutations", "Rules for data mutations" and "Transactions in the graph store": one test a row, over HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService();
});
afterAll(() => s.close());
beforeEach(async () => {
  await s.alter('{"drop_all": true}');
  await s.alter(`
    name: string @index(exact) @lang .
    email: string @index(hash) @upsert .
    tag: [string] @index(exact) .
    age: int @index(int) .
    friend: [uid] .
    type Person { name email tag }
  `);
});

const names = async () =>
  (await s.data('{ q(func: has(name), orderasc: name) { name } }')).q.map((node: { name: string }) => node.name);
const ABORTED = 'Transaction has been aborted. Please retry.';

describe('Errors, data mutations', () => {
  it('two concurrent transactions create the same node through the same index key: one is told it was aborted', async () => {
    const begin = async () => {
      const answer = await s.query('{ q(func: eq(email, "one@x")) { uid } }');
      return answer.body.extensions.txn as { start_ts: number; hash: string };
    };
    const [one, two] = [await begin(), await begin()];
    const mutate = (txn: { start_ts: number; hash: string }) =>
      s.rdf('{ set { _:n <email> "one@x" . _:n <name> "One" . } }', `?startTs=${txn.start_ts}&hash=${txn.hash}`);
    expect((await mutate(one)).status).toBe(200);
    expect((await mutate(two)).status).toBe(200);
    const commit = (txn: { start_ts: number; hash: string }) =>
      s.post(`/commit?startTs=${txn.start_ts}&hash=${txn.hash}`, '', 'application/json');
    expect((await commit(one)).body.data).toMatchObject({ code: 'Success' });
    const loser = await commit(two);
    expect(loser.status).toBe(409);
    expect(loser.body.errors[0]).toMatchObject({ message: ABORTED, extensions: { code: 'TXN_ABORTED' } });
    expect(await names()).toEqual(['One']);
  });

  it('delete pattern `* <predicate> <object>` or `* * <object>`: unsupported', async () => {
    await s.rdf('{ set { <0x1> <name> "Kept" . } }');
    for (const pattern of ['* <name> "Kept" .', '* * <0x1> .', '* <name> * .']) {
      const answer = await s.rdf(`{ delete { ${pattern} } }`);
      expect(answer.status).toBe(400);
      expect(answer.body.errors[0].extensions).toMatchObject({ code: 'UNSUPPORTED_DELETE', fix: expect.any(String) });
      expect(answer.body.errors[0].locations[0]).toMatchObject({ line: 1 });
    }
    expect(await names()).toEqual(['Kept']);
  });

  it('delete of a non-list predicate by a value that is not the current value: succeeds with no effect', async () => {
    await s.rdf('{ set { <0x1> <name> "Current" . } }');
    const answer = await s.rdf('{ delete { <0x1> <name> "Other" . } }');
    expect(answer.body.data.code).toBe('Success');
    expect(await names()).toEqual(['Current']);
  });

  it('conditional mutation whose condition is false: silently ignored', async () => {
    const answer = await s.rdf(`upsert { query { q(func: eq(name, "Nobody")) { v as uid } }
      mutation @if(gt(len(v), 0)) { set { _:x <name> "Never" . } } }`);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ q: [], code: 'Success', message: 'Done', uids: {} });
    expect(await names()).toEqual([]);
  });

  it('delete through uid(<var>) with an empty variable: no-op, silently ignored', async () => {
    await s.rdf('{ set { <0x1> <name> "Kept" . } }');
    const answer = await s.rdf(
      `upsert { query { q(func: eq(name, "Nobody")) { v as uid } } mutation { delete { uid(v) <name> * . } } }`,
    );
    expect(answer.status).toBe(200);
    expect(answer.body.data.uids).toEqual({});
    expect(await names()).toEqual(['Kept']);
  });

  it('val(<var>) with no value for a uid: silently ignored for that uid', async () => {
    await s.rdf('{ set { <0x1> <name> "Aged" . <0x1> <age> "5" . <0x2> <name> "Ageless" . } }');
    await s.rdf(
      `upsert { query { q(func: has(name)) { v as uid a as age } } mutation { set { uid(v) <copied> val(a) . } } }`,
    );
    expect(await s.data('{ q(func: has(name), orderasc: name) { name copied } }')).toEqual({
      q: [{ name: 'Aged', copied: expect.anything() }, { name: 'Ageless' }].sort((a, b) =>
        a.name.localeCompare(b.name),
      ),
    });
  });
});

describe('Rules for data mutations', () => {
  it('1. an upsert is atomic: concurrent upserts cannot both create a node', async () => {
    const upsert = `upsert { query { q(func: eq(email, "once@x")) { v as uid } }
      mutation @if(eq(len(v), 0)) { set { _:n <email> "once@x" . _:n <name> "Once" . } } }`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => s.rdf(upsert)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(200));
    expect(answers.filter((answer) => Object.keys(answer.body.data.uids).length > 0)).toHaveLength(1);
    expect(await names()).toEqual(['Once']);
  });

  it.each(['has(%)', 'eq(%, "once")'])('1. also where its query finds no predicate yet: %s', async (found) => {
    const predicate = `first_by_${found.slice(0, 3).replace('(', '')}`;
    const upsert = `upsert { query { q(func: ${found.replace('%', predicate)}) { v as uid } }
      mutation @if(eq(len(v), 0)) { set { _:n <${predicate}> "once" . } } }`;
    await Promise.all(Array.from({ length: 20 }, () => s.rdf(upsert)));
    expect((await s.data(`{ q(func: has(${predicate})) { count(uid) } }`)).q).toEqual([{ count: 1 }]);
  });

  it('1. also where its query finds no node that has the predicate, which needs no index', async () => {
    await s.alter('settings: string .');
    const upsert = `upsert { query { q(func: has(settings), first: 1) { v as uid } }
      mutation @if(eq(len(v), 0)) { set { _:n <settings> "once" . } } }`;
    await Promise.all(Array.from({ length: 20 }, () => s.rdf(upsert)));
    expect((await s.data('{ q(func: has(settings)) { count(uid) } }')).q).toEqual([{ count: 1 }]);
  });

  it('2. query results reflect the state before the mutation', async () => {
    await s.rdf('{ set { <0x1> <name> "Before" . } }');
    const answer = await s.rdf(
      'upsert { query { q(func: uid(0x1)) { v as uid name } } mutation { set { uid(v) <name> "After" . } } }',
    );
    expect(answer.body.data.q).toEqual([{ uid: '0x1', name: 'Before' }]);
    expect(await names()).toEqual(['After']);
  });

  it('3. a blank node used in several mutation blocks gets the same uid in all of them', async () => {
    const answer = await s.rdf(`upsert { query { q(func: eq(name, "Nobody")) { uid } }
      mutation { set { _:same <name> "Same" . } }
      mutation { set { _:same <age> "9" . } } }`);
    expect(Object.keys(answer.body.data.uids)).toEqual(['same']);
    expect(await s.data('{ q(func: eq(name, "Same")) { name age } }')).toEqual({ q: [{ name: 'Same', age: 9 }] });
  });

  it("4. `<subject> * *` removes only predicates of the node's types; the node can survive", async () => {
    await s.rdf('{ set { <0x1> <name> "Typed" . <0x1> <age> "3" . <0x1> <service.type> "Person" . } }');
    await s.rdf('{ delete { <0x1> * * . } }');
    expect(await s.data('{ q(func: uid(0x1)) { name age service.type } }')).toEqual({ q: [{ age: 3 }] });
  });

  it('5. `<subject> <predicate> *` removes all values and their indexes; a language form only that tag', async () => {
    await s.rdf('{ set { <0x1> <tag> "a" . <0x1> <tag> "b" . <0x1> <name> "N" . <0x1> <name> "Nu"@fr . } }');
    await s.rdf('{ delete { <0x1> <tag> * . <0x1> <name@fr> * . } }');
    expect(
      await s.data(
        '{ t(func: eq(tag, ["a", "b"])) { uid } f(func: eq(name@fr, "Nu")) { uid } n(func: eq(name, "N")) { name } }',
      ),
    ).toEqual({
      t: [],
      f: [],
      n: [{ name: 'N' }],
    });
  });

  it('6. @if combines conditions on query variables with AND, OR, NOT', async () => {
    await s.rdf('{ set { <0x1> <name> "A" . <0x2> <name> "B" . } }');
    const run = (condition: string, name: string) =>
      s.rdf(`upsert { query { a(func: eq(name, "A")) { x as uid } n(func: eq(name, "Zed")) { y as uid } }
        mutation @if(${condition}) { set { _:n <tag> "${name}" . uid(x) <age> "1" . uid(y) <age> "1" . } } }`);
    await run('eq(len(x), 1) AND NOT gt(len(y), 0)', 'and-not');
    await run('lt(len(x), 1) OR le(len(y), 0)', 'or');
    await run('ge(len(x), 2) or (gt(len(y), 0) and eq(len(x), 1))', 'false');
    const { q } = await s.data('{ q(func: has(tag)) { tag } }');
    expect(q.flatMap((node: { tag: string[] }) => node.tag).sort()).toEqual(['and-not', 'or']);
  });
});

describe('Transactions in the graph store', () => {
  it('the loser of two that modify the same index key is rolled back and retries from a new transaction', async () => {
    const open = async () => (await s.query('{ q(func: eq(email, "k@x")) { uid } }')).body.extensions.txn;
    const [one, two] = [await open(), await open()];
    const at = (txn: { start_ts: number; hash: string }) => `?startTs=${txn.start_ts}&hash=${txn.hash}`;
    await s.rdf('{ set { _:a <email> "k@x" . _:a <name> "First" . } }', at(one));
    await s.rdf('{ set { _:b <email> "k@x" . _:b <name> "Second" . } }', at(two));
    expect((await s.post(`/commit${at(one)}`, '', 'application/json')).status).toBe(200);
    expect((await s.post(`/commit${at(two)}`, '', 'application/json')).status).toBe(409);
    const again = await open();
    await s.rdf('{ set { _:c <name> "Retried" . } }', at(again));
    expect((await s.post(`/commit${at(again)}`, '', 'application/json')).status).toBe(200);
    expect(await names()).toEqual(['First', 'Retried']);
  });

  it('an open transaction reads its own writes, others do not, and an abort leaves nothing', async () => {
    const first = await s.rdf('{ set { <0x5> <name> "Draft" . } }', '');
    const { start_ts, hash } = first.body.extensions.txn;
    const q = '{ q(func: eq(name, "Draft")) { uid } }';
    expect((await s.query(q, `?startTs=${start_ts}&hash=${hash}`)).body.data.q).toEqual([{ uid: '0x5' }]);
    expect((await s.query(q)).body.data.q).toEqual([]);
    await s.post(`/commit?startTs=${start_ts}&hash=${hash}&abort=true`, '', 'application/json');
    expect((await s.query(q)).body.data.q).toEqual([]);
    const late = await s.post(`/commit?startTs=${start_ts}&hash=${hash}`, '', 'application/json');
    expect(late.status).toBeGreaterThanOrEqual(400);
  });

  it('a commit takes the keys and predicates that clients gathered, and refuses a body that was cut', async () => {
    const begin = async (name: string) => {
      const { txn } = (await s.rdf(`{ set { _:n <name> "${name}" . } }`, '')).body.extensions;
      const commit = (body: string) =>
        s.post(`/commit?startTs=${txn.start_ts}&hash=${txn.hash}`, body, 'application/json');
      return { txn, commit };
    };
    const before = await names();
    const { txn, commit } = await begin('Whole');
    for (const [body, code] of [
      ['{"keys": ["a", ', 'SYNTAX'],
      ['["a", ', 'SYNTAX'],
      ['commit', 'SYNTAX'],
      ['"keys"', 'INVALID_REQUEST'],
      ['[1, 2]', 'INVALID_REQUEST'],
      ['{"keys": "a"}', 'INVALID_REQUEST'],
      ['{"keys": [], "preds": [{}]}', 'INVALID_REQUEST'],
    ]) {
      const refused = await commit(body);
      expect([refused.status, refused.body.errors[0].extensions.code, await names()]).toEqual([400, code, before]);
    }
    expect((await commit(JSON.stringify({ keys: txn.keys, preds: txn.preds }))).status).toBe(200);
    const listed = await begin('Listed');
    expect((await listed.commit('["a", "b"]')).status).toBe(200);
    const nulls = await begin('Nulls');
    expect((await nulls.commit('{"keys": null, "preds": null}')).status).toBe(200);
    expect(await names()).toEqual([...before, 'Whole', 'Listed', 'Nulls'].sort());
  });

  it('an abort that comes behind the commit says so, and a second abort does not mind', async () => {
    const begin = async () => {
      const { start_ts, hash } = (await s.rdf('{ set { <0x6> <name> "Kept" . } }', '')).body.extensions.txn;
      return (end: string) => s.post(`/commit?startTs=${start_ts}&hash=${hash}${end}`, '', 'application/json');
    };
    const committed = await begin();
    expect((await committed('')).status).toBe(200);
    const late = await committed('&abort=true');
    expect([late.status, late.body.errors[0].extensions.code]).toEqual([400, 'TXN_FINISHED']);
    expect((await s.query('{ q(func: eq(name, "Kept")) { uid } }')).body.data.q).toEqual([{ uid: '0x6' }]);
    const aborted = await begin();
    expect((await aborted('&abort=true')).status).toBe(200);
    expect((await aborted('&abort=true')).status).toBe(200);
  });

  it('a query that is best effort and may write is refused; to say that it only reads is fine', async () => {
    const q = '{ q(func: has(nothing)) { uid } }';
    const both = await s.query(q, '?be=true&ro=false');
    expect([both.status, both.body.errors[0].extensions.code]).toEqual([400, 'INVALID_REQUEST']);
    for (const parameters of ['?be=true', '?be=true&ro=true', '?be=false&ro=false']) {
      expect((await s.query(q, parameters)).body.data, parameters).toEqual({ q: [] });
    }
  });

  it('an unknown start timestamp is a clear error', async () => {
    const answer = await s.query('{ q(func: has(name)) { uid } }', '?startTs=99999999');
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].extensions.code).toBe('TXN_UNKNOWN');
  });

  it('a read-only transaction cannot write', async () => {
    const { start_ts, hash } = (await s.query('{ q(func: has(name)) { uid } }', '?ro=true')).body.extensions.txn;
    const answer = await s.rdf('{ set { _:a <name> "No" . } }', `?startTs=${start_ts}&hash=${hash}&commitNow=true`);
    expect(answer.status).toBe(400);
    expect(await names()).toEqual([]);
  });
});
