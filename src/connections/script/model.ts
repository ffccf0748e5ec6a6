import type { ServerResponse } from 'node:http';
import type { ChatMessage, ChatReply, SentMessage } from '../chat.js';
import { Replies, type Script, type Scripted } from './script.js';
import { openScriptedServer } from './server.js';

/** What a scripted model answers: its text, a whole message (with tool calls, say), or an error. */
export type ScriptedReply = string | ChatMessage | Error;

/** Replies one after the other, or a function of what was asked. */
export type ModelScript = Script<ModelCall, ScriptedReply>;

/** One call that reached a scripted model. */
export interface ModelCall {
  readonly model: string;
  readonly messages: readonly SentMessage[];
  /** the request as it was sent */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Models that answer from scripts, over HTTP as a provider would.
 * @param scripts by model name
 */
export async function openScriptedModels(scripts: Readonly<Record<string, ModelScript>>): Promise<Scripted<ModelCall>> {
  const replies = new Replies('model', scripts);
  const server = await openScriptedServer(async ({ name: model, body: text }, response) => {
    const body = JSON.parse(text) as Record<string, unknown>;
    const messages = (body['messages'] ?? []) as readonly SentMessage[];
    const reply = await replies.to(model, { model, messages, body });
    if (reply instanceof Error) response.writeHead(500).end(reply.message);
    else if (body['stream'] === true) sendPieces(response, reply);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole(reply)));
  });
  return {
    calls: replies.calls,
    redirect(resolved) {
      const connections = { ...resolved.connections };
      const models = { ...resolved.models };
      for (const name of Object.keys(scripts)) {
        if (models[name] === undefined) continue;
        const connection = `scripted-${name}`;
        connections[connection] = { type: 'http', baseUrl: server.baseUrl(name) };
        models[name] = { ...models[name], connection };
      }
      return { ...resolved, connections, models };
    },
    close: () => server.close(),
  };
}

function whole(reply: string | ChatMessage): ChatReply {
  const message: ChatMessage = typeof reply === 'string' ? { role: 'assistant', content: reply } : reply;
  return { choices: [{ message, finish_reason: 'stop' }], usage: { prompt_tokens: 0, completion_tokens: 0 } };
}

/** The text word by word, tool calls with their arguments in two halves, as providers stream them. */
function sendPieces(response: ServerResponse, reply: string | ChatMessage): void {
  const { content, tool_calls: calls = [] } = whole(reply).choices[0].message;
  const pieces: string[] = [];
  const send = (delta: object, finish_reason: string | null = null) =>
    pieces.push(`data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`);
  for (const word of (content ?? '').match(/\s*\S+|\s+$/g) ?? []) send({ content: word });
  for (const [index, { id, type, function: asked }] of calls.entries()) {
    const half = asked.arguments.length >> 1;
    const parts = [asked.arguments.slice(0, half), asked.arguments.slice(half)];
    send({ tool_calls: [{ index, id, type, function: { name: asked.name, arguments: parts[0] } }] });
    send({ tool_calls: [{ index, function: { arguments: parts[1] } }] });
  }
  send({}, calls.length > 0 ? 'tool_calls' : 'stop');
  // not before all are made: a script may give what is no message
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of pieces) response.write(piece);
  response.end('data: [DONE]\n\n');
}
