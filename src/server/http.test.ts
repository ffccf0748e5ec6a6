import { connect } from 'node:net';
import { type Logger, pino } from 'pino';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS, defaultNames, dgraphNames, type ErrorCode, GraphsteadError } from '../base/index.js';
import { LargeAnswers } from './answers.js';
import { LargeBodies } from './bodies.js';
import { createHttp, requestIds } from './http.js';
import { Turns } from './in-turn.js';

const openHttp = (log: Logger, names = defaultNames) =>
  createHttp({
    limits: DEFAULT_LIMITS,
    names,
    log,
    answers: new LargeAnswers(DEFAULT_LIMITS),
    bodies: new LargeBodies(DEFAULT_LIMITS.largeBodiesBytes),
    turns: new Turns(),
    nextId: requestIds(),
  });

it('a client that goes away in the middle of its request is no failure of the service', async () => {
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const app = await openHttp(log);
  app.post('/', async () => 'read');
  const { host, hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), hostname);
  const head = `POST / HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/rdf\r\ncontent-length: 9`;
  await new Promise<void>((sent) => socket.write(`${head}\r\n\r\nx`, () => sent()));
  socket.destroy();
  const told = () => lines.filter(({ msg }) => /request/.test(msg));
  await expect
    .poll(told)
    .toMatchObject([{ level: pino.levels.values['debug'], msg: expect.stringContaining('went away') }]);
  await app.close();
});

it.each<[ErrorCode, string, string]>([
  ['INDEX_BUILDING', 'warn', 'request refused: not as it should be'],
  ['OVERLOADED', 'warn', 'request refused: not as it should be'],
  ['STORE_FENCED', 'error', 'request failed'],
  ['INTERNAL', 'error', 'request failed'],
])('%s is logged as %s, also where it is answered with 200', async (code, level, msg) => {
  for (const names of [defaultNames, dgraphNames]) await tells(code, level, msg, names);
});

async function tells(code: ErrorCode, level: string, msg: string, names: typeof defaultNames): Promise<void> {
  const lines: { readonly level: number; readonly msg: string; readonly err?: unknown }[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const app = await openHttp(log, names);
  app.get('/', async () => {
    throw new GraphsteadError(code, 'not as it should be', { fix: 'do something else' });
  });
  await app.inject('/');
  expect(lines).toMatchObject([{ level: pino.levels.values[level], msg }]);
  expect(lines[0]?.err !== undefined).toBe(level === 'error');
  await app.close();
}
