import type { GraphsteadError } from '../base/index.js';
import type { ChatReply, ToolCall } from './chat.js';

/** What one event of a streamed reply brings: text, parts of tool calls, the tokens of the whole call, or nothing. */
interface ChatPiece {
  readonly text?: string;
  readonly tools?: readonly ToolPart[];
  readonly usage?: ChatReply['usage'];
  /** the reply is said: usage may follow */
  readonly finish?: string;
}

/** Part of a tool call. Which one: its place, where it is told, or else the last; another id begins another. Some servers write null for what they leave out. */
interface ToolPart {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: string | null } | null;
}

/** @param message what went wrong, to which the model's name is added */
export type Fail = (message: string, fix: string, told?: { readonly remoteStatus: number }) => GraphsteadError;

const NO_STREAM =
  'see that its path in app.json, below the baseUrl of its connection, is that of chat completions, and that they stream there';

/** What to do about a reply of which only a part came. */
export const ASK_AGAIN = 'ask again; look at the log of its server where it goes on';

const MAX_LINE = 1024 * 1024;

/**
 * The pieces of a reply that OpenAI-compatible servers stream as server-sent events, up to `[DONE]`.
 * Throws what `fail` makes for a body that is no such stream, data that is no JSON, an error that the server tells in the middle, an
 * endless line, or a stream that ends before the reply does: half a reply must not be taken for all of it.
 */
export async function* readChatStream(body: AsyncIterable<Uint8Array>, fail: Fail): AsyncIterable<ChatPiece> {
  const began: Began = { text: '' };
  let said = false;
  let streams = false;
  for await (const data of eventData(noting(body, began), fail)) {
    streams = true;
    if (data === '[DONE]') return;
    const piece = pieceOf(data, fail);
    said ||= piece.finish !== undefined;
    yield piece;
  }
  if (!streams) throw fail(`a stream of events was asked for, and what came back was ${shown(began)}`, NO_STREAM);
  if (!said) throw fail('the stream ended before the reply did: no finish_reason and no [DONE] came', ASK_AGAIN);
}

/** How a body begins: some servers answer a whole reply, or a page, whatever they are asked for. */
interface Began {
  text: string;
}

/** characters of it that are kept: many more than an error shows, so that no half of a hidden value stands where it is cut */
const BEGAN = 8 * 1024;

async function* noting(body: AsyncIterable<Uint8Array>, began: Began): AsyncIterable<Uint8Array> {
  const decoder = new TextDecoder();
  for await (const part of body) {
    if (began.text.length < BEGAN) began.text += decoder.decode(part.subarray(0, BEGAN), { stream: true });
    yield part;
  }
}

function shown({ text }: Began): string {
  return text === '' ? 'nothing' : `text: ${text}`;
}

function pieceOf(data: string, fail: Fail): ChatPiece {
  let chunk: StreamedChunk | null;
  try {
    chunk = JSON.parse(data) as StreamedChunk | null;
  } catch {
    throw fail('a streamed piece is not JSON', NO_STREAM);
  }
  // some servers say with each piece that there is none
  const error = chunk?.error ?? undefined;
  if (error !== undefined) throw fail(`the stream ended with an error: ${JSON.stringify(error)}`, ASK_AGAIN);
  const [first] = chunk?.choices ?? [];
  return {
    text: first?.delta?.content ?? undefined,
    tools: first?.delta?.tool_calls ?? undefined,
    usage: chunk?.usage ?? undefined,
    finish: first?.finish_reason ?? undefined,
  };
}

interface StreamedChunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly tool_calls?: readonly ToolPart[] | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: ChatReply['usage'] | null;
  readonly error?: unknown;
}

/** A streamed reply as it grows: what it would be if it came whole. */
export class GrowingReply {
  #text = '';
  readonly #tools: { index?: number; id: string; name: string; arguments: string }[] = [];
  #finish: string | undefined;
  #usage: ChatReply['usage'];

  add({ text, tools, usage, finish }: ChatPiece): void {
    this.#text += text ?? '';
    for (const part of tools ?? []) this.#addTool(part);
    this.#usage = usage ?? this.#usage;
    this.#finish = finish ?? this.#finish;
  }

  get reply(): ChatReply {
    const calls = this.#tools.map(
      ({ id, name, arguments: args }): ToolCall => ({ id, type: 'function', function: { name, arguments: args } }),
    );
    const content = this.#text === '' && calls.length > 0 ? null : this.#text;
    const message = { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) } as const;
    return {
      choices: [{ message, ...(this.#finish === undefined ? {} : { finish_reason: this.#finish }) }],
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
    };
  }

  #addTool({ index: place, id: told, function: part }: ToolPart): void {
    const index = place ?? undefined;
    const id = told ?? '';
    const known = this.#tools.findLast((tool) => index === undefined || tool.index === index);
    const isNext = known === undefined || (id !== '' && known.id !== '' && id !== known.id);
    const tool = isNext ? { index, id, name: '', arguments: '' } : known;
    if (isNext) this.#tools.push(tool);
    tool.id ||= id;
    tool.name ||= part?.name ?? '';
    tool.arguments += part?.arguments ?? '';
  }
}

/** The `data:` lines of a server-sent-event body. Throws what `fail` makes for an endless line. */
export async function* eventData(body: AsyncIterable<Uint8Array>, fail: Fail): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of body) {
    rest += decoder.decode(part, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw fail(`a line of the stream is longer than ${MAX_LINE} characters`, NO_STREAM);
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
  }
  if (rest.startsWith('data:')) yield rest.slice(5).trim();
}
