// What is said to chat models and what they answer, as OpenAI-compatible servers shape it.

/** A message from a model, or to it. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly name?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly ToolCall[];
}

/** A message to a model: like one from it, or in parts. */
export interface SentMessage extends Omit<ChatMessage, 'role' | 'content'> {
  readonly role: ChatMessage['role'] | 'developer';
  readonly content: string | readonly ContentPart[] | null;
}

/** A text, an image, a sound or a document; `url` may be `data:image/png;base64,...`. Which of them a model takes is for it to say. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: 'file'; readonly file: { readonly [field: string]: string } };

/** A call that a model asks for: the reply to it is a message of the role `tool`. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A function that a model may ask to be called; `parameters` is a JSON Schema. */
export interface Tool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description?: string; readonly parameters?: unknown };
}

/** What `chat` may be told beside the messages. */
export interface ChatOptions {
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly tools?: readonly Tool[];
  readonly toolChoice?:
    | 'auto'
    | 'none'
    | 'required'
    | { readonly type: 'function'; readonly function: { readonly name: string } };
  /** JSON Schema that the reply's text must follow */
  readonly jsonSchema?: { readonly name: string; readonly schema: unknown };
  /**
   * Fields of the request that have no name here, as the model's server calls them: `{ top_p: 0.9, stop: ['END'],
   * max_completion_tokens: 500 }`. What has a name here wins, and so do `model`, `messages` and `stream`.
   */
  readonly body?: Readonly<Record<string, unknown>>;
  /**
   * Called with each piece of the reply's text as the model makes it, and awaited; the whole reply, tool calls too, comes in the
   * end all the same. A reply that an earlier run of the turn had got comes in one piece.
   */
  readonly onText?: (piece: string) => void | Promise<void>;
  readonly signal?: AbortSignal;
  /** sent as Idempotency-Key: a turn that runs again sends the same one */
  readonly idempotencyKey?: string;
}

/** The reply as OpenAI-compatible servers shape it. */
export interface ChatReply {
  readonly choices: readonly { readonly message: ChatMessage; readonly finish_reason?: string }[];
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number };
}
