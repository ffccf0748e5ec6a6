import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DEFAULT_LIMITS, defaultNames } from '../base/index.js';
import { LargeAnswers } from './answers.js';
import { LargeBodies } from './bodies.js';
import { createHttp, requestIds } from './http.js';
import { Turns } from './in-turn.js';

const LARGE = 900_000;

type Http = Awaited<ReturnType<typeof createHttp>>;
let app: Http;
let socket: Socket;
let host: string;
/** paths as their requests began, and ended */
let seen: string[];
/** those who wait for `/slow` to go on */
let goOn: (() => void)[];

beforeEach(async () => {
  [seen, goOn] = [[], []];
  app = await createHttp({
    limits: DEFAULT_LIMITS,
    names: defaultNames,
    log: pino({ level: 'silent' }),
    answers: new LargeAnswers(DEFAULT_LIMITS),
    bodies: new LargeBodies(DEFAULT_LIMITS.largeBodiesBytes),
    turns: new Turns(),
    nextId: requestIds(),
  });
  app.get('/slow', async () => {
    seen.push('slow');
    await new Promise<void>((done) => goOn.push(done));
    seen.push('slow ended');
    return 'slow';
  });
  app.get('/quick', async () => {
    seen.push('quick');
    return 'quick';
  });
  app.get('/last', async (_, reply) => {
    seen.push('last');
    return reply.header('connection', 'close').send('last');
  });
  app.get('/large', async () => {
    seen.push('large');
    return Buffer.alloc(LARGE);
  });
  app.post('/body', async ({ body }) => {
    seen.push(String(body));
    return 'body';
  });
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  host = url.host;
  socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
});
afterEach(async () => {
  socket.destroy();
  for (const go of goOn) go();
  await app.close();
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
const connections = () => new Promise<number>((take) => app.server.getConnections((_, count) => take(count)));
const post = (body: string) =>
  `POST /body HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/rdf\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

it('requests that come at once on one connection are answered one after the other', async () => {
  let answers = '';
  socket.on('data', (part: Buffer) => {
    answers += part.toString('latin1');
  });
  socket.write(get('/slow') + post('one') + get('/quick') + post('two'));
  await expect.poll(() => seen).toEqual(['slow']);
  // whoever comes on another connection waits for nobody
  expect(await (await fetch(`http://${host}/quick`)).text()).toBe('quick');
  expect(seen).toEqual(['slow', 'quick']);
  goOn[0]?.();
  await expect.poll(() => answers.split('HTTP/1.1 200').length).toBe(5);
  expect(seen.slice(2)).toEqual(['slow ended', 'one', 'quick', 'two']);
  expect(answers.match(/\b(slow|body|quick)$|\b(slow|body|quick)(?=HTTP)/g)).toEqual(['slow', 'body', 'quick', 'body']);
});

it('whoever does not read his answers has few of them made', async () => {
  socket.pause();
  socket.write(get('/large').repeat(100));
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  await new Promise((done) => setTimeout(done, 100));
  // what the system holds of them on their way is not ours
  expect(seen.length).toBeLessThan(50);
});

it('nothing is begun for a client that has left, or behind an answer that ends the connection', async () => {
  socket.write(get('/slow') + get('/quick'));
  await expect.poll(() => seen).toEqual(['slow']);
  socket.destroy();
  await expect.poll(connections).toBe(0);
  goOn[0]?.();
  const { hostname, port } = new URL(`http://${host}`);
  const other = connect(Number(port), hostname);
  other.resume().write(get('/last') + get('/quick'));
  await once(other, 'close');
  expect(seen).toEqual(['slow', 'slow ended', 'last']);
});
