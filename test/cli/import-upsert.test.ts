import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bin, run, runJson, scratch, serve } from './command.js';

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

function write(name: string, text: string): string {
  writeFileSync(folder.path(name), text);
  return folder.path(name);
}

const SCHEMA = 'xid: string @index(hash) @upsert .\nemail: string @index(exact) .\nage: int .\nfriend: [uid] .\n';

describe('import --upsert', () => {
  it('finds nodes by their names and IRIs, which it stores, so that a second run makes nothing', async () => {
    const schema = write('people.schema', SCHEMA);
    const file = write(
      'people.rdf',
      '_:ann <name> "Ann" .\n<http://other.example/carl> <name> "Carl" .\n_:ann <friend> <http://other.example/carl> .\n_:ann <friend> _:bob .\n',
    );
    const data = folder.path('data');
    const local = ['import', file, '--schema', schema, '--upsert', 'xid', '--data', data];
    expect(await runJson(local)).toMatchObject({ statements: 4, nodes: 3 });
    expect(await runJson(local)).toMatchObject({ statements: 4, nodes: 3 });
    const service = await serve(['--data', data]);
    try {
      const more = write('more.json', '[{"uid": "_:ann", "age": 41}, {"uid": "_:dora", "name": "Dora"}]');
      const remote = ['import', file, more, '--upsert', 'xid', '--to', service.url];
      await runJson(remote, { cwd: folder.dir });
      await runJson(remote, { cwd: folder.path('data') });
      const answer = await service.query('{ q(func: has(xid), orderasc: xid) { xid name age friend { xid } } }');
      expect(answer['data']).toEqual({
        q: [
          { xid: 'ann', name: 'Ann', age: 41, friend: [{ xid: 'http://other.example/carl' }, { xid: 'bob' }] },
          { xid: 'bob' },
          { xid: 'dora', name: 'Dora' },
          { xid: 'http://other.example/carl', name: 'Carl' },
        ],
      });
    } finally {
      await service.stop();
    }
  });

  it('finds nodes by what the files say of the predicate, wherever they say it, and those of others', async () => {
    const service = await serve(['--data', folder.path('data')]);
    try {
      await fetch(`${service.url}/alter`, { method: 'POST', body: SCHEMA });
      const body = '{ set { <0x77> <email> "ann@example.org" . <0x78> <email> "quoted \\"b\\" é" . } }';
      const headers = { 'content-type': 'application/rdf' };
      await fetch(`${service.url}/mutate?commitNow=true`, { method: 'POST', headers, body });
      const quads = write('a.rdf', '_:b1 <age> "41" .\n_:b2 <age> "7" .\n_:b2 <email> "quoted \\"b\\" é" .\n');
      const json = write(
        'b.json',
        '[{"name": "Ann", "email": "ann@example.org", "friend": {"email": "new@example.org"}}]',
      );
      const late = write('c.rdf', '_:b1 <email> "ann@example.org" .\n');
      const args = ['import', quads, json, late, '--upsert', 'email', '--to', service.url];
      for (let times = 0; times < 2; times++) await runJson(args, { cwd: folder.dir });
      const answer = await service.query('{ q(func: has(email)) { uid email name age friend { email } } }');
      expect((answer['data'] as { q: unknown[] }).q).toEqual([
        { uid: '0x77', email: 'ann@example.org', name: 'Ann', age: 41, friend: [{ email: 'new@example.org' }] },
        { uid: '0x78', email: 'quoted "b" é', age: 7 },
        { uid: expect.any(String), email: 'new@example.org' },
      ]);
    } finally {
      await service.stop();
    }
  });

  it('refuses what would make nodes that no later import finds, or finds twice', async () => {
    const data = ['--upsert', 'xid', '--data', folder.path('data')];
    const file = write('a.rdf', '_:ann <name> "Ann" .\n');
    const undeclared = await run(['import', file, ...data]);
    expect(undeclared.stderr).toMatch(
      /^INVALID_REQUEST: nodes cannot be found by xid: it is not declared\n.*xid: string @index\(hash\)/,
    );
    const bare = await run(['import', file, '--schema', write('bare.schema', 'xid: string .'), ...data]);
    expect(bare.stderr).toContain('nodes cannot be found by xid: it has no index');
    const schema = ['--schema', write('people.schema', SCHEMA)];
    const unnamed = await run([
      'import',
      write('b.json', '[{"uid": "_:a", "age": 1},\n{"age": 2}]'),
      ...schema,
      ...data,
    ]);
    expect(unnamed.stderr).toMatch(
      /^INVALID_MUTATION: .*b\.json:2:\d+: an object has neither a uid nor a value of xid/,
    );
    const two = await run(['import', write('c.rdf', '_:a <xid> "one" .\n_:a <xid> "two" .\n'), ...schema, ...data]);
    expect(two.stderr).toMatch(/c\.rdf:2:\d+: the node has the xid "one" already, and "two" here/);
    await runJson([
      'import',
      write('d.rdf', '<0x1> <xid> "ann" .\n<0x2> <xid> "ann" .\n'),
      '--data',
      folder.path('data'),
    ]);
    const several = await run(['import', file, ...data]);
    expect(several.stderr).toContain('0x1 and 0x2 both have the xid "ann"');
  });

  it('makes nothing twice where it was killed, or where two run at the same time', async () => {
    const NODES = 12_000;
    const schema = write('people.schema', SCHEMA);
    const quads = Array.from(
      { length: NODES },
      (_, i) => `_:n${i} <name> "n${i}" .\n_:n${i} <friend> _:n${(i * 7) % NODES} .`,
    );
    const file = write('a.rdf', quads.join('\n'));
    const service = await serve(['--data', folder.path('data')]);
    const count = async () => {
      const { data } = await service.query('{ q(func: has(xid)) { count(uid) } }');
      return (data as { q: { count: number }[] }).q[0].count;
    };
    try {
      const args = ['import', file, '--schema', schema, '--upsert', 'xid', '--to', service.url];
      const killed = spawn(process.execPath, [bin, ...args], { stdio: 'ignore', cwd: folder.dir });
      const ended = new Promise((resolve) => killed.on('close', resolve));
      while (killed.exitCode === null && (await count()) < 1_000) await pause(5);
      killed.kill('SIGKILL');
      await ended;
      expect(await count()).toBeLessThan(NODES);
      const again = ['import', file, '--upsert', 'xid', '--to', service.url];
      await Promise.all([runJson(again, { cwd: folder.dir }), runJson(again, { cwd: folder.path('data') })]);
      const { data } = await service.query(
        '{ q(func: has(xid)) { count(uid) } linked(func: has(friend)) { count(uid) } }',
      );
      expect(data).toEqual({ q: [{ count: NODES }], linked: [{ count: NODES }] });
    } finally {
      await service.stop();
    }
  });
});
