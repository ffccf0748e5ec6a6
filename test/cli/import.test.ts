import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
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
      expect(locked.stderr).toContain('fix:');

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
});
