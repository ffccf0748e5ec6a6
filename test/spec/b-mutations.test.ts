// Section B of the specification, "Data mutation constructs": one test a row, over HTTP.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService();
});
afterAll(() => s.close());

const SCHEMA = `
  name: string @index(term, exact, trigram) @lang .
  email: string @index(hash) @upsert .
  age: int @index(int) .
  note: string .
  tag: [string] @index(exact) .
  friend: [uid] @reverse .
  boss: uid .
  type Person { name email age friend boss tag }
`;
beforeEach(async () => {
  await s.alter('{"drop_all": true}');
  expect((await s.alter(SCHEMA)).body.data).toMatchObject({ code: 'Success', message: 'Done' });
});

const all = async () =>
  (await s.data('{ q(func: has(name), orderasc: name) { uid name email age note tag friend { name } boss { name } } }'))
    .q;

describe('Set block', () => {
  it('takes RDF triples', async () => {
    const answer = await s.rdf('{ set { _:a <name> "Ann" . _:a <age> "31" . _:a <friend> _:b . _:b <name> "Ben" . } }');
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body.data.uids).sort()).toEqual(['a', 'b']);
    expect(await all()).toMatchObject([{ name: 'Ann', age: 31, friend: [{ name: 'Ben' }] }, { name: 'Ben' }]);
  });

  it('in JSON takes one object or an array of objects; nested objects create related nodes', async () => {
    await s.json({ set: { name: 'Ann', friend: [{ name: 'Ben', boss: { name: 'Cal' } }] } });
    await s.json({ set: [{ name: 'Dan' }, { name: 'Eve' }] });
    expect((await all()).map((node: { name: string }) => node.name)).toEqual(['Ann', 'Ben', 'Cal', 'Dan', 'Eve']);
    expect(await s.data('{ q(func: eq(name, "Ann")) { friend { name boss { name } } } }')).toEqual({
      q: [{ friend: [{ name: 'Ben', boss: { name: 'Cal' } }] }],
    });
  });

  it("the key service.type sets the node's type", async () => {
    await s.json({ set: { name: 'Ann', 'service.type': 'Person' } });
    expect(await s.data('{ q(func: type(Person)) { name service.type } }')).toEqual({
      q: [{ name: 'Ann', 'service.type': ['Person'] }],
    });
  });

  it("refuses the peer's name of that key, under which the node would have no type", async () => {
    for (const { status, body } of [
      await s.json({ set: { name: 'Ann', 'dgraph.type': 'Person' } }),
      await s.rdf('{ set { _:a <name> "Ann" .\n_:a <dgraph.type> "Person" . } }'),
    ]) {
      expect(status).toBe(400);
      expect(body.errors[0].message).toContain(
        'dgraph.type would give the node no type: it is called service.type here',
      );
      expect(body.errors[0].extensions).toMatchObject({
        code: 'INVALID_MUTATION',
        fix: expect.stringContaining('--compat dgraph'),
      });
    }
    expect(await all()).toEqual([]);
  });
});

describe('Set and delete blocks', () => {
  it('may be the whole body, one behind the other, without braces around them', async () => {
    const { uids } = (await s.rdf('set { _:a <name> "Ann" . _:a <age> "31" . }')).body.data;
    await s.rdf(`delete { <${uids.a}> <age> * . } set { <${uids.a}> <name> "Anna" . }`);
    expect(await all()).toEqual([{ uid: uids.a, name: 'Anna' }]);
    const { status, body } = await s.rdf('set { _:a <name> "Ann" . } query { q(func: has(name)) { uid } }');
    expect([status, body.errors[0].message]).toEqual([400, '"query" stands after the end of the request']);
  });
});

