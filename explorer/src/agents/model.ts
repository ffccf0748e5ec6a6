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
export const send = (id: string, message: string, data: string | undefined, background: boolean) =>
  post<{ reply?: string | null; ms?: number; id?: string }>(path(id, '/send'), { message, data, background });
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
