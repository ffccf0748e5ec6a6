import { connect, isIP } from 'node:net';
import { type ConnectionOptions, connect as secure } from 'node:tls';
import type pg from 'pg';

/** What the library keeps of a connection, part of it not in its types. */
type Connected = pg.ClientBase & {
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | ConnectionOptions;
  readonly processID: number | null;
  readonly secretKey: number | null;
};

/** codes that stand where a version of the protocol would: PostgreSQL, "Message Formats", CancelRequest and SSLRequest */
const CANCEL = 80877102;
const TLS = 80877103;
const GIVE_UP_MS = 5_000;

/**
 * Asks the server to end the statement that a connection runs, over a connection of its own as the protocol has it, under TLS
 * where that one is. Nobody is told whether it was: what goes on ends by its statement_timeout.
 */
export function askToCancel(client: pg.ClientBase): void {
  const { host, port, ssl, processID, secretKey } = client as Connected;
  if (processID === null || secretKey === null) return;
  const request = message(CANCEL, processID, secretKey);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  const giveUp = () => socket.destroy();
  socket.on('error', giveUp).setTimeout(GIVE_UP_MS, giveUp);
  if (!ssl) {
    socket.end(request);
    return;
  }
  socket.write(message(TLS));
  socket.once('data', (answer) => {
    if (answer.toString('latin1') !== 'S') return giveUp();
    const name = isIP(host) === 0 ? { servername: host } : {};
    const options = ssl === true ? {} : ssl;
    secure({ ...options, ...name, host, socket })
      .on('error', giveUp)
      .end(request);
  });
}

function message(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * (numbers.length + 1));
  for (const [i, number] of [bytes.length, ...numbers].entries()) bytes.writeInt32BE(number, 4 * i);
  return bytes;
}
