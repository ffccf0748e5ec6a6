// What stands between a service and its database, and hides that several of its connections are one session there.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDatabase, type TestDatabase } from '../../../test/database.js';
import { openPostgresStore } from './open.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
}, 120_000);
afterAll(() => database.stop());

const READY = 'Z'.charCodeAt(0);
const ENDS = 'X'.charCodeAt(0);
const WELCOME = Buffer.from('520000000800000000' + '5a0000000549', 'hex');

function refusal(reason: string): Buffer {
  const body = Buffer.from(`SFATAL\0C08P01\0M${reason}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** All connections to it share one of the database, from one answer to the next. */
async function sharing(address: string) {
  const client = new pg.Client(address).on('error', () => undefined);
  await client.connect();
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  stream.removeAllListeners('data');
  let turn: Promise<unknown> = Promise.resolve();
  const ask = async (question: Buffer, asker: Socket) => {
    stream.write(question);
    for (let last = 0; last !== READY; ) {
      const [answer] = (await once(stream, 'data')) as [Buffer];
      asker.write(answer);
      last = answer.at(-6) ?? 0;
    }
  };
  const server = createServer((asker) => {
    asker.on('error', () => undefined);
    asker.once('data', (startup: Buffer) => {
      if (startup.includes('options')) return asker.end(refusal('unsupported startup parameter: options'));
      asker.write(WELCOME);
      asker.on('data', (question: Buffer) => {
        if (question[0] !== ENDS) turn = turn.then(() => ask(question, asker));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      stream.destroy();
      server.close();
    },
  };
}

it.each([[false], [true]])('is told where it keeps no sessions (to one that only reads: %s)', async (readOnly) => {
  const pooler = await sharing(database.address);
  try {
    const address = database.address.replace(`:${database.port}/`, `:${pooler.port}/`);
    await expect(openPostgresStore(address, { readOnly })).rejects.toMatchObject({
      code: 'CONFIG',
      message: /a pooler before the database keeps no sessions/,
      fix: /pool_mode = session/,
    });
    const { rows } = await database.run(`SELECT to_regclass('graphstead_meta') AS made`);
    expect(rows).toEqual([{ made: null }]);
    await expect(openPostgresStore(`${address}?options=-c%20search_path%3Dx`)).rejects.toMatchObject({
      code: 'CONFIG',
      message: /unsupported startup parameter: options/,
      fix: /ALTER ROLE/,
    });
  } finally {
    pooler.close();
  }
});
