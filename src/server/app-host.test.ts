import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sharedFolder, testFolder } from '../../test/folder.js';
import { startService, type TestService } from '../../test/service.js';

const SDL = 'type Ship { name: String! @id tons: Int }';
const CODE = `
  import { Agent, agents, graph, type Json } from 'graphstead/app';
  const ADD = 'mutation($name: String!) { addShip(input: [{ name: $name }]) { numUids } }';
  async function fleet(api: Pick<typeof graph, 'graphql'>): Promise<string[]> {
    const { queryShip } = await api.graphql<{ queryShip: { name: string }[] }>('{ queryShip(order: { asc: name }) { name } }');
    return queryShip.map((ship) => ship.name);
  }
  export async function launchFleet(names: string[], fail: boolean): Promise<string[]> {
    return graph.transaction(async (txn) => {
      for (const name of names) await txn.graphql(ADD, { name });
      if (fail) throw new Error('the slipway broke');
      return fleet(txn);
    });
  }
  export function getCircle(): Json { const circle: Record<string, unknown> = {}; circle.self = circle; return circle as Json; }
  export function getBig(): Json { return { big: 10n } as unknown as Json; }
  export function getWhole(): Json { return { whole: true }; }
  class Yard extends Agent {
    override async onReceiveMessage(name: string, data?: string): Promise<string> {
      await graph.graphql(ADD, { name: data });
      if (name === 'breakDown') throw new Error('the crane fell');
      return (await fleet(graph)).join(' ');
    }
  }
  agents.register(Yard);
  export async function openYard(): Promise<string> { return (await agents.start('Yard')).id; }
  export async function tellYard(id: string, name: string, data: string): Promise<string | null> {
    return agents.sendMessage(id, name, data);
  }
`;

const appDir = sharedFolder();
let s: TestService;
beforeAll(async () => {
  mkdirSync(join(appDir, 'functions'));
  writeFileSync(join(appDir, 'schema.graphql'), SDL);
  writeFileSync(join(appDir, 'functions', 'index.ts'), CODE);
  s = await startService({ appDir });
});
afterAll(async () => {
  await s?.close();
});

const ships = async () => (await s.graphql('{ queryShip(order: {asc: name}) { name } }')).body.data.queryShip;

it("an app's GraphQL lands with the transaction or the turn it stands in, or not at all", async () => {
  const launch = 'mutation ($names: [String!]!, $fail: Boolean!) { launchFleet(names: $names, fail: $fail) }';
  const broken = await s.graphql(launch, { names: ['Auk', 'Tern'], fail: true });
  expect(broken.body.errors[0].message).toBe('the slipway broke');
  expect(await ships()).toEqual([]);
  const launched = await s.graphql(launch, { names: ['Auk', 'Tern'], fail: false });
  expect(launched.body).toMatchObject({ data: { launchFleet: ['Auk', 'Tern'] } });

  const tell =
    'mutation ($id: String!, $name: String!, $data: String!) { tellYard(id: $id, name: $name, data: $data) }';
  const id: string = (await s.graphql('mutation { openYard }')).body.data.openYard;
  const fallen = await s.graphql(tell, { id, name: 'breakDown', data: 'Gull' });
  expect(fallen.body.errors[0].message).toBe('the crane fell');
  expect(await ships()).toEqual([{ name: 'Auk' }, { name: 'Tern' }]);
  const built = await s.graphql(tell, { id, name: 'build', data: 'Gull' });
  expect(built.body).toMatchObject({ data: { tellYard: 'Auk Gull Tern' } });
  expect(await ships()).toHaveLength(3);
});

it('a result that no JSON can be made of is the error of its field, and the others are answered', async () => {
  const { body } = await s.graphql('{ getWhole getCircle getBig }');
  expect(body.data).toEqual({ getWhole: { whole: true }, getCircle: null, getBig: null });
  const errors = (body.errors as { path: string[]; message: string }[]).toSorted((a, b) =>
    a.path[0] < b.path[0] ? -1 : 1,
  );
  const extensions = { code: 'FUNCTION_FAILED' };
  expect(errors).toMatchObject([
    { path: ['getBig'], message: /result.big is a bigint$/, extensions },
    { path: ['getCircle'], message: /is a part of itself$/, extensions },
  ]);
});

