import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AppBundle, appBundle } from '../../../test/app-bundle.js';
import { makeLimits } from '../../base/index.js';
import type { HostLog } from '../info.js';
import { createHosts, type HostPool } from './host-pool.js';

const CODE = `
  const api = () => connections.http('api');
  const shop = () => connections.relational('shop');
  const facts = () => connections.graph('facts');
  const HANGING = {
    json: (init) => api().json('hang', init),
    fetch: (init) => api().fetch('hang', init),
    body: async (init) => (await api().fetch('half', init)).text(),
    query: (options) => shop().query('select 1', [], options),
    execute: (options) => shop().execute('select 1', [], options),
    transaction: (options) => shop().transaction(() => 1, options),
    ask: (options) => facts().query('{ q(func: uid(1)) { uid } }', {}, options),
    mutate: (options) => facts().mutate({ set: '_:a <name> "x" .' }, options),
    upsert: (options) => facts().upsert('{ q(func: uid(1)) { uid } }', [], options),
    chat: (options) => models.get('writer').ask('be brief', 'greet', options),
    async stream(options) { for await (const _ of models.get('writer').stream([], options)); },
  };
  const tell = (how, message) => console.log(how + ': ' + message);
  async function hangs(how, own) {
    const options = own ? { signal: new AbortController().signal } : undefined;
    try { return await HANGING[how](options); }
    catch (error) { tell(how, error.message); throw error; }
  }
  async function* watches(how) {
    try {
      yield 'begun';
      await HANGING[how]();
    } catch (error) {
      tell(how, error.message);
      throw error;
    } finally {
      await api().json('left');
      tell('answer', (await models.get('talker').ask('be brief', 'bye')).choices[0].message.content);
      await HANGING.json().catch((error) => tell('late', error.message));
    }
  }
  let behind;
  function leaves() { behind = api().json('slow'); return 'left'; }
  async function isBack() { return behind; }
`;
const HOWS = ['json', 'fetch', 'body', 'query', 'execute', 'transaction', 'ask', 'mutate', 'upsert', 'chat', 'stream'];

let app: AppBundle;
let hosts: HostPool;
let web: Server;
let silent: ReturnType<typeof createServer>;
/** what the functions say */
const lines: string[] = [];
const asked: string[] = [];
const sockets = new Set<Socket>();
let answerSlow: (() => void) | undefined;

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  asked.push(url);
  response.once('close', () => response.writableFinished || asked.push(`${url} aborted`));
  if (url === '/half') response.write('half');
  if (url === '/left') response.end('{}');
  if (url === '/slow') answerSlow = () => response.end('"back"');
  if (url === '/talk') response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'bye' } }] }));
}

const tell = ({ message }: HostLog) => lines.push(message);

beforeEach(async () => {
  asked.length = lines.length = 0;
  web = createHttpServer(answer);
  silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await Promise.all([web, silent].map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
  const port = (server: Server | typeof silent) => (server.address() as AddressInfo).port;
  app = appBundle(CODE, ['hangs', 'watches', 'leaves', 'isBack']);
  const connections = {
    api: { type: 'http', baseUrl: `http://127.0.0.1:${port(web)}` },
    shop: { type: 'relational', connStr: `postgres://u:p@127.0.0.1:${port(silent)}/shop` },
    facts: { type: 'graph', grpcTarget: `127.0.0.1:${port(silent)}` },
  };
  const models = {
    writer: { sourceModel: 'tiny', connection: 'api', path: 'hang' },
    talker: { sourceModel: 'tiny', connection: 'api', path: 'talk' },
  };
  hosts = createHosts({ limits: makeLimits({ streamEndMs: 3_000 }), count: 1, log: tell });
  await hosts.load({ ...app, connections: { connections, missing: {}, models } });
});

afterEach(async () => {
  await hosts.close();
  app.remove();
  web.closeAllConnections();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await Promise.all([web, silent].map((server) => new Promise((done) => server.close(done))));
});

const call = (name: string, ...args: unknown[]) => hosts.call({ name, args, requestId: name });

describe('outgoing calls', () => {
  it.each(HOWS.map((how, i) => ({ how, own: i % 2 === 1 })))(
    'end when the caller of their function leaves: $how, with a signal of their own: $own',
    async ({ how, own }) => {
      const caller = { aborted: false };
      const calling = hosts.call({ name: 'hangs', args: [how, own], requestId: how, signal: caller });
      await expect.poll(() => asked.length + sockets.size).toBe(1);
      caller.aborted = true;
      await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' });
      const told = new RegExp(`^${how}: (connection|model) ".*the call was ended: the caller left$`);
      await expect.poll(() => lines).toEqual([expect.stringMatching(told)]);
      await expect.poll(() => asked.filter((one) => one.endsWith('aborted'))).toHaveLength(sockets.size === 0 ? 1 : 0);
    },
  );

  // two at once, one over HTTP and one that is silent: the time of a cleanup is a real one
  it.each([
    ['json', 'transaction'],
    ['stream', 'upsert'],
  ])('of a stream end when its reader leaves, and those of its cleanup with its time: %s, %s', async (...hows) => {
    const reader = new AbortController();
    const { signal } = reader;
    const streams = hows.map((how) =>
      hosts.stream({ name: 'watches', args: [how], requestId: how, signal })[Symbol.asyncIterator](),
    );
    await Promise.all(streams.map((items) => items.next()));
    const waiting = Promise.allSettled(streams.map((items) => items.next()));
    await expect.poll(() => asked.length > 0 && sockets.size > 0).toBe(true);
    reader.abort();
    await waiting;
    await Promise.all(streams.map((items) => items.return?.()));
    const told = hows.map((how) =>
      expect.stringMatching(new RegExp(`^${how}: .*the call was ended: the subscriber left$`)),
    );
    await expect.poll(() => lines).toEqual(expect.arrayContaining(told));
    const late = () => lines.filter((line) => /^late: .*the call was ended: it took too long$/.test(line));
    await expect.poll(late).toHaveLength(hows.length);
    expect(lines.filter((line) => line === 'answer: bye')).toHaveLength(hows.length);
    expect(asked.filter((url) => url === '/left')).toHaveLength(hows.length);
  });

  it('that nobody awaits go on behind a function that has returned', async () => {
    expect(await call('leaves')).toBe('left');
    await expect.poll(() => answerSlow).toBeDefined();
    const back = call('isBack');
    answerSlow?.();
    expect(await back).toBe('back');
  });
});
