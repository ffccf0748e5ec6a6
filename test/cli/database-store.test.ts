// The whole service on a real PostgreSQL in place of a data directory: what is kept there outlives the process and its folder.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openService } from '../../src/server/index.js';
import { openPostgresStore } from '../../src/store/index.js';
import { until } from '../agent-service.js';
import { startDatabase, type TestDatabase } from '../database.js';
import { wayTo } from '../way-to-database.js';
import { run, type Running, runJson, scratch, serve } from './command.js';

const COUNTER = fileURLToPath(new URL('../../bench/app-counter', import.meta.url));
const KILLING = fileURLToPath(new URL('../../bench/kill-rounds.mjs', import.meta.url));

let database: TestDatabase;
let folder: ReturnType<typeof scratch>;
beforeAll(async () => {
  database = await startDatabase();
}, 120_000);
afterAll(() => database.stop());
beforeEach(() => {
  folder = scratch();
});
const running: Running[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop('SIGKILL');
  folder.remove();
});

async function served(...given: Parameters<typeof serve>): Promise<Running> {
  const service = await serve(...given);
  running.push(service);
  return service;
}

/** What a service of its own is started with: nothing of it lies in the folder of another one. */
async function place(): Promise<{ readonly cwd: string; readonly environment: Record<string, string> }> {
  return { cwd: folder.dir, environment: { GRAPHSTEAD_STORE: await database.place() } };
}

