import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { GraphsteadError } from '../../base/index.js';
import { CONTROL, frameAt, OPCODE } from './frame.js';
import { Gate } from './gate.js';
import { protocolOf } from './protocol.js';

const KEY = 'page';
const PING = CONTROL + 1;

/** As clients send it: masked (RFC 6455, 5.3). */
function frame(said: string | Buffer, opcode: number = OPCODE.text, isLast = true): Buffer {
  const payload = Buffer.from(said);
  const { length } = payload;
  const size = length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [127, 0, 0, 0, 0, 0];
  const wide = Buffer.alloc(length < 65_536 ? 0 : 3);
  if (wide.length > 0) wide.writeUIntBE(length, 0, 3);
  const mask = [1, 2, 3, 4];
  const masked = payload.map((byte, i) => byte ^ mask[i % 4]);
  const head = [(isLast ? 0x80 : 0) | opcode, 0x80 | size[0], ...size.slice(1)];
  return Buffer.concat([Buffer.from(head), wide, Buffer.from(mask), masked]);
}

const init = (payload: object) => JSON.stringify({ type: 'connection_init', payload });
const begin = frame('{"type":"subscribe","id":"1","payload":{"query":"{ a }"}}');

function gateOf(messageBytes = 100_000): Gate {
  return new Gate({
    check: ({ headers }) =>
      headers['x-api-key'] === KEY
        ? undefined
        : new GraphsteadError('UNAUTHENTICATED', 'this address needs an API key', { fix: 'send one' }),
    protocol: protocolOf(['graphql-transport-ws']),
    url: '/graphql',
    headers: { origin: 'https://app.example' },
    messageBytes,
  });
}

/** What has come through. */
function passed(gate: Gate): Buffer {
  return (gate.read() as Buffer | null) ?? Buffer.alloc(0);
}

/** The code and the reason that a client is told. */
async function refused(gate: Gate, ...bytes: Buffer[]): Promise<[code: number, reason: string]> {
  const failed = once(gate, 'error');
  for (const each of bytes) gate.write(each);
  await failed;
  expect(passed(gate)).toHaveLength(0);
  const told = frameAt(gate.lastWord, 0);
  expect(told?.opcode).toBe(OPCODE.close);
  return [told?.payload.readUInt16BE(0) ?? 0, told?.payload.toString('utf8', 2) ?? ''];
}

describe('a gate', () => {
  it.each([
    ['at its end', { 'x-api-key': KEY }],
    ['among headers', { headers: { 'X-API-Key': KEY } }],
    ['in a message of two bytes of length', { 'x-api-key': KEY, more: 'a'.repeat(300) }],
    ['in a message of eight bytes of length', { 'x-api-key': KEY, more: 'a'.repeat(70_000) }],
  ])('lets everything pass once the first message has shown a key: %s', (_, payload) => {
    const gate = gateOf();
    const first = frame(init(payload));
    gate.write(first.subarray(0, -1));
    expect(passed(gate)).toHaveLength(0);
    const rest = Buffer.concat([first.subarray(-1), begin]);
    gate.write(rest);
    expect(passed(gate).equals(Buffer.concat([first, begin]))).toBe(true);
    gate.write(begin);
    expect(passed(gate)).toEqual(begin);
  });

  it('reads a message of several frames, with signs of life between them, as they come byte by byte', () => {
    const text = init({ 'x-api-key': KEY });
    const all = Buffer.concat([
      frame('', PING),
      frame(text.slice(0, 5), OPCODE.text, false),
      frame('life', PING),
      frame(text.slice(5, 9), OPCODE.continued, false),
      frame(text.slice(9), OPCODE.continued),
    ]);
    const gate = gateOf();
    for (const byte of all.subarray(0, -1)) gate.write(Buffer.of(byte));
    expect(passed(gate)).toHaveLength(0);
    gate.write(all.subarray(-1));
    expect(passed(gate)).toEqual(all);
  });

  it.each([
    ['none', {}],
    ['another', { 'x-api-key': 'other' }],
  ])('refuses who shows no key: %s', async (_, payload) => {
    expect(await refused(gateOf(), frame(init(payload)), begin)).toEqual([4403, 'this address needs an API key']);
  });

  it('refuses who begins with something else', async () => {
    expect(await refused(gateOf(), begin)).toEqual([4401, 'connection_init comes first']);
    expect((await refused(gateOf(), frame('{')))[0]).toBe(4400);
    expect((await refused(gateOf(), frame(init({ 'x-api-key': KEY }), 2)))[0]).toBe(4400);
    expect((await refused(gateOf(), frame('a', OPCODE.text, false), frame(init({ 'x-api-key': KEY }))))[0]).toBe(4400);
  });

  it('holds no more than a message may be long', async () => {
    const [code] = await refused(gateOf(1_000), frame(init({ more: 'a'.repeat(2_000) })).subarray(0, 1_500));
    expect(code).toBe(1009);
  });
});
