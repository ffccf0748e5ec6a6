import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { type GrpcConnections, type GrpcPort, openGrpcPort } from './grpc-port.js';

const log = pino({ level: 'silent' });
const opened: GrpcPort[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const port of opened.splice(0)) await port.close();
});

/** What stands for gRPC: it answers what it reads, in capitals. */
function echo(): GrpcConnections & { readonly taken: Socket[] } {
  const taken: Socket[] = [];
  return {
    taken,
    take(socket) {
      taken.push(socket);
      socket.on('data', (bytes) => socket.write(bytes.toString().toUpperCase()));
    },
    async close() {
      for (const socket of taken) socket.destroy();
    },
  };
}

async function listen(load: () => Promise<GrpcConnections>, port = 0): Promise<GrpcPort> {
  const listening = await openGrpcPort({ host: '127.0.0.1', port, log }, load);
  opened.push(listening);
  return listening;
}

function dial({ port }: GrpcPort): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  return socket;
}

describe('the gRPC port', () => {
  it('listens before anything is loaded, and loads once', async () => {
    let loads = 0;
    const grpc = echo();
    const port = await listen(async () => {
      loads++;
      return grpc;
    });
    expect(loads).toBe(0);
    for (const word of ['first', 'second']) {
      const socket = dial(port);
      socket.write(word);
      expect(String((await once(socket, 'data'))[0])).toBe(word.toUpperCase());
    }
    expect([loads, grpc.taken.length]).toEqual([1, 2]);
  });

  it('hands over what arrived while it loaded', async () => {
    let loaded = (_grpc: GrpcConnections): void => undefined;
    let asked = (): void => undefined;
    const asking = new Promise<void>((resolve) => (asked = resolve));
    const port = await listen(() => {
      asked();
      return new Promise((resolve) => (loaded = resolve));
    });
    const socket = dial(port);
    await new Promise<void>((resolve) => socket.write('early', () => resolve()));
    await asking;
    loaded(echo());
    expect(String((await once(socket, 'data'))[0])).toBe('EARLY');
  });

  it('ends its connections when it closes, or when gRPC cannot be loaded', async () => {
    const closing = await listen(async () => echo());
    const kept = dial(closing);
    kept.write('x');
    await once(kept, 'data');
    const ended = once(kept, 'close');
    await closing.close();
    await ended;
    const broken = await listen(() => Promise.reject(new Error('it is missing')));
    await once(dial(broken), 'close');
  });

  it('tells of a port that is taken', async () => {
    const { port } = await listen(async () => echo());
    await expect(listen(async () => echo(), port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
