import { mkdirSync, writeFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GraphsteadErrors } from '../../src/base/index.js';
import {
  type GraphReply,
  type HttpCall,
  type SqlCall,
  type SqlReply,
  startApp,
  type TestApp,
} from '../../src/testing.js';
import { scratch } from './command.js';

let folder: ReturnType<typeof scratch>;
let app: TestApp | undefined;
beforeEach(() => {
  folder = scratch();
  mkdirSync(folder.path('functions'));
  const connection = { type: 'http', baseUrl: '{{URL}}', headers: { authorization: '{{KEY}}' } };
  const models = { oracle: { sourceModel: 'm', connection: 'ai' } };
  writeFileSync(folder.path('app.json'), JSON.stringify({ connections: { ai: connection }, models }));
  writeFileSync(
    folder.path('functions', 'index.ts'),
    `import { caller, models } from 'graphstead/app';
     export async function askOracle(question: string): Promise<string> {
       const reply = await models.get('oracle').ask('be brief', question);
       return reply.choices[0].message.content ?? '';
     }
     /** @query */
     export async function streamOracle(): Promise<string[]> {
       const pieces: string[] = [];
       for await (const piece of models.get('oracle').stream([{ role: 'user', content: 'x' }])) pieces.push(piece);
       return pieces;
     }
     export function getTime(): string { return new Date().toISOString() + ' ' + Date.now() + ' ' + new Date(0).getTime(); }
     export function getUser(): string { return String(caller.claims?.['USER']); }
     export function getVariable(): string { return process.env.GREETING ?? ''; }`,
  );
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  folder.remove();
});

