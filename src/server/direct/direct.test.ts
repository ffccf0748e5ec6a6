import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Answering } from '../signal.js';
import type { DirectHandler } from './contract.js';
import { COUNTED_BODY } from '../bodies.js';
import { chunked } from './chunked.js';
import { type DirectConnections, serveDirectly } from './index.js';

let server: Server;
let direct: DirectConnections;
let handle: DirectHandler;
let isOpen = true;
const counted: [string, number][] = [];
const accepted: Socket[] = [];

/** Says of a request which of the two answered it, and its body. */
const echo: DirectHandler = async ({ body }) => ({
  status: 200,
  shared: { 'x-by': 'direct' },
  own: {},
  body: Buffer.from(`direct ${body.toString()}`),
});

beforeEach(async () => {
  handle = echo;
  isOpen = true;
  counted.length = 0;
  accepted.length = 0;
  server = createServer({ connectionsCheckingInterval: 50 }, async (request, response) => {
    let body = '';
    try {
      for await (const part of request) body += part;
    } catch {
      return; // its client has left, or took too long
    }
    response.end(`library ${body}`);
  });
  direct = serveDirectly(server, {
    route: {
      handlerOf: ({ headers }) => (headers['x-other'] ? undefined : (...given) => handle(...given)),
      get isOpen() {
        return isOpen;
      },
    },
    nextId: () => 'next',
    answered: (path, status) => counted.push([path, status]),
    turnAway: (socket) => socket.end('too late'),
  });
  server.on('connection', (socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  direct.closeAll();
  server.closeAllConnections();
  server.close();
});

const pem = (name: string) => readFileSync(new URL(`../../../test/support/tls/localhost.${name}`, import.meta.url));

const plain = (body: string, ...lines: string[]) =>
  ['POST /graphql HTTP/1.1', 'host: x', `content-length: ${body.length}`, ...lines, '', body].join('\r\n');

/** A client that keeps what it reads. */
class Client {
  text = '';
  readonly socket: Socket;
  readonly closed: Promise<unknown>;

  constructor() {
    this.socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
    this.socket.setEncoding('latin1');
    this.socket.on('data', (part) => {
      this.text += part;
    });
    this.socket.on('error', () => undefined);
    this.closed = once(this.socket, 'close');
  }

  send(text: string): this {
    this.socket.write(text);
    return this;
  }

  /** who has answered what, in order */
  async bodies(count: number): Promise<string[]> {
    const found = () => this.text.match(/(direct|library) [a-z]*/g) ?? [];
    await expect.poll(found).toHaveLength(count);
    this.socket.destroy();
    return found();
  }

  /** until the server has read all that was sent */
  async arrived(): Promise<void> {
    const isOurs = ({ remotePort }: Socket) => remotePort === this.socket.localPort;
    await expect.poll(() => accepted.find(isOurs)?.bytesRead).toBe(this.socket.bytesWritten);
  }
}

describe('a connection', () => {
  it('is answered directly as long as its requests are plain, with the headers that the library writes', async () => {
    const client = new Client().send(plain('a'));
    await expect.poll(() => client.text).toContain('direct a');
    expect(client.text).toMatch(
      /^HTTP\/1\.1 200 OK\r\nx-by: direct\r\nx-request-id: next\r\ncontent-length: 8\r\nDate: \w{3}, [^\r]* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\ndirect a$/,
    );
    client.send(plain('b', 'x-request-id: mine'));
    await expect.poll(() => client.text).toContain('x-request-id: mine');
    expect(await client.bodies(2)).toEqual(['direct a', 'direct b']);
    expect(counted).toEqual([
      ['/graphql', 200],
      ['/graphql', 200],
    ]);
  });

  it('is the library’s from the first request that is not plain', async () => {
    const client = new Client().send(plain('a'));
    await expect.poll(() => client.text).toContain('direct a');
    client.send(plain('b', 'x-other: yes'));
    await expect.poll(() => client.text).toContain('library b');
    client.send(plain('c'));
    expect(await client.bodies(3)).toEqual(['direct a', 'library b', 'library c']);
  });

  it.each<[string, string[], (text: string) => string[]]>([
    ['a body behind its head', ['direct abc'], (text) => [text.slice(0, -3), text.slice(-3)]],
    ['a body in two pieces', ['direct abc'], (text) => [text.slice(0, -1), text.slice(-1)]],
    ['a body in three pieces', ['library abc'], (text) => [text.slice(0, -3), text.slice(-3, -1), text.slice(-1)]],
    ['a head in two pieces', ['library abc'], (text) => [text.slice(0, 20), text.slice(20)]],
    ['a head without its last byte', ['library abc'], (text) => [text.slice(0, -4), text.slice(-4)]],
    ['more behind a body', ['library abc', 'library abc'], (text) => [text.slice(0, -3), text.slice(-3) + text]],
  ])('takes a request in pieces: %s', async (_, answered, cut) => {
    const client = new Client();
    for (const piece of cut(plain('abc'))) await client.send(piece).arrived();
    expect(await client.bodies(answered.length)).toEqual(answered);
  });

  it('leaves a large body that comes behind its head to the library, which counts what waits', async () => {
    const large = 'a'.repeat(COUNTED_BODY);
    const client = new Client();
    for (const piece of [plain(large).slice(0, -large.length), large]) await client.send(piece).arrived();
    expect(await client.bodies(1)).toEqual([`library ${large}`]);
  });

  it.each([0, 1])('leaves a body that does not come to the library, behind %d requests', async (before) => {
    server.headersTimeout = server.requestTimeout = 100;
    server.keepAliveTimeout = 600_000;
    const client = new Client();
    for (let i = 0; i < before; i++) {
      client.send(plain('a'));
      await expect.poll(() => client.text).toContain('direct a');
    }
    client.send(plain('abc').slice(0, -3));
    await client.closed;
    expect(client.text).toContain('HTTP/1.1 408 Request Timeout');
  });

  it('is the library’s where requests come together', async () => {
    expect(await new Client().send(plain('a') + plain('b')).bodies(2)).toEqual(['library a', 'library b']);
    const mistaken = new Client().send(`${plain('a')}x`);
    await mistaken.closed;
    expect(mistaken.text).toContain('400 Bad Request');
  });

  it('keeps what comes while an answer is under way, and answers in order', async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      handle = async (...given) => {
        resolve();
        await new Promise<void>((now) => {
          answer = now;
        });
        return echo(...given);
      };
    });
    const client = new Client().send(plain('a'));
    await asked;
    handle = echo;
    client.send(plain('b'));
    await client.arrived();
    // nor is more of it taken into memory meanwhile
    expect(accepted[0].isPaused()).toBe(true);
    answer();
    await expect.poll(() => client.text).toContain('direct b');
    client.send(plain('c'));
    expect(await client.bodies(3)).toEqual(['direct a', 'direct b', 'direct c']);
  });

  it('is the library’s while the route is closed', async () => {
    isOpen = false;
    expect(await new Client().send(plain('a')).bodies(1)).toEqual(['library a']);
  });

  it('ends behind an answer that is given when the route has closed', async () => {
    handle = async (...given) => {
      isOpen = false;
      return echo(...given);
    };
    const client = new Client().send(plain('a'));
    await client.closed;
    expect(client.text).toMatch(/\r\nConnection: close\r\n\r\ndirect a$/);
  });

  it.each(['destroy', 'end'] as const)('tells who works on an answer that its client has left by %s', async (how) => {
    let answering!: Answering;
    let closed = false;
    let answer = () => {};
    handle = async (...all) => {
      const [, given] = all;
      answering = given;
      given.once('close', () => {
        closed = true;
      });
      await new Promise<void>((late) => {
        answer = late;
      });
      return echo(...all);
    };
    const client = new Client().send(plain('a'));
    await expect.poll(() => answering).toBeDefined();
    expect(answering).toMatchObject({ destroyed: false, headersSent: false, writableFinished: false });
    client.socket[how]();
    await expect.poll(() => closed).toBe(true);
    expect(answering).toMatchObject({ destroyed: true, writableFinished: false });
    answer();
    await nextTurn();
    // nobody was told anything
    expect(counted).toEqual([]);
  });

  it('has not finished an answer before its client has read it', async () => {
    const body = Buffer.alloc(32 * 1024 * 1024, 'x');
    let answering!: Answering;
    handle = async (_, given) => {
      answering = given;
      return { status: 200, shared: {}, own: {}, body };
    };
    const client = new Client();
    client.socket.pause();
    client.send(plain('a'));
    await expect.poll(() => answering?.headersSent).toBe(true);
    expect(answering.writableFinished).toBe(false);
    client.socket.resume();
    await expect.poll(() => answering.writableFinished, { timeout: 20_000 }).toBe(true);
    await expect.poll(() => client.text.length).toBeGreaterThan(body.length);
    handle = echo;
    client.send(plain('b'));
    expect(await client.bodies(1)).toEqual(['direct b']);
  });

  it('waits for an answer longer than it would rest', async () => {
    server.keepAliveTimeout = 20;
    handle = async (...given) => {
      await once(accepted[0], 'timeout');
      return echo(...given);
    };
    expect(await new Client().send(plain('a')).bodies(1)).toEqual(['direct a']);
  });

  it('ends where its client takes nothing of an answer for so long as is said with it', async () => {
    server.keepAliveTimeout = 600_000;
    handle = async (_, given) => {
      given.setTimeout(20);
      return { status: 200, shared: {}, own: {}, body: Buffer.alloc(32 * 1024 * 1024, 'x') };
    };
    const client = new Client();
    client.socket.pause();
    client.send(plain('a'));
    await expect.poll(() => accepted.length).toBe(1);
    await once(accepted[0], 'close');
    client.socket.destroy();
  });

  it('rests behind such an answer as behind any other', async () => {
    server.keepAliveTimeout = 600_000;
    handle = async (...given) => {
      given[1].setTimeout(60_000);
      return echo(...given);
    };
    const client = new Client().send(plain('a'));
    await expect.poll(() => client.text).toContain('direct a');
    expect(accepted[0].timeout).toBe(600_000);
    client.socket.destroy();
  });

  it('tells the date of each answer, and the headers of each', async () => {
    const dates = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'];
    const client = new Client();
    try {
      for (const [i, date] of dates.entries()) {
        vi.useFakeTimers({ toFake: ['Date'], now: new Date(date) });
        handle = async () => ({
          status: 200,
          shared: { 'x-of': String(i) },
          own: {},
          body: Buffer.from(`direct ${i}`),
        });
        client.send(plain('a'));
        while (!client.text.includes(`direct ${i}`)) await once(client.socket, 'data');
      }
    } finally {
      vi.useRealTimers();
    }
    expect(client.text.match(/x-of: \d|\d\d:\d\d:\d\d GMT/g)).toEqual([
      'x-of: 0',
      '03:04:05 GMT',
      'x-of: 1',
      '03:04:06 GMT',
    ]);
    client.socket.destroy();
  });

  it.each(['headersTimeout', 'requestTimeout'] as const)(
    'ends where nothing is asked for in time, the first time with a reason: %s',
    async (time) => {
      const given = server[time];
      server[time] = 50;
      const unheard = new Client();
      await unheard.closed;
      expect(unheard.text).toBe('');
      server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => socket.end(code));
      const silent = new Client();
      await silent.closed;
      expect(silent.text).toBe('ERR_HTTP_REQUEST_TIMEOUT');
      server[time] = given;
      server.keepAliveTimeout = 50;
      const idle = new Client().send(plain('a'));
      await idle.closed;
      expect(idle.text).toMatch(/direct a$/);
    },
  );

  it('hands on an answer that has no end yet, as it comes, and goes on behind it', async () => {
    const rest = new PassThrough();
    handle = async () => ({ status: 200, shared: {}, own: {}, body: Buffer.alloc(0), rest });
    const client = new Client().send(plain('a'));
    rest.write('direct so');
    await expect.poll(() => client.text).toMatch(/transfer-encoding: chunked\r\n.*\r\n\r\n9\r\ndirect so\r\n$/s);
    expect(counted).toEqual([]);
    rest.write('x'.repeat(20));
    await expect.poll(() => client.text).toMatch(/\r\n14\r\nx{20}\r\n$/);
    rest.end();
    await expect.poll(() => client.text).toMatch(/x\r\n0\r\n\r\n$/);
    handle = echo;
    client.send(plain('b'));
    await expect.poll(() => client.text).toMatch(/direct b$/);
    expect(counted).toHaveLength(2);
    client.socket.destroy();
  });

  it('does not end such an answer with a part that is empty', async () => {
    const parts = async function* () {
      for (const part of ['a', '', 'b']) yield Buffer.from(part);
    };
    expect(await text(chunked(parts()))).toBe('1\r\na\r\n1\r\nb\r\n0\r\n\r\n');
  });

  it.each(['breaks off', 'ends behind the closing of the route'])('ends with such an answer that %s', async (how) => {
    server.keepAliveTimeout = 600_000;
    const rest = new PassThrough();
    handle = async () => {
      isOpen = how === 'breaks off';
      return { status: 200, shared: {}, own: {}, body: Buffer.alloc(0), rest };
    };
    const client = new Client().send(plain('a'));
    rest.write('so far');
    await expect.poll(() => client.text).toContain('so far');
    expect(client.text).toContain(`\r\nConnection: ${how === 'breaks off' ? 'keep-alive' : 'close'}\r\n`);
    if (how === 'breaks off') rest.destroy(new Error('lost'));
    else rest.end();
    await client.closed;
    expect(client.text.endsWith('\r\n0\r\n\r\n')).toBe(how !== 'breaks off');
    expect(counted).toHaveLength(how === 'breaks off' ? 0 : 1);
  });

  it.each([false, true])('leaves nothing of its own on a socket that it gives away, with TLS: %s', async (isTls) => {
    const heard = (socket: Socket) =>
      ['data', 'end', 'close', 'timeout', 'error', 'drain'].map((event) => [event, socket.listenerCount(event)]);
    const seen: unknown[] = [];
    for (const serve of [serveDirectly, () => undefined]) {
      const answer: RequestListener = (request, response) => {
        seen.push([heard(request.socket), request.socket.timeout ?? 0]);
        request.pipe(response);
      };
      const own = isTls ? createTlsServer({ key: pem('key'), cert: pem('pem') }, answer) : createServer(answer);
      serve(own, {
        route: { handlerOf: () => undefined, isOpen: true },
        nextId: () => '',
        answered: () => undefined,
        turnAway: () => undefined,
      });
      await once(own.listen(0, '127.0.0.1'), 'listening');
      const { port } = own.address() as AddressInfo;
      const socket = isTls ? tlsConnect({ port, rejectUnauthorized: false }) : connect(port, '127.0.0.1');
      for (const text of ['abc', 'def']) {
        const [head, body] = [plain(text).slice(0, -3), text];
        let told = '';
        socket.write(head);
        socket.write(body);
        while (!told.includes(text)) told += (await once(socket, 'data'))[0];
      }
      socket.destroy();
      own.close();
    }
    expect(seen).toHaveLength(4);
    expect(seen.slice(0, 2)).toEqual(seen.slice(2));
  });

  it('is ended when the service stops: idle at once, others by force', async () => {
    handle = () => new Promise(() => {});
    const idle = new Client();
    await expect.poll(() => accepted.length).toBe(1);
    const [busy, coming] = [plain('a'), plain('abc').slice(0, -3)].map((text) => new Client().send(text));
    await Promise.all([busy.arrived(), coming.arrived()]);
    direct.closeIdle(0);
    direct.closeIdle(0);
    await idle.closed;
    expect(idle.text).toBe('too late');
    await expect.poll(() => accepted.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    direct.closeAll();
    await Promise.all([busy.closed, coming.closed]);
  });

  it('begins nothing that comes once it has been turned away', async () => {
    const client = new Client();
    await expect.poll(() => accepted.length).toBe(1);
    const begun = vi.fn(echo);
    handle = begun;
    direct.closeIdle(0);
    await client.send(plain('a')).closed;
    expect(client.text).toBe('too late');
    expect(begun).not.toHaveBeenCalled();
  });

  it('is the library’s to end once it has been given away, and nobody’s once it has ended', async () => {
    const ended = new Client().send(plain('a'));
    await expect.poll(() => ended.text).toContain('direct a');
    ended.socket.destroy();
    await once(accepted[0], 'close');
    const given = new Client();
    const text = plain('abc', 'x-other: yes');
    await given.send(text.slice(0, -1)).arrived();
    const destroyed = accepted.map((socket) => vi.spyOn(socket, 'destroy'));
    direct.closeIdle(0);
    direct.closeAll();
    for (const destroy of destroyed) expect(destroy).not.toHaveBeenCalled();
    expect(await given.send(text.slice(-1)).bodies(1)).toEqual(['library abc']);
  });
});
