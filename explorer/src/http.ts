// Every request of the page goes through here: it carries the API key, and asks for one when the service wants it.

const KEY = 'graphstead.apiKey';

/** What the service refused, in its own words. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | undefined,
    readonly fix: string | undefined,
  ) {
    super(message);
  }
}

interface WireError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions?: { readonly code?: string; readonly fix?: string };
}

type Listener = () => void;
const keyWanted = new Set<Listener>();

/** Told when the service answers 401. Returns the way to stop. */
export function onKeyWanted(listener: Listener): () => void {
  keyWanted.add(listener);
  return () => keyWanted.delete(listener);
}

/** Kept for this tab only, so that it does not outlive the session on a shared machine. */
export function apiKey(): string {
  return sessionStorage.getItem(KEY) ?? '';
}

export function setApiKey(key: string): void {
  if (key === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

/** fetch with the key. Answers 401 are told to whoever asks for the key. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = apiKey();
  if (key !== '' && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal('the service does not answer', 0, undefined, 'Is it still running? The page retries by itself.');
  }
  if (response.status === 401) for (const listener of keyWanted) listener();
  return response;
}

/** A JSON answer; throws Refusal for anything else than success. */
export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await request(path, init);
  const text = await response.text();
  let body: unknown;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    throw new Refusal(text.slice(0, 300) || response.statusText, response.status, undefined, undefined);
  }
  const errors = (body as { errors?: readonly WireError[] } | null)?.errors;
  if (!response.ok || errors?.length) throw refusalOf(errors, response);
  return body as T;
}

export function post<T>(path: string, body: unknown = {}): Promise<T> {
  return ask<T>(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function refusalOf(errors: readonly WireError[] | undefined, response: Response): Refusal {
  const first = errors?.[0];
  const at = first?.locations?.[0];
  const place = at ? ` (line ${at.line}, column ${at.column})` : '';
  const message = errors?.map((error) => error.message).join('\n') || `the service answered ${response.status}`;
  return new Refusal(message + place, response.status, first?.extensions?.code, first?.extensions?.fix);
}
