import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it, vi } from 'vitest';
import { makeLimits, noTrace } from '../../base/index.js';
import { createForwarder, type Forwarder, Places } from './index.js';

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
