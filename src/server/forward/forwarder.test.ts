import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { makeLimits, noTrace } from '../../base/index.js';
import { createForwarder, type Forwarder, Places, serviceAddress } from './index.js';

let server: Server | undefined;
afterEach(() => {
  vi.useRealTimers();
  server?.closeAllConnections();
  server?.close();
});

const RECEIVED = { id: 'r', method: 'POST', url: '/mutate', headers: {} };

/** Whoever waits for an answer. */
class Client extends EventEmitter {
  destroyed = false;

  leave(): void {
    this.destroyed = true;
    this.emit('close');
  }

  answered(): void {
    this.emit('close');
  }
}

async function before(listener: RequestListener, given = {}): Promise<Forwarder> {
  server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = makeLimits(given);
  return createForwarder(url, { limits, trace: noTrace, places: new Places(limits.forwards) });
}

async function ask(forwarder: Forwarder, client = new Client()): Promise<string> {
  const { body } = await forwarder.ask(RECEIVED, Buffer.from('{}'), client);
  const told = Buffer.isBuffer(body) ? body.toString() : await text(body);
  client.answered();
  return told;
}

it('sends one on when another has been answered, has failed or was given up, and no more at one time than it may', async () => {
  const answers: (() => void)[] = [];
  const asked = new EventEmitter();
  const forwarder = await before(
    (_, response) => {
      answers.push(() => response.end('done'));
      asked.emit('asked');
      response.once('close', () => response.writableFinished || asked.emit('given up'));
    },
    { forwards: 1 },
  );
  const answer = async () => {
    const arrived = once(asked, 'asked');
    const answered = ask(forwarder);
    await arrived;
    await expect(ask(forwarder)).rejects.toMatchObject({ code: 'OVERLOADED' });
    answers.pop()?.();
    return await answered;
  };
  expect(await answer()).toBe('done');
  const client = new Client();
  const [arrived, givenUp] = [once(asked, 'asked'), once(asked, 'given up')];
  const left = expect(ask(forwarder, client)).rejects.toMatchObject({ code: 'CANCELLED' });
  await arrived;
  client.leave();
  await Promise.all([left, givenUp]);
  expect(await answer()).toBe('done');
});

it('gives an answer that has begun all the time it takes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const forwarder = await before((_, response) => {
    response.write('so ');
    setImmediate(() => response.end('far'));
  });
  expect(await ask(forwarder)).toBe('so far');
  // nothing waits to end it
  expect(vi.getTimerCount()).toBe(0);
});

it('tells that it is not known what became of what nobody answers', async () => {
  const forwarder = await before(() => undefined, { forwardMs: 50 });
  await expect(ask(forwarder)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
});

it('takes no place for a client who had left before', async () => {
  const forwarder = await before((_, response) => response.end('{}'), { forwards: 1 });
  // whoever has left tells nobody of it a second time
  const gone = { destroyed: true, once: () => undefined };
  for (let i = 0; i < 3; i++) {
    await expect(forwarder.ask(RECEIVED, Buffer.from('{}'), gone)).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(forwarder.pipe(RECEIVED, Buffer.from('{}'), gone as never)).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  }
  expect(await ask(forwarder)).toBe('{}');
});

it('waits as long as something of a request comes, and leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const came = new EventEmitter();
  const forwarder = await before(
    async (request, response) => {
      for await (const part of request) came.emit(String(part));
      response.end('done');
    },
    { forwardMs: 1_000 },
  );
  const body = new PassThrough();
  const answer = Object.assign(new PassThrough(), { writeHead: () => undefined });
  const answered = forwarder.pipe(RECEIVED, body, answer as never);
  for (const part of ['a', 'b', 'c']) {
    const arrived = once(came, part);
    body.write(part);
    await arrived;
    vi.advanceTimersByTime(800);
  }
  body.end();
  await answered;
  expect(await text(answer)).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});

it('holds a small answer whole, and no other', async () => {
  const sizes = [64 * 1024, 64 * 1024 + 1];
  const answers = [...sizes.map((size) => Buffer.alloc(size)), undefined];
  const forwarder = await before((_, response) => {
    const next = answers.shift();
    if (next !== undefined) return response.end(next);
    response.write('of no length');
    return response.end();
  });
  const held: boolean[] = [];
  for (let i = 0; i < 3; i++) {
    const { body } = await forwarder.ask(RECEIVED, Buffer.from('{}'), new Client());
    held.push(Buffer.isBuffer(body));
    if (!Buffer.isBuffer(body)) await text(body);
  }
  expect(held).toEqual([true, false, false]);
});

it.each([
  ['is gone', 'POST', 'READ_ONLY_STORE'],
  ['goes with a change', 'POST', 'OUTCOME_UNKNOWN'],
  ['goes with a question', 'GET', 'READ_ONLY_STORE'],
])('tells whether something may have been done where the one that writes %s (%s)', async (how, method, code) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const forwarder = await before((request) => request.socket.destroy());
  if (how === 'is gone') await new Promise((closed) => server?.close(closed));
  const asked = forwarder.ask({ ...RECEIVED, method }, Buffer.from(method === 'GET' ? '' : '{}'), new Client());
  await expect(asked).rejects.toMatchObject({ code });
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  'writer:8686',
  'ftp://writer',
  'http://writer/graphql',
  'http://user:word@writer',
  'http://:word@writer',
  'http://writer?a=1',
  'http://writer#a',
])('is not told to ask %s', (url) => {
  expect(() => serviceAddress(url, 8686)).toThrow(expect.objectContaining({ code: 'CONFIG' }));
});
