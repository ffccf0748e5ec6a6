import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { startService, type TestService } from '../../test/service.js';
import { startRemote } from '../../test/remote.js';
import { openStream } from '../../test/sse.js';

let folder: string;
let dev: TestService;
const told: string[] = [];

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const WAIT = { timeout: 60_000 };

beforeEach(async () => {
  folder = testFolder();
  mkdirSync(join(folder, 'functions'));
  write('schema.graphql', 'type Ship { name: String! @id }');
  write('functions/a.ts', 'export function getOne(): string { return "one"; }');
  dev = await startService({ appDir: folder, dev: true, limits: { shutdownMs: 100 } });
  told.length = 0;
  vi.spyOn(dev.service.core.log, 'error').mockImplementation((...given: unknown[]) => {
    told.push(given.map(String).join(' '));
  });
});
afterEach(async () => {
  await dev.close();
});

const answers = (query: string, data: object) =>
  vi.waitFor(async () => expect((await dev.graphql(query)).body).toMatchObject({ data }), WAIT);
const tells = (what: RegExp) => vi.waitFor(() => expect(told.join('\n')).toMatch(what), WAIT);

it('a function takes a name as soon as the type that had it is gone', async () => {
  write('functions/a.ts', 'export function getShip(): string { return "mine"; }');
  await tells(/"getShip" exists already/);
  await answers('{ getOne }', { getOne: 'one' });
  write('schema.graphql', 'type Port { name: String! @id }');
  await answers('{ getShip queryPort { name } }', { getShip: 'mine', queryPort: [] });
});

it('a type takes a name as soon as the function that had it is gone', async () => {
  write('schema.graphql', 'type One { name: String! @id }');
  await tells(/getOne/);
  await answers('{ queryShip { name } getOne }', { queryShip: [], getOne: 'one' });
  write('functions/a.ts', 'export function getTwo(): string { return "two"; }');
  await answers('{ getTwo queryOne { name } }', { getTwo: 'two', queryOne: [] });
});

it('a type of a function that has the name of a stored one is refused where it stands, and what ran goes on', async () => {
  write('functions/a.ts', 'interface Ship { tons: number }\nexport function getTwo(): Ship { return { tons: 2 }; }');
  await tells(/functions\/a\.ts:2:\d+ the type "Ship" exists already/);
  await answers('{ getOne queryShip { name } }', { getOne: 'one', queryShip: [] });
});

it('a name of the service itself is refused, and what ran goes on', async () => {
  // in a way that its text does not tell before it runs
  const agent =
    "import { Agent, agents } from 'graphstead/app';\nclass Cat extends Agent {}\nconst { register } = agents;\nregister(Cat);\n";
  write('functions/cat.ts', agent);
  await answers('{ __type(name: "AgentEvent") { name } }', { __type: { name: 'AgentEvent' } });
  write(
    'functions/cat.ts',
    `${agent}export interface AgentEvent { at: number }\nexport function getIt(): AgentEvent { return { at: 1 }; }`,
  );
  await tells(/the app has a type AgentEvent, but another type has this name already/);
  await answers('{ getOne queryShip { name } }', { getOne: 'one', queryShip: [] });
  write('schema.graphql', 'type Ship { name: Nothing }');
  await tells(/Nothing/);
  await answers('{ getOne queryShip { name } }', { getOne: 'one', queryShip: [] });
  write('functions/cat.ts', `${agent}export function getTwo(): string { return "two"; }`);
  await answers('{ getOne getTwo }', { getOne: 'one', getTwo: 'two' });
});

it('says that types are served still whose schema.graphql was emptied or deleted, once', async () => {
  const warned = vi.spyOn(dev.service.core.log, 'warn').mockImplementation((...given: unknown[]) => {
    told.push(given.map(String).join(' '));
  });
  write('schema.graphql', '\n');
  await tells(/schema\.graphql says nothing any more: .* served still/);
  await answers('{ queryShip { name } }', { queryShip: [] });
  write('functions/a.ts', 'export function getOne(): string { return "still"; }');
  await answers('{ getOne }', { getOne: 'still' });
  expect(warned).toHaveBeenCalledTimes(1);
  write('schema.graphql', 'type Port { name: String! @id }');
  await answers('{ queryPort { name } }', { queryPort: [] });
  rmSync(join(folder, 'schema.graphql'));
  await vi.waitFor(() => expect(warned).toHaveBeenCalledTimes(2), WAIT);
});

