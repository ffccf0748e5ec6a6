import type { GraphsteadError } from '../base/index.js';
import type { ChatReply } from './chat.js';

/** What one event of a streamed reply brings: text, the tokens of the whole call, both or neither. */
interface ChatPiece {
  readonly text?: string;
  readonly usage?: ChatReply['usage'];
  /** the reply is said: usage may follow */
  readonly said?: boolean;
}

/** @param message what went wrong, to which the model's name is added */
export type Fail = (message: string, told?: { readonly remoteStatus: number }) => GraphsteadError;

const MAX_LINE = 1024 * 1024;

/**
 * The pieces of a reply that OpenAI-compatible servers stream as server-sent events, up to `[DONE]`.
 * Throws what `fail` makes for data that is no JSON, an error that the server tells in the middle, an endless line, or a
 * stream that ends before the reply does: half a reply must not be taken for all of it.
 */
export async function* readChatStream(body: AsyncIterable<Uint8Array>, fail: Fail): AsyncIterable<ChatPiece> {
  let said = false;
  for await (const data of eventData(body, fail)) {
    if (data === '[DONE]') return;
    const piece = pieceOf(data, fail);
    said ||= piece.said === true;
    yield piece;
  }
  if (!said) throw fail('the stream ended before the reply did: no finish_reason and no [DONE] came');
}

function pieceOf(data: string, fail: Fail): ChatPiece {
  let chunk: StreamedChunk | null;
  try {
    chunk = JSON.parse(data) as StreamedChunk | null;
  } catch {
    throw fail('a streamed piece is not JSON');
  }
  // some servers say with each piece that there is none
  const error = chunk?.error ?? undefined;
  if (error !== undefined) throw fail(`the stream ended with an error: ${JSON.stringify(error)}`);
  const [first] = chunk?.choices ?? [];
  return {
    text: first?.delta?.content ?? undefined,
    usage: chunk?.usage ?? undefined,
    said: typeof first?.finish_reason === 'string',
  };
}

interface StreamedChunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: ChatReply['usage'] | null;
  readonly error?: unknown;
}

/** The `data:` lines of a server-sent-event body. Throws what `fail` makes for an endless line. */
export async function* eventData(body: AsyncIterable<Uint8Array>, fail: Fail): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of body) {
    rest += decoder.decode(part, { stream: true });
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw fail(`a line of the stream is longer than ${MAX_LINE} characters`);
    for (const line of lines) if (line.startsWith('data:')) yield line.slice(5).trim();
  }
  if (rest.startsWith('data:')) yield rest.slice(5).trim();
}