describe('Delete block', () => {
  it('takes RDF triples <subject> <predicate> <object>', async () => {
    const { uids } = (await s.rdf('{ set { _:a <name> "Ann" . _:a <friend> _:b . _:b <name> "Ben" . } }')).body.data;
    await s.rdf(`{ delete { <${uids.a}> <friend> <${uids.b}> . <${uids.b}> <name> "Ben" . } }`);
    expect(await all()).toEqual([{ uid: uids.a, name: 'Ann' }]);
  });

  it('in JSON takes an object with uid and predicate keys set to null', async () => {
    const { uids } = (await s.rdf('{ set { _:a <name> "Ann" . _:a <age> "31" . } }')).body.data;
    await s.json({ delete: { uid: uids.a, age: null } });
    expect(await all()).toEqual([{ uid: uids.a, name: 'Ann' }]);
  });
});

describe('Upsert block', () => {
  const upsert = (name: string, email: string) => `upsert {
    query { q(func: eq(email, "${email}")) { v as uid name } }
    mutation { set { uid(v) <name> "${name}" . uid(v) <email> "${email}" . } }
  }`;

  it('creates once and updates after', async () => {
    const first = await s.rdf(upsert('Ann', 'a@x'));
    expect(first.body.data.uids).toEqual({ 'uid(v)': expect.stringMatching(/^0x[0-9a-f]+$/) });
    const second = await s.rdf(upsert('Anna', 'a@x'));
    expect(second.body.data.uids).toEqual({});
    expect(second.body.data.q).toEqual([{ uid: first.body.data.uids['uid(v)'], name: 'Ann' }]);
    expect(await all()).toMatchObject([{ name: 'Anna', email: 'a@x' }]);
  });

  it('takes a fragment block', async () => {
    await s.rdf(upsert('Ann', 'a@x'));
    const answer = await s.rdf(`upsert {
      query { q(func: eq(email, "a@x")) { ...known } }
      fragment known { v as uid name }
      mutation { set { uid(v) <age> "40" . } }
    }`);
    expect(answer.body.data.q).toMatchObject([{ name: 'Ann' }]);
    expect(await all()).toMatchObject([{ name: 'Ann', age: 40 }]);
  });

  it('takes several mutation blocks, each with its own @if', async () => {
    const text = `upsert {
      query { q(func: eq(email, "n@x")) { v as uid } }
      mutation @if(eq(len(v), 0)) { set { _:n <name> "New" . _:n <email> "n@x" . } }
      mutation @if(gt(len(v), 0)) { set { uid(v) <note> "seen again" . } }
    }`;
    expect(Object.keys((await s.rdf(text)).body.data.uids)).toEqual(['n']);
    expect((await s.rdf(text)).body.data.uids).toEqual({});
    expect(await all()).toMatchObject([{ name: 'New', note: 'seen again' }]);
  });
});

describe('JSON upsert', () => {
  it('takes query, cond, set and delete with uid(<variable>) references', async () => {
    await s.json({ set: [{ name: 'Ann', email: 'a@x', note: 'old' }] });
    const body = { query: '{ q(func: eq(email, "a@x")) { v as uid } }', cond: '@if(eq(len(v), 1))' };
    const answer = await s.json({ ...body, set: { uid: 'uid(v)', age: 50 }, delete: { uid: 'uid(v)', note: null } });
    expect(answer.body.data).toMatchObject({ code: 'Success', message: 'Done', uids: {} });
    expect(await all()).toEqual([{ uid: expect.any(String), name: 'Ann', email: 'a@x', age: 50 }]);
  });
});

describe('Node reference', () => {
  it('<0x...>, _:blank, uid(<var>) and val(<var>) each name what they say', async () => {
    await s.rdf('{ set { <0x51> <name> "Fix" . <0x51> <age> "7" . _:b <name> "Blank" . _:b <boss> <0x51> . } }');
    await s.rdf(`upsert {
      query { q(func: uid(0x51)) { v as uid a as age } }
      mutation { set { uid(v) <note> val(a) . } }
    }`);
    expect(await all()).toMatchObject([
      { name: 'Blank', boss: { name: 'Fix' } },
      { uid: '0x51', name: 'Fix', note: '7' },
    ]);
  });
});