it('does not start with a mistake in schema.graphql, and names the file', async () => {
  const folder = testFolder();
  writeFileSync(join(folder, 'schema.graphql'), 'type Ship {\n  name: Strin\n}');
  const position = { source: 'schema.graphql', line: 2, column: 9 };
  await expect(startService({ appDir: folder })).rejects.toMatchObject({ errors: [{ code: 'INVALID_SDL', position }] });
});

it('does not start with mistakes, and tells those of all files at once', async () => {
  const wrong = testFolder();
  mkdirSync(join(wrong, 'functions'));
  writeFileSync(join(wrong, 'schema.graphql'), 'type Ship { name: Strin }');
  writeFileSync(join(wrong, 'functions', 'index.ts'), 'export function getAny(): any {}');
  const types = { code: 'INVALID_SDL', position: { source: 'schema.graphql' } };
  const code = { code: 'FUNCTION_TYPE', position: { source: 'functions/index.ts' } };
  await expect(startService({ appDir: wrong })).rejects.toMatchObject({ errors: [types, code] });
  writeFileSync(join(wrong, 'app.json'), '{ "conections": {} }');
  const config = { code: 'CONFIG', position: { source: 'app.json' } };
  await expect(startService({ appDir: wrong })).rejects.toMatchObject({ errors: [config, types, code] });
  writeFileSync(join(wrong, 'app.json'), '{ "connections": { "a": { "type": "http", "baseUrl": "{{BASE}}" } } }');
  const missing = { code: 'MISSING_VARIABLE', position: { source: 'app.json' } };
  await expect(startService({ appDir: wrong })).rejects.toMatchObject({ errors: [missing, types, code] });
});

it('warns of a variable that looks like one of a connection and is none', async () => {
  const folder = testFolder();
  const sent = { type: 'http', baseUrl: 'http://127.0.0.1:1', headers: { 'X-Key': '{{KEY}}' }, optional: true };
  writeFileSync(join(folder, 'app.json'), JSON.stringify({ connections: { crew: sent } }));
  const app = await startService({ appDir: folder, environment: { APP_CREW_KEYS: 'k', APP_ENV: 'test' } });
  expect(app.service.warnings).toEqual([
    'connection "crew" is left out: APP_CREW_KEY is not set',
    'APP_CREW_KEYS is set, and no connection reads it; the nearest that one reads is APP_CREW_KEY',
  ]);
  await app.close();
});

it('tells in dev the mistakes of all files at once', async () => {
  const folder = testFolder();
  mkdirSync(join(folder, 'functions'));
  const [schema, code] = [join(folder, 'schema.graphql'), join(folder, 'functions', 'index.ts')];
  writeFileSync(schema, SDL);
  writeFileSync(code, 'export function getOne(): string { return "one"; }');
  const dev = await startService({ appDir: folder, dev: true });
  const told = vi.spyOn(dev.service.core.log, 'error');
  try {
    writeFileSync(schema, 'type Ship {\n  name: String! @id\n  tons: Intt\n}');
    writeFileSync(code, 'export function getOne(): any { return "one"; }');
    const both = /functions\/index\.ts:1.*\nschema\.graphql:3/;
    const isTold = () => told.mock.calls.some((words: readonly unknown[]) => both.test(words.map(String).join(' ')));
    await vi.waitFor(() => expect(isTold()).toBe(true), { timeout: 60_000 });
  } finally {
    await dev.close();
  }
});

it('tells in dev where a save of schema.graphql went wrong, and serves on what was good', async () => {
  const folder = testFolder();
  const schema = join(folder, 'schema.graphql');
  writeFileSync(schema, SDL);
  const dev = await startService({ appDir: folder, dev: true });
  const told = vi.spyOn(dev.service.core.log, 'error');
  try {
    writeFileSync(schema, 'type Ship {\n  name: String! @id\n  tons: Intt\n}');
    await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 60_000 });
    expect(told.mock.calls[0][0]).toMatch(/^the app was not reloaded: schema\.graphql:3:\d+ .*Intt/);
    expect((await dev.graphql('{ queryShip { tons } }')).body.errors).toBeUndefined();
    writeFileSync(schema, `${SDL} type Port { name: String! @id }`);
    await vi.waitFor(async () => expect((await dev.graphql('{ queryPort { name } }')).body.errors).toBeUndefined(), {
      timeout: 60_000,
    });
  } finally {
    await dev.close();
  }
});