describe('a service on a database', () => {
  it('keeps types, nodes and agents there: killed, it goes on from another folder', async () => {
    const options = await place();
    const first = await served([COUNTER, '--data', folder.path('first')], options);
    const started = await first.graphql('mutation { startCounter }');
    const { startCounter: id } = started['data'] as { startCounter: string };
    const count = 'mutation ($id: String!) { updateCounter(id: $id, name: "count") }';
    for (const n of [1, 2]) {
      expect(await first.graphql(count, { id })).toMatchObject({ data: { updateCounter: `${n}` } });
    }
    const sent = await fetch(`${first.url}/mutate?commitNow=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/rdf' },
      body: '{ set { _:a <name> "Ann" . } }',
    });
    expect(sent.status).toBe(200);
    await first.stop('SIGKILL');

    const second = await served([COUNTER, '--data', folder.path('second')], options);
    expect(await second.graphql(count, { id })).toMatchObject({ data: { updateCounter: '3' } });
    expect(await second.query('{ q(func: has(name)) { name } }')).toMatchObject({ data: { q: [{ name: 'Ann' }] } });
    expect(await second.stop()).toBe(0);
  });

  it('takes imports and gives exports, and shows its password nowhere', async () => {
    const { cwd, environment } = await place();
    const address = environment['GRAPHSTEAD_STORE'];
    writeFileSync(folder.path('people.rdf'), '_:a <name> "Ann" .\n_:b <name> "Bob" .\n');
    writeFileSync(folder.path('people.schema'), 'name: string @index(exact) .\n');
    const files = [folder.path('people.schema'), folder.path('people.rdf')];
    const imported = await run(['import', ...files, '--store', address], { cwd });
    expect(imported).toMatchObject({ code: 0 });
    expect(imported.stdout + imported.stderr).not.toContain('pa55word');
    const looked = await run(['doctor', '--store', address], { cwd });
    expect(looked.stdout).toMatch(/store +postgres:\/\/127\.0\.0\.1:\d+\/postgres answers/);
    expect(looked.stdout).toMatch(/indexes +samples of all indexes agree/);
    expect(looked.code).toBe(0);
    await runJson(['export', '--store', address, '--out', folder.path('out')], { cwd });
    expect(readdirSync(folder.path('out')).some((name) => name.includes('.rdf'))).toBe(true);

    const service = await served(['--data', folder.path('data')], { cwd, environment });
    const { data } = await service.query('{ q(func: eq(name, "Bob")) { name } }');
    expect(data).toEqual({ q: [{ name: 'Bob' }] });
    expect(readdirSync(cwd)).not.toContain('data');
    await service.stop();
  });

  it('ends by itself, for its supervisor to start it again, once another process has taken over', async () => {
    const { cwd, environment } = await place();
    const first = await served([COUNTER, '--data', folder.path('data')], { cwd, environment });
    expect(await first.graphql('mutation { startCounter }')).not.toHaveProperty('errors');
    const ready = () => fetch(`${first.url}/health/ready`).then(({ status }) => status);
    expect(await ready()).toBe(200);
    const second = await openPostgresStore(environment['GRAPHSTEAD_STORE'], { takeOver: true });
    try {
      expect(await first.ended).toBe(3);
      expect(first.logged()).toMatch(/"level":60,.*"code":"STORE_FENCED".*another process took over the database/);
    } finally {
      await second.close();
    }
  });

  it('is not asked to be ready where it was replaced, or may have been', async () => {
    const store = await database.place();
    const fenced: unknown[] = [];
    const service = await openService({ store, port: 0, logLevel: 'silent', fenced: (error) => fenced.push(error) });
    const ready = async () => {
      const answer = await fetch(`${service.url}/health/ready`);
      const { errors } = (await answer.json()) as { errors?: readonly { extensions: { code: string } }[] };
      return [answer.status, errors?.[0].extensions.code];
    };
    try {
      expect(await ready()).toEqual([200, undefined]);
      const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 20_000);
      expect(await ready()).toEqual([503, 'OVERLOADED']);
      now.mockRestore();
      expect(await ready()).toEqual([200, undefined]);
      const second = await openPostgresStore(store, { takeOver: true });
      await until(async () => fenced.length > 0);
      expect(await ready()).toEqual([503, 'STORE_FENCED']);
      await second.close();
    } finally {
      await service.close();
    }
  });

  it('tells whoever waits that nobody knows, where it is told to end while its database is away in the middle of a commit', async () => {
    const way = await wayTo(database.port);
    try {
      const store = (await database.place()).replace(`:${database.port}/`, `:${way.port}/`);
      const service = await openService({ store, port: 0, logLevel: 'silent' });
      const mutate = (name: string) =>
        fetch(`${service.url}/mutate?commitNow=true`, {
          method: 'POST',
          headers: { 'content-type': 'application/rdf' },
          body: `{ set { _:a <name> "${name}" . } }`,
        });
      expect((await mutate('Ann')).status).toBe(200);
      const lost = way.loseNextAnswer();
      const sent = mutate('Bob');
      await lost;
      const closed = service.close();
      const answer = await sent;
      expect([answer.status, await answer.json()]).toMatchObject([
        504,
        { errors: [{ extensions: { code: 'OUTCOME_UNKNOWN' } }] },
      ]);
      await closed;
    } finally {
      way.close();
    }
  });

  it('is another life of the data where it was restored as the guide says', async () => {
    const store = await database.place();
    const open = () => openService({ store, port: 0, logLevel: 'silent' });
    const begin = async (url: string, id = '') => {
      const answer = await fetch(`${url}/changes`, { headers: { 'last-event-id': id } });
      const reader = answer.body!.getReader();
      let text = '';
      while (!/^id: .*\n/m.test(text)) text += Buffer.from((await reader.read()).value!).toString();
      await reader.cancel();
      return text;
    };
    const first = await open();
    const [, id] = /^id: (\S+)/m.exec(await begin(first.url))!;
    await first.close();
    const guide = readFileSync(new URL('../../docs/guides/deployment.md', import.meta.url), 'utf8');
    const [, statement] = /`(UPDATE graphstead_meta [^`]+)`/.exec(guide)!;
    await database.run(
      statement.replace('graphstead_meta', `${/search_path%3D(\w+)/.exec(store)?.[1]}.graphstead_meta`),
    );
    const second = await open();
    try {
      expect(await begin(second.url, id)).toMatch(/^event: gap$/m);
    } finally {
      await second.close();
    }
  });

  it('whose old versions cannot be taken away says so, and so does the doctor', async () => {
    const { cwd, environment } = await place();
    const address = environment['GRAPHSTEAD_STORE'];
    const service = await served(['--data', folder.path('data')], { cwd, environment });
    const [, schema] = /search_path%3D(\w+)/.exec(address) ?? [];
    const looked = async () => (await run(['doctor', '--store', address], { cwd })).stdout;
    expect(await looked()).not.toMatch(/versions/);
    await database.run(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger AS 'BEGIN RAISE ''not mine to delete''; END' LANGUAGE plpgsql;
      CREATE TRIGGER refuse BEFORE DELETE ON ${schema}.graphstead_entry EXECUTE FUNCTION ${schema}.refuse();
      INSERT INTO ${schema}.graphstead_entry (k, since, until, v)
        SELECT decode('ff' || lpad(to_hex(n), 8, '0'), 'hex'), 0, 1, '' FROM generate_series(1, 100000) AS n`);
    for (let n = 0; n < 3; n++) {
      await fetch(`${service.url}/mutate?commitNow=true`, {
        method: 'POST',
        headers: { 'content-type': 'application/rdf' },
        body: `{ set { <0x1> <name> "${n}" . } }`,
      });
    }
    await until(async () => /cannot be taken away: not mine to delete/.test(service.logged()));
    expect(await looked()).toMatch(/versions +100000 old versions or more/);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^graphstead_store_sweep_failures_total ([5-9]|\d\d+)$/m);
  });

  it('says what is wrong with an address', async () => {
    const { code, stderr } = await run(['start', '--store', '/var/data', '--port', '0'], { cwd: folder.dir });
    expect(code).toBe(1);
    expect(stderr).toMatch(/--store is no address of a database/);
    const environment = { GRAPHSTEAD_STORE: `postgres://graphstead:wr0ng@127.0.0.1:${database.port}/postgres` };
    const refused = await run(['start', '--port', '0', '--grpc-port', '0'], { cwd: folder.dir, environment });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/password authentication failed/);
    expect(refused.stderr).not.toContain('wr0ng');
  });

  it('that is killed in the middle of load loses and repeats nothing', async () => {
    const { environment } = await place();
    const given = { env: { ...process.env, ...environment } };
    const killing = promisify(execFile)(process.execPath, [KILLING, '3', '20261'], given);
    const { stdout } = await killing.catch((error: { stdout: string }) => error);
    const verdict = JSON.parse(stdout);
    expect(verdict.broken).toEqual([]);
    expect(verdict.acknowledged).toBeGreaterThan(3);
    expect(verdict.events).toBeGreaterThan(0);
  }, 300_000);
});