describe('graphstead/testing', () => {
  it('scripts models, stops time, and passes variables', async () => {
    const script = ['forty-two', new Error('overworked'), 'one two'];
    app = await startApp({ appDir: folder.dir, models: { oracle: script }, environment: { GREETING: 'hello' } });
    const ask = 'mutation ($q: String!) { askOracle(question: $q) }';
    expect(await app.graphql(ask, { q: 'why?' })).toEqual({ askOracle: 'forty-two' });
    expect(app.modelCalls[0]).toMatchObject({ model: 'oracle', messages: [{ role: 'system' }, { content: 'why?' }] });
    await expect(app.graphql(ask, { q: 'again?' })).rejects.toThrow('overworked');
    expect(await app.graphql('{ streamOracle }')).toEqual({ streamOracle: ['one', ' two'] });
    await expect(app.graphql(ask, { q: 'more?' })).rejects.toThrow('has 3 replies, no more');

    const start = Date.UTC(2030, 0, 1);
    const shown = (at: number) => ({ getTime: `${new Date(at).toISOString()} ${at} 0` });
    expect(await app.graphql('{ getTime }')).toEqual(shown(start));
    await app.advance(86_400_000);
    expect(app.now().toISOString()).toBe('2030-01-02T00:00:00.000Z');
    expect(await app.graphql('{ getTime }')).toEqual(shown(start + 86_400_000));
    for (const ms of [-1, Number.POSITIVE_INFINITY, 1e16]) await expect(app.advance(ms)).rejects.toThrow('forward');
    expect(await app.graphql('{ getVariable }')).toEqual({ getVariable: 'hello' });
  });

  it('what app code throws has its lines, and details, before those of the test', async () => {
    mkdirSync(folder.path('agents'));
    writeFileSync(
      folder.path('agents', 'strict.ts'),
      `import { Agent, agents } from 'graphstead/app';
       export class Strict extends Agent {
         static readonly handlers = ['check'] as const;
         check(): void { throw Object.assign(new Error('too heavy'), { extensions: { most: 7 } }); }
       }
       agents.register(Strict);`,
    );
    writeFileSync(
      folder.path('functions', 'index.ts'),
      `import { agents } from 'graphstead/app';
       import { Strict } from '../agents/strict.js';
       export async function checkWeight(): Promise<void> {
         const { id } = await agents.start(Strict, { key: 'one' });
         await agents.ref(Strict, id).check();
       }
       export async function* weigh(): AsyncIterable<string> { throw new Error('no scale'); }`,
    );
    app = await startApp({ appDir: folder.dir, models: { oracle: [] } });
    const failed = await app.graphql('{ checkWeight }').catch((error: unknown) => error as GraphsteadErrors);
    expect(failed).toMatchObject({ message: 'too heavy', errors: [{ details: { most: 7 } }] });
    const frames = /^GraphsteadErrors: too heavy\n +at .*agents\/strict\.ts:4:\d+.*\n +at .*functions\/index\.ts:5:\d+/;
    expect(String((failed as Error).stack)).toMatch(frames);
    expect(String((failed as Error).stack)).toContain('testing.test.ts');
    const streamed = await app
      .subscribe('subscription { weigh }')
      .next()
      .catch((error: unknown) => error as Error);
    expect(String((streamed as Error).stack)).toMatch(/no scale\n +at weigh .*functions\/index\.ts:7:/);
    await app.close();
    await expect(app.graphql('{ __typename }')).rejects.toThrow('this app was closed');
    await expect(app.subscribe('{ __typename }').next()).rejects.toThrow('this app was closed');
  });

  it('a scripted model streams what it says and the tools it wants; a turn whose process dies is told its reply again, unasked', async () => {
    mkdirSync(folder.path('agents'));
    const died = JSON.stringify(folder.path('died'));
    writeFileSync(
      folder.path('agents', 'talker.ts'),
      `import { existsSync, writeFileSync } from 'node:fs';
       import { Agent, agents, models } from 'graphstead/app';
       class Talker extends Agent {
         static readonly handlers = ['talk'] as const;
         async talk(): Promise<string> {
           const heard: string[] = [];
           const onText = (piece: string) => void heard.push(piece);
           const { choices } = await models.get('oracle').chat([{ role: 'user', content: 'x' }], { onText });
           if (!existsSync(${died})) {
             writeFileSync(${died}, '');
             process.exit(1);
           }
           return JSON.stringify({ heard, tools: choices[0].message.tool_calls });
         }
       }
       agents.register(Talker);`,
    );
    writeFileSync(
      folder.path('functions', 'index.ts'),
      `import { agents } from 'graphstead/app';
       export async function talk(): Promise<string | null> {
         return agents.sendMessage((await agents.start('Talker')).id, 'talk');
       }`,
    );
    const tool = { id: 'a', type: 'function', function: { name: 'sum', arguments: '{"x":1,"y":2}' } } as const;
    const reply = { role: 'assistant', content: 'Let me see.', tool_calls: [tool] } as const;
    app = await startApp({ appDir: folder.dir, models: { oracle: [reply, reply] } });
    const talked = async () => {
      const { talk = '' } = (await app?.graphql<{ talk: string }>('mutation { talk }')) ?? {};
      return JSON.parse(talk) as unknown;
    };
    expect(await talked()).toEqual({ heard: ['Let me see.'], tools: [tool] });
    expect(app.modelCalls).toHaveLength(1);
    expect(await talked()).toEqual({ heard: ['Let', ' me', ' see.'], tools: [tool] });
  });

  it('sends headers, such as that of a token', async () => {
    const authorization = { Header: 'X-Auth', Namespace: 'own', Algo: 'HS256', VerificationKey: 'k'.repeat(32) };
    const sdl = `# Service.Authorization ${JSON.stringify(authorization)}\ntype Page { name: String! @id }`;
    writeFileSync(folder.path('schema.graphql'), sdl);
    app = await startApp({ appDir: folder.dir, models: { oracle: [] } });
    const token = await new SignJWT({ own: { USER: 'ann' } })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(authorization.VerificationKey));
    expect(await app.graphql('{ getUser }', {}, { 'x-auth': token })).toEqual({ getUser: 'ann' });
    expect(await app.graphql('{ getUser }')).toEqual({ getUser: 'undefined' });
    await expect(app.graphql('{ getUser }', {}, { 'x-auth': 'none' })).rejects.toThrow('token');
  });

  it('refuses what the app does not have, and leaves nothing open', async () => {
    await expect(startApp({ appDir: folder.dir, models: { nobody: [] } })).rejects.toThrow('no model "nobody"');
    await expect(startApp({ appDir: folder.dir, http: { web: [] } })).rejects.toThrow('"web" of type http');
    await expect(startApp({ appDir: folder.dir, relational: { ai: [] } })).rejects.toThrow('"ai" of type relational');
    await expect(startApp({ appDir: folder.dir })).rejects.toThrow(/APP_AI_URL: script the connection in startApp/);
  });

  it('advises to script no secret of the types, which cannot be', async () => {
    writeFileSync(
      folder.path('schema.graphql'),
      `type Fact @remote { text: String }
       type Query { facts: [Fact] @custom(http: { url: "http://x.example", method: GET, secretHeaders: ["K:key"] }) }
       # Service.Secret key "{{FACTS_KEY}}"`,
    );
    writeFileSync(folder.path('app.json'), '{}');
    await expect(startApp({ appDir: folder.dir })).rejects.toThrow(/FACTS_KEY.*: give the variable in environment/);
  });
});

