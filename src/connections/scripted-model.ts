import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChatMessage, ChatReply } from './chat.js';
import type { ResolvedConnections } from './resolve.js';

/** What a scripted model answers: its text, a whole message (with tool calls, say), or an error. */
export type ScriptedReply = string | ChatMessage | Error;

/** Replies one after the other, or a function of what was asked. */
export type ModelScript = readonly ScriptedReply[] | ((call: ModelCall) => ScriptedReply | Promise<ScriptedReply>);

/** One call that reached a scripted model. */
export interface ModelCall {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** the request as it was sent */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Models that answer from scripts, over HTTP on a free port of this machine, as a provider would. */
export interface ScriptedModels {
  /** all calls so far, oldest first */
  readonly calls: readonly ModelCall[];
  /** The same connections, with the scripted models behind addresses of their own. */
  redirect(resolved: ResolvedConnections): ResolvedConnections;
  close(): Promise<void>;
}

/** @param scripts by model name */
export async function openScriptedModels(scripts: Readonly<Record<string, ModelScript>>): Promise<ScriptedModels> {
  const calls: ModelCall[] = [];
  const counts = new Map<string, number>();

  async function replyTo(call: ModelCall): Promise<ScriptedReply> {
    const script = scripts[call.model];
    if (typeof script === 'function') return script(call);
    const index = counts.get(call.model) ?? 0;
    counts.set(call.model, index + 1);
    return script[index] ?? new Error(`the script of model "${call.model}" has ${script.length} replies, no more`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const model = decodeURIComponent((request.url ?? '').split('/')[1]);
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    const call: ModelCall = { model, messages: (body['messages'] ?? []) as readonly ChatMessage[], body };
    calls.push(call);
    const reply = await replyTo(call).catch((error: unknown) => error as Error);
    if (reply instanceof Error) response.writeHead(500).end(reply.message);
    else if (body['stream'] === true) sendPieces(response, reply);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole(reply)));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    calls,
    redirect(resolved) {
      const connections = { ...resolved.connections };
      const models = { ...resolved.models };
      for (const name of Object.keys(scripts)) {
        if (models[name] === undefined) continue;
        const connection = `scripted-${name}`;
        const baseUrl = `http://127.0.0.1:${port}/${encodeURIComponent(name)}/`;
        connections[connection] = { type: 'http', baseUrl };
        models[name] = { ...models[name], connection };
      }
      return { ...resolved, connections, models };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function whole(reply: string | ChatMessage): ChatReply {
  const message: ChatMessage = typeof reply === 'string' ? { role: 'assistant', content: reply } : reply;
  return { choices: [{ message, finish_reason: 'stop' }], usage: { prompt_tokens: 0, completion_tokens: 0 } };
}

/** The text word by word, as providers stream it. */
function sendPieces(response: ServerResponse, reply: string | ChatMessage): void {
  const text = typeof reply === 'string' ? reply : (reply.content ?? '');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of text.match(/\s*\S+|\s+$/g) ?? []) {
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}
