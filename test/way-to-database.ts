import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to the database that can lose an answer, and is closed from then on until it is opened. */
export async function wayTo(databasePort: number) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  let lost: (() => void) | undefined;
  let late: ((deliver: () => Promise<unknown>) => void) | undefined;
  const lateOnes = new Set<Socket>();
  let goesOn = false;
  let ignored: string | undefined;
  let lastWords: Uint8Array = new Uint8Array();
  const server: Server = createServer((client) => {
    const inner = connect(databasePort, '127.0.0.1');
    const end = () => {
      client.destroy();
      if (!lateOnes.has(inner)) inner.destroy();
    };
    for (const socket of [client, inner]) socket.on('error', end).on('close', end);
    sockets.add(client);
    if (!isOpen) return end();
    let asksCommit = false;
    let isHeard = true;
    client.on('data', (bytes) => {
      if (ignored !== undefined && bytes.includes(ignored)) {
        isHeard = false;
        ignored = undefined;
      }
      if (!isHeard) return;
      asksCommit ||= bytes.includes('COMMIT');
      if (late === undefined || !bytes.includes('COMMIT')) {
        inner.write(bytes);
        return;
      }
      lateOnes.add(inner);
      sockets.delete(client.end(lastWords));
      late(async () => {
        inner.end(bytes);
        await once(inner, 'close');
      });
      late = undefined;
    });
    inner.on('data', (bytes) => {
      if (lost === undefined || !asksCommit) {
        client.write(bytes);
        return;
      }
      // it has answered: all of the message has been done
      asksCommit = false;
      if (goesOn) {
        client.write(lastWords);
        lost();
        lost = undefined;
        return;
      }
      isOpen = false;
      sockets.delete(client.end(lastWords));
      for (const socket of sockets) socket.destroy();
      lost();
      lost = undefined;
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    port: (server.address() as AddressInfo).port,
    /** @param instead what comes in place of it */
    loseNextAnswer: (instead: Uint8Array = new Uint8Array()) =>
      new Promise<void>((answered) => {
        lastWords = instead;
        lost = answered;
      }),
    /** As `loseNextAnswer`, but that nothing ends. */
    changeNextAnswer: (instead: Uint8Array) => {
      lastWords = instead;
      goesOn = true;
      lost = () => undefined;
    },
    /** Nothing more comes through the connection on which this is said next, and nothing tells its end. */
    ignore: (said: string) => {
      ignored = said;
    },
    /** The end of the next batch stays on the way while its connection ends. @returns what brings it there after all, and ends when it was done */
    holdNextBatch: (instead: Uint8Array = new Uint8Array()) =>
      new Promise<() => Promise<unknown>>((held) => {
        lastWords = instead;
        late = held;
      }),
    open: () => {
      isOpen = true;
    },
    shut: () => {
      isOpen = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