describe('scripted graphs', () => {
  beforeEach(() => {
    const staff = { type: 'graph', grpcTarget: '{{GRAPH_ENDPOINT}}', key: '{{KEY}}' };
    const old = { type: 'dgraph', connStr: '{{ADDRESS}}' };
    writeFileSync(folder.path('app.json'), JSON.stringify({ connections: { staff, old } }));
    writeFileSync(
      folder.path('functions', 'index.ts'),
      `import { connections } from 'graphstead/app';
       const shown = (value: unknown) => JSON.stringify(value);
       export async function getStaff(town: string): Promise<string> {
         return shown(await connections.graph('staff').query('query q($t: string) { q(func: eq(town, $t)) { name } }', { $t: town }));
       }
       export async function getOld(): Promise<string> { return shown(await connections.graph('old').query('{ q(func: has(name)) { uid } }')); }
       export async function hire(name: string): Promise<string> {
         return shown(await connections.graph('staff').mutate({ set: '_:new <name> "' + name + '" .' }));
       }
       export async function dismiss(name: string): Promise<string> {
         const query = '{ v as var(func: eq(name, "' + name + '")) }';
         return shown(await connections.graph('staff').upsert(query, [{ delete: 'uid(v) * * .', condition: '@if(gt(len(v), 0))' }]));
       }`,
    );
  });

  it('answer queries and changes one after the other, and tell what was asked', async () => {
    const staff = [{ q: [{ name: 'Ann' }] }, { uids: { new: '0x1' } }, { data: { q: [] } }];
    app = await startApp({ appDir: folder.dir, graph: { staff, old: [{ q: [] }] } });
    expect(await app.graphql('{ getStaff(town: "Bern") }')).toEqual({ getStaff: '{"q":[{"name":"Ann"}]}' });
    expect(await app.graphql('{ getOld }')).toEqual({ getOld: '{"q":[]}' });
    expect(JSON.parse((await app.graphql<{ hire: string }>('mutation { hire(name: "Zoë") }')).hire)).toEqual({
      uids: { new: '0x1' },
    });
    const { dismiss } = await app.graphql<{ dismiss: string }>('mutation { dismiss(name: "Ann") }');
    expect(JSON.parse(dismiss)).toEqual({ uids: {}, data: { q: [] } });
    expect(app.graphCalls).toEqual([
      {
        connection: 'staff',
        query: 'query q($t: string) { q(func: eq(town, $t)) { name } }',
        variables: { $t: 'Bern' },
        changes: [],
      },
      { connection: 'old', query: '{ q(func: has(name)) { uid } }', variables: {}, changes: [] },
      { connection: 'staff', query: '', variables: {}, changes: [{ set: '_:new <name> "Zoë" .' }] },
      {
        connection: 'staff',
        query: '{ v as var(func: eq(name, "Ann")) }',
        variables: {},
        changes: [{ delete: 'uid(v) * * .', condition: '@if(gt(len(v), 0))' }],
      },
    ]);
    await expect(app.graphql('{ getStaff(town: "Bern") }')).rejects.toThrow('has 3 replies, no more');
  });

  it('fail as the script says', async () => {
    const busy = Object.assign(new Error('Transaction has been aborted. Please retry'), { code: 10 });
    const script: (GraphReply | string)[] = [busy, 'text'];
    app = await startApp({ appDir: folder.dir, graph: { staff: script as GraphReply[], old: () => ({ q: [1] }) } });
    await expect(app.graphql('mutation { hire(name: "Ann") }')).rejects.toThrow(/"staff": .*aborted/);
    await expect(app.graphql('mutation { hire(name: "Ann") }')).rejects.toThrow('"staff" gave text: give an object');
    expect(await app.graphql('{ getOld }')).toEqual({ getOld: '{"q":[1]}' });
  });

  it('are told to be scripted where their address is missing, and are graphs', async () => {
    await expect(startApp({ appDir: folder.dir })).rejects.toThrow(/APP_STAFF_GRAPH_ENDPOINT: script the connection/);
    await expect(startApp({ appDir: folder.dir, http: { staff: [] } })).rejects.toThrow('"staff" of type http');
    await expect(startApp({ appDir: folder.dir, graph: { other: [] } })).rejects.toThrow('"other" of type graph');
  });
});

