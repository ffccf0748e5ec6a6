import { givenOptions, GraphsteadError, type Hide } from '../base/index.js';
import { type Body, REFUSAL_BYTES, textUpTo, upTo } from './body.js';
import type { ChatOptions, ChatReply, SentMessage } from './chat.js';
import { ASK_AGAIN, type Fail, GrowingReply, readChatStream } from './chat-stream.js';
import type { ModelConfig } from './config.js';
import type { BareHttp } from './http-connection.js';
import type { ModelUse } from './info.js';
import { recorded, recordedStream } from './record.js';
import { transcript } from './transcript.js';
import { fixOfStatus, tooLarge } from './told.js';

/** A chat model. Throws MODEL_FAILED naming it. */
export interface ChatModel {
  chat(messages: readonly SentMessage[], options?: ChatOptions): Promise<ChatReply>;
  /** One call with a system and a user message; the text is in `choices[0].message.content`. */
  ask(system: string, user: string, options?: ChatOptions): Promise<ChatReply>;
  /** Pieces of the reply's text as the model makes them. Throws where it wants a tool called: `chat` with `onText` gives both. */
  stream(messages: readonly SentMessage[], options?: ChatOptions): AsyncIterable<string>;
}

/** characters of a server's reason that an error shows; cut after values are hidden, or half of one would stay */
const MAX_REASON = 240;

export function openModel(
  name: string,
  config: ModelConfig,
  connection: BareHttp,
  hide: Hide,
  replyBytes: number,
): ChatModel {
  const fail: Fail = (message, fix, told) =>
    new GraphsteadError('MODEL_FAILED', `model "${name}": ${hide(message).slice(0, MAX_REASON)}`, {
      fix,
      details: { model: name, ...told },
    });

  const beyond = () => fail(`the reply is ${tooLarge(replyBytes)}`, 'ask for less with maxTokens, or raise the limit');

  const send = (body: object, options: ChatOptions) =>
    connection.bare(config.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(options.idempotencyKey ? { 'idempotency-key': options.idempotencyKey } : {}),
      },
      body: JSON.stringify(body),
      ...(options.signal ? { signal: options.signal } : {}),
    });

  async function post(body: object, options: ChatOptions): Promise<AsyncIterable<Uint8Array>> {
    const response = await send(body, options);
    const reply = named(response.body as Body, fail);
    if (response.ok) return upTo(reply, replyBytes, beyond);
    const { text } = await textUpTo(reply, REFUSAL_BYTES);
    // Some servers count tokens in every stream and refuse to be asked for it.
    if ('stream_options' in body && text.includes('stream_options')) {
      const { stream_options: _refused, ...accepted } = body;
      return post(accepted, options);
    }
    const { status } = response;
    throw fail(`status ${status}: ${text}`, fixOfStatus(status), { remoteStatus: status });
  }

  const call = { connection: config.connection, kind: 'model', what: name } as const;

  const whole = (messages: readonly SentMessage[], options: ChatOptions) =>
    recorded(call, async (note) => {
      note({ ...useOf(name, config, undefined), messages: transcript(messages) });
      const body = await post(requestBody(config, messages, options), options);
      const reply = parseReply((await textUpTo(body, replyBytes)).text, fail);
      note({ ...useOf(name, config, reply.usage), messages: transcript(messages, reply.choices[0].message) });
      return reply;
    });

  /** Pieces of text, while the reply grows. */
  const pieces = (messages: readonly SentMessage[], options: ChatOptions, growing: GrowingReply) =>
    recordedStream(call, async function* (note) {
      const streamed = { stream: true, stream_options: { include_usage: true } };
      const body = await post({ ...requestBody(config, messages, options), ...streamed }, options);
      try {
        for await (const piece of readChatStream(body, fail)) {
          growing.add(piece);
          if (piece.text) yield piece.text;
        }
      } finally {
        const { choices, usage } = growing.reply;
        note({ ...useOf(name, config, usage), messages: transcript(messages, choices[0].message) });
      }
    });

  const optionsOf = (given: ChatOptions | undefined): ChatOptions =>
    givenOptions(`model "${name}"`, given, '{ temperature: 0.2 }');

  async function chat(messages: readonly SentMessage[], given?: ChatOptions): Promise<ChatReply> {
    const options = optionsOf(given);
    const reply = await replyTo(messages, options);
    if (options.jsonSchema !== undefined) assertJson(reply, fail);
    return reply;
  }

  async function replyTo(messages: readonly SentMessage[], options: ChatOptions): Promise<ChatReply> {
    const { onText } = options;
    if (onText === undefined) return whole(messages, options);
    const growing = new GrowingReply();
    for await (const text of pieces(messages, options, growing)) await onText(text);
    return growing.reply;
  }

  return {
    chat,
    ask: (system, user, options) =>
      chat(
        [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        options,
      ),
    async *stream(messages, given) {
      const options = optionsOf(given);
      const growing = new GrowingReply();
      yield* pieces(messages, options, growing);
      if (options.jsonSchema !== undefined) assertJson(growing.reply, fail);
      const [tool] = growing.reply.choices[0].message.tool_calls ?? [];
      if (tool !== undefined) {
        throw fail(
          `it wants the tool "${tool.function.name}" called, and stream gives text only`,
          'use chat with onText',
        );
      }
    },
  };
}

