import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run, runJson, scratch, serve } from './command.js';

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

const SCHEMA = 'name: string @index(exact) .\nage: int .\nfriend: [uid] @reverse .\n';
const PEOPLE = [
  '_:ann <name> "Ann" .',
  '# a comment',
  '_:ann <age> "41"^^<xs:int> .',
  '_:bob <name> "Bob" .',
  '_:ann <friend> _:bob (since=2020) .',
  '<http://other.example/carl> <name> "Carl" .',
  '_:bob <friend> <http://other.example/carl> .',
];
const QUERY = '{ q(func: eq(name, "Ann")) { name age friend @facets(since) { name friend { name } } } }';
const EXPECTED = [
  { name: 'Ann', age: 41, friend: [{ name: 'Bob', 'friend|since': 2020, friend: [{ name: 'Carl' }] }] },
];

function write(name: string, text: string | Buffer): string {
  writeFileSync(folder.path(name), text);
  return folder.path(name);
}

describe('graphstead import', () => {
  it('loads N-Quads, plain and gzipped, and JSON; a service answers over them', async () => {
    const data = folder.path('data');
    const schema = write('people.schema', SCHEMA);
    const quads = write('people.rdf.gz', gzipSync(PEOPLE.join('\n')));
    const json = write('more.json', '[{"name": "Dora", "friend": {"name": "Emil"}},\n {"name": "Fay", "age": 7}]');
    const result = await runJson(['import', quads, json, '--schema', schema, '--data', data]);
    expect(result).toMatchObject({ statements: 11, nodes: 6, into: data });
    expect(readdirSync(folder.path('data', 'import'))).toEqual([]);

    const service = await serve(['--data', data]);
    try {
      expect((await service.query(QUERY))['data']).toEqual({ q: EXPECTED });
      const locked = await run(['import', quads, '--data', data]);
      expect(locked.code).toBe(3);
      expect(locked.stderr).toContain('STORE_LOCKED');
      expect(locked.stderr).toMatch(/fix: Stop process \d+ first.* Or load into the service that holds it: --to http/);

      const other = write('other.nq', '_:gil <name> "Gil" .\n_:gil <friend> _:hal .\n_:hal <name> "Hal" .\n');
      const sent = await runJson(['import', other, '--to', service.url], { cwd: folder.dir });
      expect(sent).toMatchObject({ statements: 3, nodes: 2 });
      const names = '{ q(func: has(name), orderasc: name) { name } }';
      const found = (await service.query(names))['data'] as { q: { name: string }[] };
      expect(found.q.map(({ name }) => name).join(' ')).toBe('Ann Bob Carl Dora Emil Fay Gil Hal');
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });

  it('keeps every value of a predicate that no schema declares', async () => {
    const data = folder.path('undeclared');
    const quads = write('nicks.rdf', '_:a <nick> "one" .\n_:b <nick> "three" .\n_:a <nick> "two" .\n');
    const json = write('tags.json', '[{"tag": ["solo"]}, {"tag": "plain"}]');
    await runJson(['import', quads, json, '--data', data]);
    const service = await serve(['--data', data]);
    try {
      const found = await service.query('{ nicks(func: has(nick)) { nick } tags(func: has(tag)) { tag } }');
      expect(found['data']).toEqual({
        nicks: [{ nick: ['one', 'two'] }, { nick: ['three'] }],
        tags: [{ tag: ['solo'] }, { tag: ['plain'] }],
      });
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });

  it('takes an export of a cluster of Dgraph: types over several groups, its own predicates, users and queries', async () => {
    const data = folder.path('data');
    const own = `[0x0] type <dgraph.graphql> {\n\tdgraph.graphql.schema\n\tdgraph.graphql.xid\n}
[0x0] type <dgraph.graphql.persisted_query> {\n\tdgraph.graphql.p_query\n}\n`;
    const person = '[0x0] type <Person> {\n\tname\n\tage\n}\n';
    const first = `[0x0] <name>:string @index(exact) . \n[0x0] <dgraph.type>:[string] @index(exact) . \n[0x0] <dgraph.xid>:string @index(exact) @upsert . 
[0x0] <dgraph.graphql.schema>:string . \n[0x0] <dgraph.graphql.p_query>:string @index(sha256) . \n[0x0] <dgraph.cors>:[string] @index(exact) @upsert . \n`;
    const files = [
      write('g01.schema.gz', gzipSync(`${first}${person}${own}`)),
      write('g02.schema', `[0x0] <age>:int . \n${person}${own}`),
      write(
        'g01.rdf.gz',
        gzipSync(`<0x1> <dgraph.xid> "groot"^^<xs:string> <0x0> .
<0x1> <dgraph.type> "dgraph.type.User"^^<xs:string> <0x0> .
<0x1> <dgraph.user.group> <0x2> <0x0> .
<0x3> <dgraph.graphql.p_query> "query { q }"^^<xs:string> <0x0> .
<0x4> <dgraph.cors> "*"^^<xs:string> <0x0> .
<0x5> <name> "Ann"^^<xs:string> <0x0> .
<0x5> <dgraph.type> "Person"^^<xs:string> <0x0> .\n`),
      ),
      write(
        'g02.json',
        '[{"uid":"0x5","namespace":"0x0","age":41},{"uid":"0x1","namespace":"0x0","dgraph.xid":"groot"}]',
      ),
    ];
    write('notes.txt', 'no file of the export');
    const result = await runJson(['import', folder.dir, '--compat', 'dgraph', '--data', data]);
    expect(result).toMatchObject({ statements: 9, leftOut: 6 });
    const service = await serve(['--data', data, '--compat', 'dgraph']);
    try {
      const found = await service.query(
        '{ q(func: type(Person)) { uid expand(_all_) } all(func: has(dgraph.type)) { uid } }',
      );
      expect(found['data']).toEqual({ q: [{ uid: '0x5', name: 'Ann', age: 41 }], all: [{ uid: '0x5' }] });
    } finally {
      expect(await service.stop()).toBe(0);
    }
    const wrong = write('g03.schema', 'city: string .\nage: string .\n');
    const refused = await run(['import', ...files, wrong, '--compat', 'dgraph', '--data', data]);
    expect(refused.stderr).toMatch(/g03\.schema:2:1: .*age is declared twice/);
  });

  it('takes the export of one tenant, whatever its number, and mixes no two', async () => {
    const schema = write('g01.schema', '[0x5] <name>:string . \n[0x5] type <Person> {\n\tname\n}\n');
    const types = write('g01.gql_schema', '[{"namespace":5,"schema":"type City { name: String }"}]');
    const quads = write('g01.rdf', '<0x1> <name> "Ann"^^<xs:string> <0x5> .\n');
    const own = [schema, types, quads, '--compat', 'dgraph'];
    expect(await runJson(['import', ...own, '--data', folder.path('one')])).toMatchObject({ statements: 1 });
    const others = [
      [write('other.rdf', '<0x1> <name> "Ann" .\n<0x1> <name> "Ben"^^<xs:string> <0x6> .\n'), 'other.rdf:2:'],
      [write('other.json', '[\n{"uid":"0x1","namespace":"0x6","name":"Ben"}\n]'), 'other.json:2:'],
      [write('other.schema', '# a line\n[0x6] <age>:int . \n'), 'other.schema:2:1'],
      [write('other.gql_schema', '[{"namespace":6,"schema":"type City { name: String }"}]'), 'other.gql_schema:1:1'],
    ];
    for (const [file, place] of others) {
      const { code, stderr } = await run(['import', ...own, file, '--data', folder.path('two')]);
      expect(code).toBe(1);
      expect(stderr).toContain(place);
      expect(stderr).toContain('the files hold the namespaces 0x5 and 0x6');
    }
  });

  it('names file, line and fix of a mistake, and goes on where it stopped', async () => {
    const data = folder.path('data');
    const schema = write('people.schema', SCHEMA);
    const broken = [...PEOPLE, '_:ann <age> "many" .'];
    const file = write('people.rdf', broken.join('\n'));
    const bad = await run(['import', file, '--schema', schema, '--data', data]);
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain(`INVALID_VALUE: ${file}:8:`);
    expect(bad.stderr).toContain('fix:');
    expect(existsSync(folder.path('data', 'import'))).toBe(true);

    write('people.rdf', [...PEOPLE, '_:ann <age> "0042" .'].join('\n')); // the same length: the same import
    expect(await runJson(['import', file, '--data', data])).toMatchObject({ nodes: 3 });
    const service = await serve(['--data', data]);
    const counted = await service.query('{ q(func: has(name)) { count(uid) } }');
    await service.stop();
    expect(counted['data']).toEqual({ q: [{ count: 3 }] });
  });

  it('goes on where it stopped in the same store alone: elsewhere the uids that it gave are those of other nodes', async () => {
    const file = write('people.rdf', [...PEOPLE, '_:ann <age> "many" .'].join('\n'));
    const first = await serve(['--data', folder.path('first')]);
    const stopped = await run(['import', file, '--to', first.url], { cwd: folder.dir });
    await first.stop();
    expect(stopped.stderr).toContain('INVALID_VALUE');
    write('people.rdf', [...PEOPLE, '_:ann <age> "0042" .'].join('\n'));
    write('others.rdf', ['_:a', '_:b', '_:c', '_:d'].map((node) => `${node} <name> "${node}" .`).join('\n'));
    const second = await serve(['--data', folder.path('second')]);
    try {
      for (const name of ['others.rdf', 'people.rdf']) {
        await runJson(['import', folder.path(name), '--to', second.url], { cwd: folder.dir });
      }
      const { data } = await second.query('{ q(func: has(name), orderasc: name) { name } }');
      expect((data as { q: { name: string }[] }).q.map(({ name }) => name).join(' ')).toBe(
        'Ann Bob Carl _:a _:b _:c _:d',
      );
    } finally {
      await second.stop();
    }
  });

  it('tells mistakes of syntax, of names and of usage', async () => {
    const data = ['--data', folder.path('data')];
    const syntax = await run(['import', write('a.nq', '_:a <p> "x" .\n_:a <p> .\n'), ...data]);
    expect([syntax.code, syntax.stderr]).toEqual([1, expect.stringMatching(/^SYNTAX: .*a\.nq:2:\d+: /)]);
    const json = await run(['import', write('b.json', '[{"a": 1},\n {"b": [[1]]}]'), ...data, '--json']);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: 'INVALID_MUTATION', position: { line: 2, source: folder.path('b.json') } },
    });
    const name = await run(['import', write('c.txt', ''), ...data]);
    expect(name.stderr).toContain('c.txt: the name tells no format');
    expect((await run(['import', 'x.rdf', ...data, '--nonsense'])).code).toBe(2);
    const nothing = await run(['import', ...data]);
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('nothing to import: name one file')]);
    const told = await run(['import', ...data, '--json']);
    expect([told.code, JSON.parse(told.stderr).error.code]).toEqual([2, 'INVALID_REQUEST']);
    const unreachable = await run(['import', write('d.nq', '_:a <p> "x" .'), '--to', 'http://127.0.0.1:1'], {
      cwd: folder.dir,
    });
    expect(unreachable.code).toBe(3);
  });

  it('gives every node a new uid when asked, and reads the names of Dgraph', async () => {
    const data = folder.path('data');
    const file = write('people.rdf', '<0x1> <name> "Ann" .\n<0x1> <dgraph.type> "Person" .\n');
    await runJson(['import', file, '--data', data, '--compat', 'dgraph']);
    await runJson(['import', file, '--data', data, '--compat', 'dgraph', '--new-uids']);
    const service = await serve(['--data', data]);
    const answer = await service.query('{ q(func: has(service.type)) { name service.type } }');
    await service.stop();
    const ann = { name: 'Ann', 'service.type': ['Person'] };
    expect(answer['data']).toEqual({ q: [ann, ann] });
  });

  it('warns of names that the type definitions do not have, into a directory and into a service', async () => {
    const graphql = write(
      'types.graphql',
      'interface Named { name: String } type Person implements Named { age: Int }',
    );
    const file = write(
      'typos.ndjson',
      [
        { uid: '_:ann', 'service.type': ['Person', 'Named'], 'Named.name': 'Ann', 'Person.age': 3 },
        { uid: '_:ben', 'service.type': 'Persn', 'Person.name': 'Ben', 'Person.age': 4 },
        { uid: '_:eve', 'service.type': 'Persn', 'Person.name': 'Eve' },
      ]
        .map((node) => JSON.stringify(node))
        .join('\n'),
    );
    const warnings = [
      expect.stringMatching(/^Persn \(.*typos\.ndjson:2\) is no type of the definitions/),
      expect.stringMatching(/^Person\.name \(.*typos\.ndjson:2\) is no field of a type/),
    ];
    const into = ['import', file, '--data', folder.path('typed')];
    expect(await runJson([...into, '--graphql', graphql])).toMatchObject({ warnings });
    for (const peer of [[], ['--compat', 'dgraph']]) {
      const service = await serve(['--data', folder.path(`served${peer.length}`), ...peer]);
      const send = ['import', file, '--to', service.url];
      const told = await runJson([...send, '--graphql', graphql], { cwd: folder.dir });
      await service.stop();
      expect(told).toMatchObject({ warnings });
    }
    expect(await runJson(['import', file, '--data', folder.path('untyped')])).toMatchObject({ warnings: [] });
  });

  it('may leave what the type definitions do not allow, which doctor tells', async () => {
    const graphql = write(
      'types.graphql',
      'type Author { name: String! articles: [Article] @hasInverse(field: author) } type Article { author: Author }',
    );
    const article = { uid: '_:one', 'service.type': 'Article', 'Article.author': { uid: '_:ann' } };
    const half = write('half.json', JSON.stringify([{ uid: '_:ann', 'service.type': 'Author' }, article]));
    const data = folder.path('half');
    await runJson(['import', half, '--graphql', graphql, '--data', data]);
    const { findings } = await runJson(['doctor', '--data', data], { cwd: folder.dir });
    const types = (findings as { check: string; status: string; message: string }[]).filter(
      ({ check }) => check === 'types',
    );
    expect(types.map(({ status, message }) => `${status} ${message.split(/: (?=it|0x)/)[1]}`)).toEqual([
      'warning it is required, and stored nodes lack it: they answer NON_NULL for it',
      expect.stringMatching(/^warning 0x\w+ leads to 0x\w+, which does not lead back by Author\.articles$/),
    ]);
    const sound = folder.path('sound');
    await runJson(['import', write('none.json', '[]'), '--graphql', graphql, '--data', sound]);
    const { stdout } = await run(['doctor', '--data', sound], { cwd: folder.dir });
    expect(stdout).toMatch(/ok\s+types\s+stored nodes are as the type definitions say/);
  });

  it('has what was declared in the graph language beside the types, out of an export', async () => {
    const types = write(
      'types.graphql',
      'type Film { title: String! @search(by: [hash]) cast: [Person] } type Person { name: String }',
    );
    const schema = write(
      'more.schema',
      '<Film.title>: string @index(hash, trigram) .\n<Film.cast>: [uid] @reverse @count .\n',
    );
    const [one, other] = [folder.path('one'), folder.path('other')];
    await runJson(['import', '--graphql', types, '--data', one]);
    await runJson(['import', '--schema', schema, '--data', one]);
    await runJson(['export', '--data', one, '--out', folder.path('out')]);
    const { files } = await runJson(['export', '--data', one, '--out', folder.path('again')]);
    await runJson(['import', folder.path('out'), '--data', other]);
    const exported = await runJson(['export', '--data', other, '--out', folder.path('third')]);
    const lines = (list: unknown) => {
      const [file] = (list as string[]).filter((name) => name.includes('.schema'));
      return gunzipSync(readFileSync(file)).toString();
    };
    expect(lines(files)).toContain('@index(hash, trigram)');
    expect(lines(exported.files)).toBe(lines(files));
  });

  it('may bring type definitions that only the peer takes: doctor tells, and an export has them', async () => {
    const types = 'type A { id: ID! n: Int }\ntype B { id: ID! n(arg: Int): Int }';
    const data = folder.path('peer');
    await runJson(['import', '--graphql', write('peer.graphql', types), '--data', data, '--compat', 'dgraph']);
    const { findings } = await runJson(['doctor', '--data', data], { cwd: folder.dir });
    expect(findings).toContainEqual({
      check: 'types',
      status: 'warning',
      message: expect.stringMatching(/^no stored type is served: the stored type definitions:2:\d+ /),
      fix: expect.stringContaining('GET /admin/schema'),
    });
    const { files } = await runJson(['export', '--data', data, '--out', folder.path('out')]);
    const [kept] = (files as string[]).filter((file) => file.includes('.graphql'));
    expect(gunzipSync(readFileSync(kept)).toString()).toBe(types);
  });

  it('tells the first of many such names, and how many more there are', async () => {
    const graphql = write('types.graphql', 'type Person { age: Int }');
    const fields = Array.from({ length: 13 }, (_, n) => [`Person.f${n}`, n]);
    const file = write('wide.json', JSON.stringify([{ uid: '_:a', ...Object.fromEntries(fields) }]));
    const { warnings } = await runJson(['import', file, '--data', folder.path('wide'), '--graphql', graphql]);
    expect(warnings).toHaveLength(11);
    expect((warnings as string[]).at(-1)).toBe('3 more names are in no definition');
  });

  it('refuses the types of Dgraph where they would be none, and speaks to a service by its own names', async () => {
    const file = write('typed.rdf', '<0x9> <name> "Bern" .\n<0x9> <dgraph.type> "City" .\n');
    const untyped = /^INVALID_MUTATION: .*typed\.rdf:2:.*dgraph\.type would give the node no type.*\n.*--compat dgraph/;
    const local = ['import', file, '--data', folder.path('typed')];
    expect((await run(local)).stderr).toMatch(untyped);
    expect(await runJson([...local, '--compat', 'dgraph'])).toMatchObject({ statements: 2 });
    for (const peer of [[], ['--compat', 'dgraph']]) {
      const service = await serve(['--data', folder.path(`spoken${peer.length}`), ...peer]);
      const send = ['import', file, '--new-uids', '--to', service.url];
      const plain = await run(send, { cwd: folder.dir });
      if (peer.length > 0) expect(plain.code).toBe(0);
      else expect(plain.stderr).toMatch(untyped);
      await runJson([...send, '--compat', 'dgraph'], { cwd: folder.dir });
      const { data } = await service.query('{ q(func: type(City)) { name } }');
      await service.stop();
      const bern = { name: 'Bern' };
      expect(data).toEqual({ q: peer.length > 0 ? [bern, bern] : [bern] });
    }
  });

  it('takes uids that are too large for it as names, under --new-uids', async () => {
    const data = folder.path('data');
    const quads = write('people.rdf', '<0xfffd8d72745f0650> <name> "Ann" .\n<0x2> <friend> <0xfffd8d72745f0650> .\n');
    const json = write('people.json', '[{"uid": "0xfffd8d72745f0650", "age": 41}, {"uid": "0x2", "name": "Ben"}]');
    for (const file of [quads, json]) {
      const { code, stderr } = await run(['import', file, '--data', data]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/people\.(rdf|json):1:\d+: the uid 0xfffd8d72745f0650 is out of range/);
      expect(stderr).toContain('--new-uids');
    }
    await runJson(['import', quads, json, '--data', data, '--new-uids']);
    const service = await serve(['--data', data]);
    try {
      const answer = await service.query('{ q(func: has(friend)) { name friend { name age } } }');
      expect(answer['data']).toEqual({ q: [{ name: 'Ben', friend: [{ name: 'Ann', age: 41 }] }] });
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });
});