describe('scripted connections', () => {
  beforeEach(() => {
    const weather = { type: 'http', baseUrl: 'https://ann:pw@api.example/v1', headers: { 'x-key': '{{KEY}}' } };
    const shop = { type: 'relational', connStr: '{{DATABASE_URL}}' };
    writeFileSync(folder.path('app.json'), JSON.stringify({ connections: { weather, shop } }));
    writeFileSync(
      folder.path('functions', 'index.ts'),
      `import { connections } from 'graphstead/app';
       const shop = () => connections.relational('shop');
       const shown = (value: unknown) => JSON.stringify(value);
       export async function getWeather(city: string): Promise<string> {
         const init = { method: 'POST', body: shown({ city }) };
         return shown(await connections.http('weather').json('/now?city=' + city, init));
       }
       export async function getStatus(): Promise<number> { return (await connections.http('weather').fetch('x')).status; }
       export async function getRows(name: string): Promise<string> {
         return shown(await shop().query('SELECT * FROM orders WHERE name = $1 AND pieces > $2', [name, 3]));
       }
       export async function buy(name: string): Promise<string> {
         return shown(await shop().transaction(async (own) => [
           await own.query('INSERT INTO orders VALUES ($1) RETURNING id', [name]),
           await own.execute('UPDATE stock SET pieces = pieces - 1'),
         ]));
       }
       export async function addOrder(): Promise<number> {
         return shop().execute('INSERT 3');
       }
       export async function buyAnyway(): Promise<number> {
         return shop().transaction(async (own) => {
           await own.execute('INSERT 1').catch(() => 0);
           return own.execute('INSERT 2').catch(() => 0);
         });
       }`,
    );
  });

  it('answer by http, and tell what they were asked', async () => {
    const weather = [{ degrees: 3 }, new Response('gone', { status: 410 }), new Error('broken')];
    app = await startApp({ appDir: folder.dir, http: { weather }, relational: { shop: [] } });
    expect(await app.graphql('{ getWeather(city: "Bern") }')).toEqual({ getWeather: '{"degrees":3}' });
    expect(app.httpCalls).toMatchObject([
      { connection: 'weather', method: 'POST', path: '/now?city=Bern', body: '{"city":"Bern"}' },
    ]);
    expect(app.httpCalls[0].headers).toMatchObject({ 'x-key': 'scripted', authorization: 'Basic YW5uOnB3' });
    expect(await app.graphql('{ getStatus }')).toEqual({ getStatus: 410 });
    await expect(app.graphql('{ getStatus }')).rejects.toThrow('connection "weather"');
    await expect(app.graphql('{ getWeather(city: "x") }')).rejects.toThrow('has 3 replies, no more');
  });

  it('answer by a function of the call', async () => {
    const weather = ({ path }: HttpCall) =>
      Response.json({ asked: path }, { status: path.includes('Bern') ? 200 : 404 });
    app = await startApp({ appDir: folder.dir, http: { weather }, relational: { shop: [] } });
    expect(await app.graphql('{ getWeather(city: "Bern") }')).toEqual({ getWeather: '{"asked":"/now?city=Bern"}' });
    await expect(app.graphql('{ getWeather(city: "Ulm") }')).rejects.toThrow('status 404');
  });

  it('answer as a database: rows of every type, changes, transactions', async () => {
    const row = { id: 7, price: 2.5, paid: true, note: null, tags: ['a'], at: new Date(0), name: "it's" };
    const shop: SqlReply[] = [[row, { id: 8 }], [{ id: 9 }], 1];
    app = await startApp({ appDir: folder.dir, http: { weather: [] }, relational: { shop } });
    const { getRows } = await app.graphql<{ getRows: string }>('{ getRows(name: "ann") }');
    const empty = { price: null, paid: null, note: null, tags: null, at: null, name: null };
    expect(JSON.parse(getRows)).toEqual([
      { ...row, at: '1970-01-01T00:00:00.000Z' },
      { id: 8, ...empty },
    ]);
    expect(await app.graphql('mutation { buy(name: "ann") }')).toEqual({ buy: '[[{"id":9}],1]' });
    expect(app.sqlCalls).toEqual([
      { connection: 'shop', text: 'SELECT * FROM orders WHERE name = $1 AND pieces > $2', parameters: ['ann', '3'] },
      { connection: 'shop', text: 'INSERT INTO orders VALUES ($1) RETURNING id', parameters: ['ann'] },
      { connection: 'shop', text: 'UPDATE stock SET pieces = pieces - 1', parameters: [] },
    ]);
    await expect(app.graphql('{ getRows(name: "x") }')).rejects.toThrow('has 3 replies, no more');
  });

  it('fail as a database does, and go on', async () => {
    const taken = Object.assign(new Error('that name is taken'), { code: '23505' });
    const shop = ({ text }: SqlCall): SqlReply => (text.startsWith('INSERT') ? taken : []);
    app = await startApp({ appDir: folder.dir, http: { weather: [] }, relational: { shop } });
    await expect(app.graphql('mutation { buy(name: "ann") }')).rejects.toThrow('that name is taken');
    await expect(app.graphql('mutation { buyAnyway }')).rejects.toThrow('rolled back');
    // what is returned without await has no line of its function in the stack of what failed
    const failed = await app.graphql('mutation { addOrder }').catch((error: unknown) => error as Error);
    expect((failed as Error).stack).toMatch(/name is taken\n +at addOrder .*functions\/index\.ts:19:\d+/);
    expect(await app.graphql('{ getRows(name: "ann") }')).toEqual({ getRows: '[]' });
    expect(app.sqlCalls.map(({ text }) => text.slice(0, 8))).toEqual(['INSERT I', 'INSERT 1', 'INSERT 3', 'SELECT *']);
  });

  it('give each reply to a statement of the app, also behind one that failed', async () => {
    const shop: SqlReply[] = [Object.assign(new Error('that name is taken'), { code: '23505' }), 2];
    app = await startApp({ appDir: folder.dir, http: { weather: [] }, relational: { shop } });
    await expect(app.graphql('mutation { addOrder }')).rejects.toThrow('that name is taken');
    expect(await app.graphql('mutation { addOrder }')).toEqual({ addOrder: 2 });
  });

  it('tell of a reply that no database gives', async () => {
    const shop = ['text' as never];
    app = await startApp({ appDir: folder.dir, http: { weather: [] }, relational: { shop } });
    await expect(app.graphql('{ getRows(name: "ann") }')).rejects.toThrow('"shop" gave string: give rows');
  });
});

