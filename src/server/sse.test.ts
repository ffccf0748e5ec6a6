import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { EventStream, type Frame, SharedFrames } from './sse.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that streams `source` to a reader which reads only when told, and `before` has the answer to what it asked before. */
async function streaming(
  source: AsyncIterable<Frame | string | SharedFrames>,
  before?: (response: ServerResponse) => void,
  method = 'GET',
) {
  let begun: (response: ServerResponse) => void;
  const response = new Promise<ServerResponse>((done) => {
    begun = done;
  });
  const server = createServer((request, reply) => {
    if (request.url === '/before') return before?.(reply);
    begun(reply);
    const stream = new EventStream(reply, { heartbeatMs: 60_000, signal: new AbortController().signal });
    void stream.send(source).finally(() => stream.end());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  if (before !== undefined) socket.write('GET /before HTTP/1.1\r\nhost: localhost\r\n\r\n');
  socket.write(`${method} / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  closers.push(
    () => socket.destroy(),
    () => server.close(),
  );
  async function rest(end = '\r\n0\r\n\r\n'): Promise<string> {
    const parts: string[] = [];
    let tail = '';
    for await (const part of socket.setEncoding('latin1') as AsyncIterable<string>) {
      parts.push(part);
      tail = (tail + part).slice(-end.length);
      if (tail === end) break;
    }
    return parts.join('');
  }
  return { response: await response, rest };
}

it('frames that come at once go out in one write, in their order', async () => {
  async function* source() {
    yield { event: 'next', id: '1', data: 'one\ntwo' };
    yield 'event: next\ndata: three\n\n';
    yield { event: 'complete', data: '' };
  }
  const { rest } = await streaming(source());
  const body = (await rest()).split('\r\n\r\n').slice(1).join('');
  const frames = 'event: next\nid: 1\ndata: one\ndata: two\n\nevent: next\ndata: three\n\nevent: complete\ndata: \n\n';
  expect(body).toContain(`${frames.length.toString(16)}\r\n${frames}`);
});

it('the first blank line ends the first frame, for readers that take what is before it for an event', async () => {
  async function* source() {
    await new Promise((turn) => setImmediate(turn));
    yield { event: 'next', data: 'one' };
  }
  const { rest } = await streaming(source());
  const lines = (await rest()).split('\r\n\r\n').slice(1).join('').split('\r\n');
  const text = lines.filter((line) => !/^[0-9a-f]+$/.test(line)).join('');
  expect(text).toBe(':\nevent: next\ndata: one\n\n');
});

it('frames that many readers share stand in their place among others', async () => {
  const shared = new SharedFrames('data: shared\n\n');
  async function* source() {
    yield shared;
    await new Promise((turn) => setImmediate(turn));
    yield { data: 'own' };
    yield shared;
    await new Promise((turn) => setImmediate(turn));
    yield shared;
    yield shared;
  }
  const { rest } = await streaming(source());
  const chunks = (await rest()).split('\r\n').filter((line) => line.includes('data: '));
  expect(chunks.join('')).toBe(`${shared.text}data: own\n\n${shared.text.repeat(3)}`);
});

it.each([
  ['of its own', (text: string) => ({ data: text })],
  ['that others share', (text: string) => new SharedFrames(`data: ${text}\n\n`)],
])('a reader that does not read holds its own source back, and misses nothing: frames %s', async (_, frameOf) => {
  const all = 2_000;
  const padding = 'x'.repeat(10_000);
  let taken = 0;
  async function* source() {
    while (taken < all) yield frameOf(`${taken++} ${padding}`);
  }
  const { response, rest } = await streaming(source());
  while (!response.writableNeedDrain && response.socket?.writableNeedDrain !== true) {
    await new Promise((turn) => setImmediate(turn));
  }
  expect(taken).toBeLessThan(all);
  const numbers = [...(await rest()).matchAll(/data: (\d+) /g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: all }, (_, i) => i));
});

it('a reader that asked ahead, and whose frames wait behind another answer, misses nothing', async () => {
  const all = 200;
  const padding = 'x'.repeat(10_000);
  async function* source() {
    for (let i = 0; i < all; i++) yield { data: `${i} ${padding}` };
  }
  let first: ServerResponse | undefined;
  const { response, rest } = await streaming(source(), (before) => {
    first = before;
  });
  while (!response.writableNeedDrain) await new Promise((turn) => setImmediate(turn));
  first?.end();
  const numbers = [...(await rest()).matchAll(/data: (\d+) /g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(Array.from({ length: all }, (_, i) => i));
});

it('only the head is sent to who asks for it, and the connection is free again', async () => {
  let isOpen = false;
  async function* source() {
    isOpen = true;
    yield { data: 'one' };
  }
  const { response, rest } = await streaming(source(), undefined, 'HEAD');
  expect(response.writableEnded).toBe(true);
  expect(await rest('\r\n\r\n')).toMatch(/^HTTP\/1.1 200 OK\r\ncontent-type: text\/event-stream/);
  expect(isOpen).toBe(false);
});
