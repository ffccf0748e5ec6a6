// Section C of the specification (app.json, placeholders, connections, models) and the rows of "Authentication"
// that belong to apps, over HTTP, with real servers behind every connection.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startDatabase, type TestDatabase } from '../database.js';
import { freePort } from '../free-port.js';
import { type Remote, startRemote } from '../remote.js';
import { startService, type TestService } from '../service.js';

const dir = sharedFolder();
const SECRET = 'pl4nted-key';
let remote: Remote;
let peer: TestService;
let database: TestDatabase;
let s: TestService;

const config = (extra: object = {}) => ({
  models: { writer: { sourceModel: 'tiny-1', connection: 'model-api', path: 'v1/chat/completions' } },
  connections: {
    'model-api': { type: 'http', baseUrl: remote.url, headers: { Authorization: 'Bearer {{API_KEY}}' } },
    api: { type: 'http', baseUrl: `${remote.url}/v1`, headers: { 'X-Key': '{{API_KEY}}' } },
    db: { type: 'relational', connStr: '{{DATABASE_URL}}' },
    peer: { type: 'graph', grpcTarget: '{{GRAPH_ENDPOINT}}' },
    keyed: { type: 'graph', grpcTarget: '{{GRAPH_ENDPOINT}}', key: '{{KEY}}' },
    later: { type: 'http', baseUrl: 'https://{{HOST}}/', optional: true },
    slow: { type: 'http', baseUrl: `${remote.url}/slow`, timeoutMs: 2_000 },
    ...extra,
  },
});

const CODE = `
import { connections, models } from 'graphstead/app';

export async function getThing(id: string): Promise<string> {
  const reply = await connections.http('api').fetch('things/' + id);
  return reply.text();
}
export async function readThing(id: string): Promise<string> {
  return connections.http('api').json<string>('things/' + id);
}
export async function findKeyed(): Promise<string> {
  return JSON.stringify(await connections.graph('keyed').query('{ q(func: has(nothing)) { uid } }'));
}
export async function countRows(): Promise<number> {
  const rows = await connections.relational('db').query('select count(*)::int as n from item where name = $1', ['one']);
  return rows[0].n as number;
}
export async function writeRow(name: string): Promise<number> {
  return connections.relational('db').execute('insert into item (name) values ($1)', [name]);
}
export async function findPeople(name: string): Promise<string> {
  const data = await connections.graph('peer').query('query p($n: string) { p(func: eq(name, $n)) { name age } }', { $n: name });
  return JSON.stringify(data);
}
export async function findAged(age: number): Promise<string> {
  const text = 'query p($age: int, $n: string = "Ann") { p(func: eq(name, $n)) @filter(eq(age, $age)) { name } }';
  return JSON.stringify(await connections.graph('peer').query(text, { $age: age as never, $n: undefined as never }));
}
export async function savePerson(name: string): Promise<number> {
  const { uids } = await connections.graph('peer').upsert('{ q(func: eq(name, "' + name + '")) { v as uid } }',
    [{ set: 'uid(v) <name> "' + name + '" .\\nuid(v) <age> "7" .' }]);
  return Object.keys(uids).length;
}
/** @query */
export async function ask(question: string): Promise<string> {
  const reply = await models.get('writer').ask('You are brief.', question);
  return reply.choices[0].message.content ?? '';
}
export async function getSlow(): Promise<string> {
  return (await connections.http('slow').fetch('x')).text();
}
export async function useLater(): Promise<string> {
  return (await connections.http('later').fetch('x')).text();
}
`;