describe('subscriptions', () => {
  const CODE = `
    import { caller, graph } from 'graphstead/app';
    export async function* countTo(to: number): AsyncIterable<number> { for (let i = 1; i <= to; i++) yield i; }
    export async function* listBroken(): AsyncIterable<string | null> { yield 'one'; throw new Error('no more'); }
    export async function addPageNamed(name: string): Promise<void> {
      await graph.mutate({ set: { 'service.type': 'Page', 'Page.name': name } });
    }`;

  it('are read answer by answer, of functions and of live queries', async () => {
    writeFileSync(folder.path('app.json'), '{}');
    writeFileSync(folder.path('schema.graphql'), 'type Page @withSubscription { name: String! @id }');
    writeFileSync(folder.path('functions', 'index.ts'), CODE);
    app = await startApp({ appDir: folder.dir });
    const seen: number[] = [];
    const counts = app.subscribe<{ countTo: number }>('subscription ($to: Float!) { countTo(to: $to) }', { to: 3 });
    for await (const { countTo } of counts) seen.push(countTo);
    expect(seen).toEqual([1, 2, 3]);

    const pages = app.subscribe<{ queryPage: { name: string }[] }>('subscription { queryPage { name } }');
    expect(await pages.next()).toEqual({ done: false, value: { queryPage: [] } });
    await app.graphql('mutation { addPageNamed(name: "home") }');
    expect(await pages.next()).toEqual({ done: false, value: { queryPage: [{ name: 'home' }] } });
    expect(await pages.return?.()).toMatchObject({ done: true });
    expect(await pages.next()).toMatchObject({ done: true });
  });

  it('throw what they tell, at the beginning or later', async () => {
    writeFileSync(folder.path('app.json'), '{}');
    writeFileSync(folder.path('functions', 'index.ts'), CODE);
    app = await startApp({ appDir: folder.dir });
    const broken = app.subscribe('subscription { listBroken }');
    expect(await broken.next()).toEqual({ done: false, value: { listBroken: 'one' } });
    await expect(broken.next()).rejects.toThrow('no more');
    await expect(app.subscribe('subscription { listBrokn }').next()).rejects.toMatchObject({
      errors: [{ code: 'INVALID_GRAPHQL' }],
    });
  });
});