it('says that edited limits count from the next start on, once an edit', async () => {
  const warned = vi.spyOn(dev.service.core.log, 'warn').mockImplementation((...given: unknown[]) => {
    told.push(given.map(String).join(' '));
  });
  write('app.json', '{ "limits": { "messageBytes": 4096, "turnWallMs": 1000 } }');
  await tells(/app\.json: limits count from the next start on; edited: messageBytes, turnWallMs$/);
  write('functions/a.ts', 'export function getOne(): string { return "still"; }');
  await answers('{ getOne }', { getOne: 'still' });
  expect(warned).toHaveBeenCalledTimes(1);
  write('app.json', '{ "limits": { "messageBytes": 4096 } }');
  await tells(/edited: turnWallMs$/);
});

it('functions see edited env files in process.env', async () => {
  write('functions/a.ts', "export function getOne(): string { return process.env['SHIP_NAME'] ?? 'none'; }");
  await answers('{ getOne }', { getOne: 'none' });
  write('.env', 'SHIP_NAME=Auk');
  await answers('{ getOne }', { getOne: 'Auk' });
  write('.env', 'SHIP_NAME=Tern');
  await answers('{ getOne }', { getOne: 'Tern' });
  write('.env', '');
  await answers('{ getOne }', { getOne: 'none' });
});

it('secrets of type definitions follow edited env files, and stay when one is missing', async () => {
  const remote = await startRemote();
  remote.on('/who', (call) => ({ body: JSON.stringify(call.headers['x-key']) }));
  write('.env', 'APP_WHO_KEY=first');
  const types = `# Service.Secret who "{{KEY}}"
    type Query { who: String @custom(http: { url: "${remote.url}/who", method: GET, secretHeaders: ["X-Key:who"] }) }`;
  write('schema.graphql', types);
  await answers('{ who }', { who: 'first' });
  write('.env', 'APP_WHO_KEY=second');
  await answers('{ who }', { who: 'second' });
  write('.env', '');
  await tells(/schema\.graphql:1:1 the secret who needs the variable APP_WHO_KEY/);
  await answers('{ who }', { who: 'second' });
  // types that no longer ask for it are not held up by those that do
  write('schema.graphql', types.replace('{{KEY}}', 'fixed'));
  await answers('{ who }', { who: 'fixed' });
  await remote.close();
});

it('a stream of a function that the reload replaced ends with an error that says so', async () => {
  const stream =
    "export async function* watchIt(): AsyncIterable<string> { yield 'first'; await new Promise(() => {}); }";
  write('functions/b.ts', stream);
  await answers('{ __type(name: "Subscription") { name } }', { __type: { name: 'Subscription' } });
  const events = await openStream(`${dev.url}/graphql`, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'subscription { watchIt }' }),
  });
  expect(await events.value()).toMatchObject({ data: { watchIt: 'first' } });
  write('functions/b.ts', `${stream} // saved`);
  expect(await events.value()).toMatchObject({ errors: [{ extensions: { code: 'APP_RELOADED' } }] });
  expect(await events.next()).toMatchObject({ event: 'complete' });
  expect(await events.next()).toBeUndefined();
});

it('a query of @custom that cannot be read is told with its place, and what ran goes on', async () => {
  write(
    'schema.graphql',
    'type Ship { name: String! @id }\ntype Query { ships: [Ship] @custom(dql: "{ ships(func: }") }',
  );
  await tells(/schema\.graphql:2:56 @custom on Query\.ships: dql: /);
  await answers('{ getOne queryShip { name } }', { getOne: 'one', queryShip: [] });
});

it('new functions are served while schema.graphql is broken', async () => {
  write('schema.graphql', 'type Ship {');
  await tells(/schema\.graphql/);
  write('functions/a.ts', 'export function getTwo(): string { return "two"; }');
  await answers('{ getTwo queryShip { name } }', { getTwo: 'two', queryShip: [] });
});