function requestBody(config: ModelConfig, messages: readonly SentMessage[], options: ChatOptions): object {
  return {
    ...options.body,
    model: config.sourceModel,
    messages,
    stream: undefined, // whoever streams says so behind it
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.maxTokens === undefined ? {} : { max_tokens: options.maxTokens }),
    ...(options.tools ? { tools: options.tools } : {}),
    ...(options.toolChoice ? { tool_choice: options.toolChoice } : {}),
    ...(options.jsonSchema
      ? { response_format: { type: 'json_schema', json_schema: { ...options.jsonSchema, strict: true } } }
      : {}),
  };
}

/** A reply that breaks off is told by the model's name; one that comes too late has its connection's already. */
async function* named(body: Body, fail: Fail): AsyncIterable<Uint8Array> {
  try {
    if (body !== null) yield* body;
  } catch (error) {
    throw error instanceof GraphsteadError
      ? error
      : fail(`the reply broke off: ${(error as Error).message}`, ASK_AGAIN);
  }
}

const CHECK_PATH = 'check that the path of the model in app.json is where its server answers chat completions';

function parseReply(text: string, fail: Fail): ChatReply {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    throw fail('the reply is not JSON', CHECK_PATH);
  }
  const choices = (reply as { choices?: unknown } | null)?.choices;
  const first = Array.isArray(choices) ? (choices[0] as { message?: unknown } | null | undefined) : undefined;
  if (typeof first?.message !== 'object' || first.message === null) {
    throw fail('the reply has no choices[0].message', CHECK_PATH);
  }
  return reply as ChatReply;
}

/** Of a text that was cut off, or is none of JSON, the app's own JSON.parse would not say that a model made it. */
function assertJson({ choices: [{ message, finish_reason: end }] }: ChatReply, fail: Fail): void {
  const { content, tool_calls: tools = [] } = message;
  // one that refuses, or wants a tool called, has no text
  if (typeof content !== 'string' || tools.length > 0) return;
  try {
    JSON.parse(content);
  } catch {
    const [told, fix] = end === 'length' ? CUT_OFF : NO_JSON;
    throw fail(`${told}: ${content}`, fix);
  }
}

const CUT_OFF = ['the JSON that it was asked for is cut off', 'raise maxTokens, or ask for less'];
const NO_JSON = ['its reply is not the JSON that it was asked for', 'check that its server knows json_schema'];

function useOf(name: string, config: ModelConfig, usage: ChatReply['usage']): ModelUse {
  const inputTokens = usage?.prompt_tokens ?? 0;
  const outputTokens = usage?.completion_tokens ?? 0;
  const priced = config.inputPrice !== undefined || config.outputPrice !== undefined;
  const cost = (inputTokens * (config.inputPrice ?? 0) + outputTokens * (config.outputPrice ?? 0)) / 1e6;
  return { name, inputTokens, outputTokens, ...(priced ? { cost } : {}) };
}