describe('time', () => {
  it('that passes brings each further try of a message and of an alarm at its time, until there is none left', async () => {
    writeFileSync(folder.path('app.json'), '{}');
    writeFileSync(
      folder.path('functions', 'index.ts'),
      `import { Agent, agents, type Json } from 'graphstead/app';
       class Caller extends Agent {
         static readonly attempts = 4;
         override async onReceiveMessage(name: string, data?: string): Promise<void> {
           if (this.attempt < Number(data)) throw new Error('engaged');
           this.publishEvent(name, { at: Date.now() });
         }
         override onInitialize(): void { this.setAlarm(Date.now() + 3_600_000, { name: 'rung', data: '3' }); }
       }
       agents.register(Caller);
       export async function startCaller(): Promise<string> { return (await agents.start('Caller')).id; }
       export async function call(id: string, name: string, tries: string): Promise<void> {
         await agents.sendMessageAsync(id, name, tries);
       }
       export async function countDead(id: string): Promise<number> { return (await agents.deadLetters(id)).length; }`,
    );
    const running = await startApp({ appDir: folder.dir });
    app = running;
    const { startCaller: id } = await running.graphql<{ startCaller: string }>('mutation { startCaller }');
    const call = (name: string, tries: number) =>
      running.graphql(`mutation { call(id: "${id}", name: "${name}", tries: "${tries}") }`);
    const start = running.now().getTime();
    const done = async () =>
      (await running.events(id)).map(({ name, data }) => [name, Number(data['at']) - start] as const);

    await call('heard', 3);
    await running.advance(10_000);
    expect(await done()).toEqual([['heard', 600]]);
    await call('lost', 9);
    await running.advance(10_000);
    expect(await running.graphql(`{ countDead(id: "${id}") }`)).toEqual({ countDead: 1 });
    await running.advance(2 * 3_600_000);
    expect(await done()).toEqual([
      ['heard', 600],
      ['rung', 3_600_600],
    ]);
  });

  it('alarms ring by the calendar of the test, at each of their times', async () => {
    writeFileSync(folder.path('app.json'), '{}');
    writeFileSync(
      folder.path('functions', 'index.ts'),
      `import { Agent, agents } from 'graphstead/app';
       class Report extends Agent {
         override onInitialize(): void { this.setAlarm('0 9 * * MON-FRI', { zone: 'America/New_York' }); }
         override onAlarm(): void { this.publishEvent('written', { at: new Date().toISOString() }); }
       }
       agents.register(Report);
       export async function startReport(): Promise<string> { return (await agents.start('Report')).id; }`,
    );
    // a Tuesday
    app = await startApp({ appDir: folder.dir });
    const { startReport: id } = await app.graphql<{ startReport: string }>('mutation { startReport }');
    await app.advance(7 * 86_400_000);
    const days = ['01', '02', '03', '04', '07'].map((day) => `2030-01-${day}T14:00:00.000Z`);
    expect((await app.events(id)).map(({ data }) => data['at'])).toEqual(days);
  });
});

