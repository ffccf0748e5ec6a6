import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run, runJson, scratch, serve } from './command.js';

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
}

async function doctor(...args: string[]): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout, stderr } = await run(['doctor', ...args, '--json'], { cwd: folder.dir });
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as { findings: Finding[] }) };
}

async function someData(): Promise<string> {
  const data = folder.path('data');
  const lines = Array.from(
    { length: 300 },
    (_, i) => `_:n${i} <name> "node ${i}" .\n_:n${i} <next> _:n${(i + 1) % 300} .`,
  );
  writeFileSync(folder.path('a.rdf'), lines.join('\n'));
  writeFileSync(folder.path('a.schema'), 'name: string @index(exact, trigram) @lang .\nnext: [uid] @reverse @count .');
  await runJson(['import', folder.path('a.rdf'), folder.path('a.schema'), '--data', data]);
  // Predicates that hold data already are filled by commits, which leave records.
  writeFileSync(folder.path('b.rdf'), '_:m <name> "node 7 again" .');
  await runJson(['import', folder.path('b.rdf'), '--data', data]);
  return data;
}

describe('backup, restore and doctor', () => {
  it('make folders that no other user may look into', async () => {
    const data = await someData();
    await runJson(['backup', folder.path('aside'), '--data', data]);
    await runJson(['restore', folder.path('aside'), '--data', folder.path('restored')]);
    await runJson(['export', '--data', data, '--out', folder.path('out')]);
    for (const made of [data, folder.path('aside'), folder.path('restored'), folder.path('out')]) {
      expect([made, (statSync(made).mode & 0o777).toString(8)]).toEqual([made, '700']);
    }
  });

  it('copy a store while it is served, and read it back', async () => {
    const data = await someData();
    const service = await serve(['--data', data]);
    try {
      const aside = await runJson(['backup', folder.path('aside'), '--data', data]);
      expect(aside['bytes']).toBeGreaterThan(10_000);
      const through = await runJson(['backup', folder.path('through'), '--from', service.url]);
      expect(aside['position']).toMatch(/^[0-9a-f]{16}\.\d+\.0$/);
      expect(through['position']).toBe(aside['position']);
      const again = await run(['backup', folder.path('aside'), '--data', data]);
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('holds a store already')]);
      expect((await doctor('--data', data)).code).toBe(0);
      const exported = await runJson(['export', '--data', data, '--out', folder.path('out')]);
      expect(exported['statements']).toBe(601);
    } finally {
      await service.stop();
    }
    for (const copy of ['aside', 'through']) {
      const restored = folder.path(`restored-${copy}`);
      await runJson(['restore', folder.path(copy), '--data', restored]);
      const served = await serve(['--data', restored]);
      const answer = await served.query('{ q(func: has(name)) { count(uid) } }');
      await served.stop();
      expect(answer['data']).toEqual({ q: [{ count: 301 }] });
    }
    const nothing = await run(['restore', folder.path('nothing'), '--data', folder.path('x')]);
    expect([nothing.code, nothing.stderr]).toEqual([
      1,
      expect.stringContaining('name a folder that graphstead backup'),
    ]);
  });

  it('take no directory in the place of the database that a service is told of', async () => {
    writeFileSync(folder.path('a.rdf'), '_:a <name> "a" .');
    await runJson(['import', folder.path('a.rdf')], { cwd: folder.dir });
    const data = folder.path('.graphstead', 'data');
    const options = { cwd: folder.dir, environment: { GRAPHSTEAD_STORE: 'postgres://user:word@127.0.0.1:1/one' } };
    for (const args of [
      ['backup', folder.path('copy')],
      ['restore', data],
    ]) {
      const { code, stderr } = await run(args, options);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/by the means of that database\n {2}fix: Use pg_dump/)]);
    }
    await runJson(['backup', folder.path('copy'), '--data', data], options);
  });

  it('and every other command tell a limit in the environment that names none', async () => {
    const environment = { GRAPHSTEAD_LIMIT_AGENT_IDEL_MS: '5' };
    const name = 'GRAPHSTEAD_LIMIT_AGENT_IDEL_MS names no limit';
    const found = await run(['doctor', '--json'], { cwd: folder.dir, environment });
    expect(found.code).toBe(1);
    const { findings } = JSON.parse(found.stdout) as { findings: Finding[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: 'limits', status: 'bad', message: name }));
    const refused = await run(['backup', folder.path('copy'), '--data', await someData()], { environment });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`CONFIG: ${name}`)]);
  });

  it('says what is wrong with a store and with an app', async () => {
    const data = await someData();
    const sound = await doctor('--data', data);
    expect(sound.code).toBe(0);
    expect(sound.findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'node good',
      'disk good',
      'pages good',
      'records good',
      'schema good',
      'indexes good',
    ]);

    const file = folder.path('data', 'data.mdb');
    const bytes = readFileSync(file);
    const first = bytes.indexOf('node 7');
    expect(first).toBeGreaterThan(0);
    for (let at = first; at !== -1; at = bytes.indexOf('node 7', at + 1)) bytes.write('edon', at);
    writeFileSync(file, bytes);
    const damaged = await doctor('--data', data);
    expect(damaged.code).toBe(1);
    const wrong = damaged.findings.filter(({ status }) => status === 'bad');
    expect([...new Set(wrong.map(({ check }) => check))].sort()).toEqual(['indexes', 'pages', 'records']);

    writeFileSync(folder.path('app.json'), '{ "connections": { "api": { "type": "http", "baseUrl": "{{URL}}" } } }');
    const app = await doctor(folder.dir, '--data', folder.path('none'));
    expect(app.findings).toContainEqual(
      expect.objectContaining({ check: 'connection api', status: 'bad', message: 'APP_API_URL is not set' }),
    );
    writeFileSync(folder.path('schema.graphql'), '# Service.Secret pay "{{KEY}}"\ntype T { n: Int }');
    const secret = await doctor(folder.dir, '--data', folder.path('none'));
    const needed = { check: 'secrets', status: 'bad', message: 'the secret pay needs the variable APP_PAY_KEY' };
    expect(secret.findings).toContainEqual(expect.objectContaining(needed));
    writeFileSync(folder.path('.env.dev.local'), 'APP_PAY_KEY=k');
    const known = await doctor(folder.dir, '--data', folder.path('none'));
    expect(known.findings).toContainEqual({ check: 'secrets', status: 'good', message: '1 secret(s)' });
    writeFileSync(folder.path('app.json'), '{\n "nonsense": 1 }');
    const config = await doctor(folder.dir, '--data', folder.path('none'));
    expect(config.findings[2]).toMatchObject({ check: 'app.json', message: expect.stringContaining('app.json:2:') });
  });

  it('finds that a folder is not there', async () => {
    const { code, findings } = await doctor(folder.path('mistyped'));
    expect(code).toBe(1);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'app', status: 'bad' }));
  });
});
