// The whole service on a real PostgreSQL in place of a data directory: what is kept there outlives the process and its folder.
import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startDatabase, type TestDatabase } from '../database.js';
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