describe('events', () => {
  const AGENT = `
    import { Agent, agents } from 'graphstead/app';
    class Counter extends Agent<{ n: number }> {
      override state = { n: 0 };
      override async onReceiveMessage(name: string): Promise<string> {
        this.publishEvent('counted', { n: ++this.state.n });
        if (this.state.n === 2) this.publishEvent('full', {});
        return name;
      }
    }
    agents.register(Counter);
    export async function makeCounter(): Promise<string> { return (await agents.start('Counter')).id; }
    export async function tellCounter(id: string): Promise<void> { await agents.sendMessageAsync(id, 'count'); }
    export async function endCounter(id: string): Promise<void> { await agents.stop(id); }`;

  it('are listed and waited for', async () => {
    writeFileSync(folder.path('app.json'), '{}');
    writeFileSync(folder.path('functions', 'index.ts'), AGENT);
    const running = await startApp({ appDir: folder.dir });
    app = running;
    const { makeCounter: id } = await running.graphql<{ makeCounter: string }>('mutation { makeCounter }');
    const tell = (name: string) => running.graphql(`mutation { ${name}(id: "${id}") }`);
    expect(await running.events(id)).toEqual([]);

    const waited = [running.nextEvent(id, 'counted'), running.nextEvent(id, 'counted'), running.nextEvent(id, 'full')];
    await tell('tellCounter');
    await tell('tellCounter');
    const told = await Promise.all(waited);
    expect(told.map(({ name, data }) => [name, data])).toEqual([
      ['counted', { n: 1 }],
      ['counted', { n: 2 }],
      ['full', {}],
    ]);
    expect(told[0].timestamp).toBe('2030-01-01T00:00:00.000Z');

    await tell('tellCounter');
    await running.settled();
    expect((await running.events(id)).map(({ name }) => name)).toEqual(['counted', 'counted', 'full', 'counted']);
    expect(await running.nextEvent<{ n: number }>(id, 'counted')).toMatchObject({ data: { n: 3 } });

    await expect(running.nextEvent(id, 'counted', 1)).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: `agent "${id}" published no "counted" within 1 ms`,
      fix: 'so far it has published counted, full',
    });
    const late = running.nextEvent(id, 'counted');
    await tell('tellCounter');
    expect(await late).toMatchObject({ data: { n: 4 } });
    await tell('endCounter');
    await expect(running.nextEvent(id, 'full')).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
    await expect(running.events('agent_none')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });
});

describe('custom logic', () => {
  it('is scripted by the addresses of schema.graphql', async () => {
    writeFileSync(folder.path('app.json'), '{}');
    writeFileSync(folder.path('functions', 'index.ts'), '');
    writeFileSync(
      folder.path('schema.graphql'),
      `type City { name: String! @id
         temperature: Float @custom(http: { url: "https://weather.example/v1/now?city=$name", method: GET, mode: SINGLE }) }
       type Rate @remote { euro: Float }
       type Query { rate(of: String!): Rate @custom(http: { url: "https://bank.example/graphql", method: POST,
         graphql: "query($of: String!) { rate(of: $of) }", skipIntrospection: true, secretHeaders: ["x-key:bank"] }) }
       # Service.Secret bank "the key"`,
    );
    app = await startApp({
      appDir: folder.dir,
      custom: {
        'https://weather.example': [Response.json('cold', { status: 404 })],
        'https://weather.example/v1': ({ path }) =>
          path === '/now?city=Bern' ? 7.5 : new Response('', { status: 404 }),
        'https://bank.example/graphql': [{ data: { rate: { euro: 1.5 } } }, new Error('away')],
      },
    });
    await app.graphql('mutation { addCity(input: [{ name: "Bern" }]) { numUids } }');
    expect(await app.graphql('{ queryCity { temperature } }')).toEqual({ queryCity: [{ temperature: 7.5 }] });
    const ask = '{ rate(of: "franc") { euro } }';
    expect(await app.graphql(ask)).toEqual({ rate: { euro: 1.5 } });
    await expect(app.graphql(ask)).rejects.toMatchObject({ errors: [{ code: 'REMOTE_FAILED' }] });
    expect(app.customCalls).toMatchObject([
      { address: 'https://weather.example/v1', method: 'GET', path: '/now?city=Bern', body: '' },
      {
        address: 'https://bank.example/graphql',
        path: '',
        headers: { 'x-key': 'the key' },
        body: expect.stringContaining('franc'),
      },
      { method: 'POST' },
    ]);
    const unknown = startApp({ appDir: folder.dir, custom: { 'https://other.example': [] } });
    await expect(unknown).rejects.toThrow('schema.graphql names no address that begins with "https://other.example"');
  });
});