describe('Wildcard object', () => {
  it("`*` as object removes every value, `* *` the predicates of the node's types", async () => {
    const { uids } = (
      await s.rdf(`{ set {
        _:a <name> "Ann" . _:a <tag> "x" . _:a <tag> "y" . _:a <note> "untyped" . _:a <service.type> "Person" . _:a <friend> _:b . _:b <name> "Ben" . } }`)
    ).body.data;
    await s.rdf(`{ delete { <${uids.a}> <tag> * . } }`);
    expect(await s.data(`{ q(func: uid(${uids.a})) { name tag } }`)).toEqual({ q: [{ name: 'Ann' }] });
    await s.rdf(`{ delete { <${uids.a}> * * . } }`);
    expect(await s.data(`{ q(func: uid(${uids.a})) { name note service.type friend { name } } }`)).toEqual({
      q: [{ note: 'untyped' }],
    });
    expect(await s.data('{ q(func: type(Person)) { uid } }')).toEqual({ q: [] });
  });
});

describe('Language-tagged predicate', () => {
  it('<predicate@lang> with * removes only that tag', async () => {
    const { uids } = (await s.rdf('{ set { _:a <name> "Ann" . _:a <name> "Anna"@de . _:a <name> "Anne"@fr . } }')).body
      .data;
    await s.rdf(`{ delete { <${uids.a}> <name@de> * . } }`);
    expect(await s.data(`{ q(func: uid(${uids.a})) { name name@de name@fr } }`)).toEqual({
      q: [{ name: 'Ann', 'name@fr': 'Anne' }],
    });
  });
});

describe('Mutation response', () => {
  it('has data (query blocks by name, code, message, uids) and extensions', async () => {
    const { body, headers } = await s.rdf('{ set { _:luke <name> "Luke" . } }');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(body.data).toEqual({
      code: 'Success',
      message: 'Done',
      uids: { luke: expect.stringMatching(/^0x[0-9a-f]+$/) },
    });
    expect(body.extensions.txn).toMatchObject({ start_ts: expect.any(Number), commit_ts: expect.any(Number) });
  });

  it('uids is empty when no new node was created', async () => {
    expect((await s.rdf('{ set { <0x99> <name> "Set" . } }')).body.data.uids).toEqual({});
  });
});

describe('Schema lines', () => {
  it('<predicate>: <type> [@index(<kinds>)] [@upsert] [@reverse] . are sent to alter', async () => {
    await s.alter('knows: [uid] @reverse .\nserial: int @index(int) @upsert .');
    await s.rdf('{ set { _:a <serial> "5" . _:a <knows> _:b . _:b <serial> "6" . } }');
    expect(await s.data('{ q(func: ge(serial, 6)) { serial ~knows { serial } } }')).toEqual({
      q: [{ serial: 6, '~knows': [{ serial: 5 }] }],
    });
    const { schema } = await s.data('schema(pred: [serial, knows]) {}');
    expect(schema).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ predicate: 'serial', type: 'int', index: true, tokenizer: ['int'], upsert: true }),
        expect.objectContaining({ predicate: 'knows', type: 'uid', list: true, reverse: true }),
      ]),
    );
  });

  it('index kinds term, exact, trigram, int and hash each serve their functions', async () => {
    await s.json({
      set: [
        { name: 'Ada Lovelace', email: 'ada@x', age: 36 },
        { name: 'Alan Turing', email: 'alan@x', age: 41 },
      ],
    });
    const names = async (root: string) =>
      (await s.data(`{ q(func: ${root}) { name } }`)).q.map((n: { name: string }) => n.name);
    expect(await names('anyofterms(name, "lovelace")')).toEqual(['Ada Lovelace']);
    expect(await names('eq(name, "Alan Turing")')).toEqual(['Alan Turing']);
    expect(await names('regexp(name, /^Al.*ing$/)')).toEqual(['Alan Turing']);
    expect(await names('lt(age, 40)')).toEqual(['Ada Lovelace']);
    expect(await names('eq(email, "ada@x")')).toEqual(['Ada Lovelace']);
  });
});