function writeEnvironment(more: Readonly<Record<string, string>>): void {
  const variables = {
    APP_MODEL_API_API_KEY: SECRET,
    APP_API_API_KEY: 'overridden-by-the-process',
    APP_DB_DATABASE_URL: database.address,
    APP_PEER_GRAPH_ENDPOINT: `127.0.0.1:${peer.service.grpcPort}`,
    APP_KEYED_GRAPH_ENDPOINT: '127.0.0.1:1',
    APP_KEYED_KEY: 'none-yet',
    ...more,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  writeFileSync(join(dir, 'app', '.env.dev.local'), lines.join('\n'));
}

beforeAll(async () => {
  [remote, peer, database] = await Promise.all([
    startRemote(),
    startService({ grpcPort: await freePort() }),
    startDatabase(),
  ]);
  await peer.alter('name: string @index(exact) .\nage: int .');
  await database.run('create table item (name text)');
  mkdirSync(join(dir, 'app', 'functions'), { recursive: true });
  writeFileSync(join(dir, 'app', 'app.json'), `// connections of a test\n${JSON.stringify(config(), null, 2)}`);
  writeFileSync(join(dir, 'app', 'functions', 'all.ts'), CODE);
  writeEnvironment({});
  s = await startService({ appDir: join(dir, 'app'), dev: true, environment: { APP_API_API_KEY: SECRET } });
}, 120_000);

afterAll(async () => {
  await s?.close();
  await peer?.close();
  await database?.stop();
  await remote?.close();
});

describe('connections', () => {
  it('http: baseUrl, headers with {{placeholders}}; the process environment comes before .env files', async () => {
    remote.on('/v1/things/7', (call) => ({ body: `"key ${call.headers['x-key']}"` }));
    const { body } = await s.graphql('{ getThing(id: "7") }');
    expect(body).toMatchObject({ data: { getThing: `"key ${SECRET}"` } });
  });

  it('relational: connStr from {{DATABASE_URL}}', async () => {
    expect((await s.graphql('mutation { writeRow(name: "one") }')).body).toMatchObject({ data: { writeRow: 1 } });
    expect((await s.graphql('{ countRows }')).body).toMatchObject({ data: { countRows: 1 } });
  });

  it('graph: grpcTarget from {{GRAPH_ENDPOINT}}; query with variables, and upsert', async () => {
    expect((await s.graphql('mutation { savePerson(name: "Ann") }')).body).toMatchObject({ data: { savePerson: 1 } });
    expect((await s.graphql('mutation { savePerson(name: "Ann") }')).body).toMatchObject({ data: { savePerson: 0 } });
    const { body } = await s.graphql('{ findPeople(name: "Ann") }');
    expect(JSON.parse(body.data.findPeople)).toEqual({ p: [{ name: 'Ann', age: 7 }] });
    const aged = await s.graphql('{ seven: findAged(age: 7) eight: findAged(age: 8) }');
    expect(aged.body).toMatchObject({ data: { seven: '{"p":[{"name":"Ann"}]}', eight: '{"p":[]}' } });
  });

  it('an optional one without its variables is left out, and its use names the variable', async () => {
    expect(s.service.warnings.join('\n')).toContain('APP_LATER_HOST');
    const { body } = await s.graphql('mutation { useLater }');
    expect(body.errors[0].message).toContain('APP_LATER_HOST');
  });

  it('errors carry the name of the connection and never its secret', async () => {
    const { body } = await s.graphql('{ findPeople(name: "\\"") countRows }');
    expect(JSON.stringify(body)).not.toContain('pa55word');
    expect(JSON.stringify(body)).not.toContain(SECRET);
    remote.on('/v1/things/8', (call) => ({ status: 401, body: { key: call.headers['x-key'] } }));
    const refused = await s.graphql('{ readThing(id: "8") }');
    expect(refused.body.errors[0].message).toBe('connection "api": status 401 for things/8: {"key":"{{API_KEY}}"}');
  });

  it('graph: the key goes with each call', async () => {
    const closed = await startService({
      host: '0.0.0.0',
      grpcPort: 0,
      environment: { GRAPHSTEAD_API_KEYS: `other,${SECRET}` },
    });
    const address = `127.0.0.1:${closed.service.grpcPort}`;
    for (const [key, answer] of [
      [SECRET, { data: { findKeyed: '{"q":[]}' } }],
      ['wrong', { errors: [{ message: /connection "keyed": .*API key/ }] }],
    ] as const) {
      writeEnvironment({ APP_KEYED_GRAPH_ENDPOINT: address, APP_KEYED_KEY: key });
      await expect.poll(async () => (await s.graphql('{ findKeyed }')).body).toMatchObject(answer);
    }
    await closed.close();
  });
});

describe('a connection that fails', () => {
  const failure = async (query: string) => {
    const { body } = await s.graphql(query);
    expect(body.errors).toHaveLength(1);
    expect(JSON.stringify(body)).not.toMatch(/pa55word|pl4nted/);
    return body.errors[0];
  };

  it('http: one that hangs ends within its timeoutMs, by its name, and answers again', async () => {
    remote.on('/slow/x', () => new Promise(() => undefined));
    const { message, extensions } = await failure('{ getSlow }');
    expect(extensions.code).toBe('CONNECTION_FAILED');
    expect(message).toMatch(/"slow".*2000 ms/);
    remote.on('/slow/x', () => ({ body: '"awake"' }));
    expect((await s.graphql('{ getSlow }')).body).toMatchObject({ data: { getSlow: '"awake"' } });
  });

  it('relational: a database that goes away and comes back', async () => {
    const { body: before } = await s.graphql('{ countRows }');
    await database.halt();
    const { message, extensions } = await failure('{ countRows }');
    expect(extensions.code).toBe('CONNECTION_FAILED');
    expect(message).toContain('"db"');
    await database.start();
    expect((await s.graphql('{ countRows }')).body).toEqual(before);
  });

  it('graph: a peer that goes away and comes back', async () => {
    const { grpcPort } = peer.service;
    await peer.close();
    const { message, extensions } = await failure('{ findPeople(name: "Ann") }');
    expect(extensions.code).toBe('CONNECTION_FAILED');
    expect(message).toContain('"peer"');
    peer = await startService({ grpcPort });
    await peer.alter('name: string @index(exact) .\nage: int .');
    // each process of the app has a channel of its own, which waits a moment between two tries to connect
    const found = () => Promise.all([1, 2, 3, 4].map(() => s.graphql('{ findPeople(name: "Ann") }')));
    let answers = await found();
    while (answers.some(({ body }) => body.errors !== undefined)) answers = await found();
    for (const { body } of answers) expect(JSON.parse(body.data.findPeople)).toEqual({ p: [] });
  });
});

describe('models', () => {
  it('models.<name>: sourceModel, connection and path; the reply is the first choice', async () => {
    remote.on('/v1/chat/completions', (call) => ({
      body: {
        choices: [
          { message: { role: 'assistant', content: `model ${call.json().model}, ${call.json().messages[1].content}` } },
        ],
      },
    }));
    remote.calls.length = 0;
    const { body } = await s.graphql('{ ask(question: "why") }');
    expect(body).toMatchObject({ data: { ask: 'model tiny-1, why' } });
    expect(remote.calls[0].headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(remote.calls[0].json().messages.map((message: { role: string }) => message.role)).toEqual([
      'system',
      'user',
    ]);
  });

  it('invalid JSON from a model is a clear error, and the next call works', async () => {
    remote.on('/v1/chat/completions', () => ({ body: '<html>' }));
    const { body } = await s.graphql('{ ask(question: "why") }');
    expect(body.data ?? null).toBeNull();
    expect(body.errors[0].message).toMatch(/"writer".*not JSON/);
    expect((await s.graphql('{ countRows }')).body.errors).toBeUndefined();
  });
});

describe('placeholders', () => {
  it('a missing variable stops the start, naming the exact variable to set', async () => {
    const app = join(dir, 'missing');
    mkdirSync(app);
    writeFileSync(
      join(app, 'app.json'),
      JSON.stringify({ connections: { 'my-api': { type: 'http', baseUrl: 'https://x/', headers: { k: '{{KEY}}' } } } }),
    );
    await expect(startService({ appDir: app })).rejects.toThrow(/APP_MY_API_KEY/);
  });

  it('mistakes in app.json stop the start with file, line, column and fix', async () => {
    const app = join(dir, 'wrong');
    mkdirSync(app);
    writeFileSync(join(app, 'app.json'), '{\n  "connections": { "a": { "type": "http", "baseUrl": 5 } }\n}');
    const error = await startService({ appDir: app }).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/app\.json:2:\d+/);
  });
});

describe('Authentication', () => {
  it('a deployed app accepts Authorization: Bearer <API_KEY>; without a key it answers 401', async () => {
    const deployed = await startService({ host: '0.0.0.0', environment: { GRAPHSTEAD_API_KEYS: 'k1,k2' } });
    const url = deployed.url.replace('0.0.0.0', '127.0.0.1');
    const ask = (headers: Record<string, string>, path = '/query') =>
      fetch(url + path, {
        method: path === '/query' ? 'POST' : 'GET',
        headers: { 'content-type': 'application/dql', ...headers },
        ...(path === '/query' ? { body: '{ q(func: has(name)) { uid } }' } : {}),
      });
    const refused = await ask({});
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    // a page of another origin can read why
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    const why = async (headers: Record<string, string>) =>
      ((await (await ask(headers)).json()) as { errors: unknown[] }).errors[0];
    expect(await why({})).toMatchObject({ message: 'this address needs an API key' });
    expect(await why({ authorization: 'Bearer wrong' })).toMatchObject({
      message: 'what was sent as an API key is none of GRAPHSTEAD_API_KEYS',
      extensions: { code: 'UNAUTHENTICATED', fix: expect.stringContaining('X-API-Key') },
    });
    expect((await ask({ authorization: 'Bearer k1' })).status).toBe(200);
    expect((await ask({ 'x-api-key': 'k2' })).status).toBe(200);
    expect((await ask({}, '/health')).status).toBe(200);
    await deployed.close();
  });

  it.each(['Authorization', 'X-Auth-Token'])(
    'a key is no token of a user, though both come in headers: %s',
    async (header) => {
      const deployed = await startService({ host: '0.0.0.0', environment: { GRAPHSTEAD_API_KEYS: 'k1' } });
      const url = deployed.url.replace('0.0.0.0', '127.0.0.1');
      const secret = 'a key of at least thirty-two bytes, for HS256';
      const types = `# Service.Authorization {"Header": "${header}", "Namespace": "app", "Algo": "HS256", "VerificationKey": "${secret}"}
      type Note @auth(query: { rule: "{$ROLE: { eq: \\"ADMIN\\" } }" }) { id: ID! text: String }`;
      const key = { 'x-api-key': 'k1' };
      expect((await fetch(`${url}/admin/schema`, { method: 'POST', headers: key, body: types })).status).toBe(200);
      const ask = async (headers: Record<string, string>, query = '{ queryNote { text } }') => {
        const answer = await fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query }),
        });
        return answer.json();
      };
      await ask(key, 'mutation { addNote(input: [{ text: "seen by one" }]) { numUids } }');
      const claims = new SignJWT({ app: { ROLE: 'ADMIN' } }).setProtectedHeader({ alg: 'HS256' });
      const token = await claims.sign(new TextEncoder().encode(secret));
      const carried = header === 'Authorization' ? `Bearer ${token}` : token;
      const other = header === 'Authorization' ? key : { authorization: 'Bearer k1' };
      for (const [name, value] of [
        ['authorization', 'Bearer k1'],
        ['x-auth-token', 'k1'],
        ['x-api-key', 'k1'],
      ]) {
        expect(await ask({ [name]: value })).toMatchObject({ data: { queryNote: [] } });
      }
      expect(await ask({ ...other, [header]: carried })).toMatchObject({
        data: { queryNote: [{ text: 'seen by one' }] },
      });
      expect(await ask({ ...other, [header]: 'Bearer a.b.c' })).toMatchObject({
        errors: [{ extensions: { code: 'UNAUTHENTICATED' }, message: /token/ }],
      });
      await deployed.close();
    },
  );

  it('an address that others reach is refused without keys, before anything is written', async () => {
    const data = join(dir, 'never-made');
    await expect(startService({ host: '0.0.0.0', data })).rejects.toThrow(/API key/);
    expect(existsSync(data)).toBe(false);
  });
});
