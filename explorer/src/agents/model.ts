import type { AgentInfo, AgentInspection, AgentType, PastState } from '../../../src/agents/info';
import { ask, post } from '../http';

const BASE = '/explorer/api/agents';
const path = (id: string, rest = '') => `${BASE}/${encodeURIComponent(id)}${rest}`;

/** One page, after the agent of an id; `next` is there when more follow. */
export const listAgents = (name: string, status: string, after: string) =>
  ask<{ agents: readonly AgentInfo[]; types: readonly AgentType[]; next?: string }>(
    `${BASE}?${new URLSearchParams({ name, status, after })}`,
  );
export const startAgent = (name: string) => post<AgentInfo>(BASE, { name });
export const inspect = (id: string) => ask<AgentInspection>(path(id));
/** A page of them, newest first: those before a turn. */
export const history = (id: string, before: string) =>
  ask<readonly PastState[]>(path(id, `/history?${new URLSearchParams({ before })}`));
export const stop = (id: string) => post<AgentInfo>(path(id, '/stop'));
export const replay = (id: string, deadLetter: string) => post(path(id, '/replay'), { deadLetter });
/** What a message carries: text, or all arguments of a handler. */
export type Content = { readonly data?: string } | { readonly arguments: readonly unknown[] };
export const send = (id: string, message: string, content: Content, background: boolean) =>
  post<{ reply?: string | null; ms?: number; id?: string }>(path(id, '/send'), { message, ...content, background });

/** A list is all arguments of a handler; anything else is text, which a handler gets as its one argument. */
export function contentOf(text: string, isHandler: boolean): Content {
  if (text === '') return isHandler ? { arguments: [] } : {};
  if (!isHandler) return { data: text };
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? { arguments: value } : { data: text };
  } catch {
    return { data: text };
  }
}
export const eventsPath = (id: string, after: string | undefined, names: readonly string[]) =>
  path(id, `/events?${new URLSearchParams({ ...(after ? { after } : {}), names: names.join(',') })}`);

/** JSON laid out for reading; other text as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
