import type { ServerResponse } from 'node:http';
import type { ConnectionConfig } from '../config.js';
import { Replies, type Script, type Scripted } from './script.js';
import { openScriptedServer } from './server.js';

/** What a scripted HTTP connection answers: a Response, a value that goes as JSON with status 200, or an error: it breaks off. */
export type HttpReply = Response | Error | object | string | number | boolean | null;

/** Replies one after the other, or a function of what was asked. */
export type HttpScript = Script<HttpCall, HttpReply>;

/** One call that reached a scripted HTTP connection. */
export interface HttpCall {
  readonly connection: string;
  readonly method: string;
  /** behind the connection's baseUrl, with its query: `/forecast?city=Bern` */
  readonly path: string;
  /** lower-case names; those of app.json among them */
  readonly headers: Readonly<Record<string, string>>;
  /** empty where there is none */
  readonly body: string;
}

/**
 * HTTP connections that answer from scripts.
 * @param scripts by the connection's name in app.json
 */
export async function openScriptedHttp(scripts: Readonly<Record<string, HttpScript>>): Promise<Scripted<HttpCall>> {
  const replies = new Replies('connection', scripts);
  const server = await openScriptedServer(async ({ name: connection, path, request, body }, response) => {
    const headers = request.headers as Record<string, string>;
    const call = { connection, method: request.method ?? '', path, headers, body };
    await sendReply(response, await replies.to(connection, call));
  });
  return {
    calls: replies.calls,
    redirect(resolved) {
      const scripted = Object.entries(resolved.connections).map(([name, connection]) => {
        const stands = connection.type === 'http' && Object.hasOwn(scripts, name);
        return [name, stands ? { ...connection, baseUrl: moved(connection, server.baseUrl(name)) } : connection];
      });
      return { ...resolved, connections: Object.fromEntries(scripted) as typeof resolved.connections };
    },
    close: () => server.close(),
  };
}

/** A user in the address goes along, since calls show it as a header. */
function moved({ baseUrl }: Extract<ConnectionConfig, { type: 'http' }>, to: string): string {
  const { username, password } = new URL(baseUrl);
  return Object.assign(new URL(to), { username, password }).href;
}

/** What a script says, as an answer. */
export async function sendReply(response: ServerResponse, reply: HttpReply): Promise<void> {
  if (reply instanceof Error) {
    response.destroy(reply);
    return;
  }
  const answer = reply instanceof Response ? reply : Response.json(reply);
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(body);
}
