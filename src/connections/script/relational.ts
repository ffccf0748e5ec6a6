import { type AddressInfo, createServer, type Socket } from 'node:net';
import { PgSession } from './pg-session.js';
import { Replies, type Script, type Scripted } from './script.js';

/** What a scripted database answers: rows, how many rows it changed, or an error, whose `code` is its SQLSTATE. */
export type SqlReply = readonly Readonly<Record<string, unknown>>[] | number | Error;

/** Replies one after the other, or a function of what was asked. */
export type SqlScript = Script<SqlCall, SqlReply>;

/** One statement that reached a scripted database. What begins and ends transactions is answered by itself and not told. */
export interface SqlCall {
  readonly connection: string;
  readonly text: string;
  /** as they travel: text, or null */
  readonly parameters: readonly (string | null)[];
}

/**
 * Relational connections that answer from scripts, over PostgreSQL's protocol.
 * @param scripts by the connection's name in app.json
 */
export async function openScriptedDatabases(scripts: Readonly<Record<string, SqlScript>>): Promise<Scripted<SqlCall>> {
  const replies = new Replies('connection', scripts);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    socket.on('error', () => socket.destroy());
    new PgSession(socket, async (connection, text, parameters) =>
      checked(connection, await replies.to(connection, { connection, text, parameters })),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    calls: replies.calls,
    redirect(resolved) {
      const connections = Object.entries(resolved.connections).map(([name, connection]) => {
        const isRelational = connection.type === 'relational' || connection.type === 'postgresql';
        if (!isRelational || !Object.hasOwn(scripts, name)) return [name, connection];
        const { connString: _, ...rest } = connection;
        return [name, { ...rest, connStr: `postgres://scripted@127.0.0.1:${port}/${encodeURIComponent(name)}` }];
      });
      return { ...resolved, connections: Object.fromEntries(connections) as typeof resolved.connections };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Tests need not be typed. */
function checked(connection: string, reply: unknown): SqlReply {
  if (Array.isArray(reply) || typeof reply === 'number' || reply instanceof Error) return reply;
  throw new Error(`the script of connection "${connection}" gave ${typeof reply}: give rows, a number or an Error`);
}
