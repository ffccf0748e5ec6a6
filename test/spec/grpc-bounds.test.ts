// Calls over gRPC are bounded as requests over HTTP are: by time, by the bytes of all that come, and by answers that nobody reads.
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { ServiceOptions } from '../../src/server/index.js';
import { startService, type TestService } from '../service.js';

const REQUEST_MS = 1_000;

let s: TestService;
let client: ClientHttp2Session;
async function open(limits: NonNullable<ServiceOptions['limits']>): Promise<void> {
  s = await startService({ grpcPort: 0, limits });
  client = connect(`http://127.0.0.1:${s.service.grpcPort}`);
}
afterEach(async () => {
  client.destroy();
  await s.close();
});

/** A query as the protocol has it, of at most 127 bytes: the text is field 4, and field 6 says that it only reads. */
function queryOf(text: string): Buffer {
  const message = Buffer.from([0x22, text.length, ...Buffer.from(text), 0x30, 1]);
  return framed(message, message.length);
}

/** The beginning of a message of `length` bytes. */
function framed(part: Buffer, length: number): Buffer {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(length, 1);
  return Buffer.concat([frame, part]);
}

function begin(part: Buffer): ClientHttp2Stream {
  const head = { ':method': 'POST', ':path': '/api.Dgraph/Query', 'content-type': 'application/grpc', te: 'trailers' };
  const call = client.request(head).on('error', () => undefined);
  call.write(part);
  return call;
}

/** The status and the message of a call that is answered with these alone. */
async function refusalOf(call: ClientHttp2Stream): Promise<readonly [status: number, message: string]> {
  const [headers] = (await once(call, 'response')) as [Record<string, string>];
  return [Number(headers['grpc-status']), decodeURIComponent(headers['grpc-message'] ?? '')];
}

async function answerTo(text: string): Promise<string> {
  const call = begin(queryOf(text));
  call.end();
  let status = '';
  call.on('response', (headers) => {
    status = String(headers['grpc-status'] ?? '');
  });
  const parts: Buffer[] = [];
  for await (const part of call) parts.push(part as Buffer);
  return status || Buffer.concat(parts).toString('latin1');
}

it('a call that does not come to its end is told so in time, and ends', async () => {
  await open({ requestMs: REQUEST_MS });
  const call = begin(framed(Buffer.alloc(1_000), 2_000));
  const closed = once(call, 'close');
  const [status, message] = await refusalOf(call);
  expect([status, message]).toEqual([4, expect.stringContaining(`limits.requestMs is ${REQUEST_MS}`)]);
  call.resume();
  await closed;
  expect(await answerTo('{ q(func: uid(1)) { uid } }')).toContain('{"q":[');
});

it('large calls are refused while others take all the memory for them, over HTTP too, until those have ended', async () => {
  await open({ largeBodiesBytes: 250_000 });
  const held = begin(framed(Buffer.alloc(1_000), 300_000));
  // all but what fits into a window of the protocol (64 KiB) has been read then
  await new Promise((sent) => held.write(Buffer.alloc(240_000), sent));
  const overHttp = () => s.rdf(`{ set { _:a <text> "${'x'.repeat(100_000)}" . } }`);
  expect((await overHttp()).body.errors?.[0]?.extensions.code).toBe('OVERLOADED');
  const call = begin(framed(Buffer.alloc(100_000), 110_000));
  expect(await refusalOf(call)).toEqual([14, expect.stringContaining('limits.largeBodiesBytes is 250000')]);
  // small ones are nobody's concern
  expect(await answerTo('{ q(func: uid(1)) { uid } }')).toContain('{"q":[');
  held.close();
  await expect.poll(async () => (await overHttp()).status).toBe(200);
});

it('an answer that nobody reads is given up, and meanwhile no other is made', async () => {
  await open({ largeAnswersBytes: 2_000_000, answerStallMs: 2_000 });
  for (let i = 0; i < 3; i++) await s.rdf(`{ set { _:a${i} <text> "${'x'.repeat(180_000)}" . } }`);
  const large = `{ q(func: has(text)) { ${Array.from({ length: 8 }, (_, i) => `${'abcdefgh'[i]}: text`).join(' ')} } }`;
  const unread = begin(queryOf(large));
  unread.end();
  await once(unread, 'response');
  const closed = once(unread, 'close');
  expect(await answerTo('{ q(func: uid(1)) { uid } }')).toBe('14');
  await closed;
  expect(await answerTo('{ q(func: uid(1)) { uid } }')).toContain('{"q":[');
});

it('a connection on which nobody says anything is closed', async () => {
  await open({ requestMs: REQUEST_MS });
  const socket = connectSocket(Number(s.service.grpcPort), '127.0.0.1').resume();
  await once(socket, 'close');
});
