import { ask, post } from '../http';

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly startedAt: string;
  readonly turns: number;
  readonly waiting: number;
  readonly deadLetters: number;
  readonly alarms: number;
}

export interface AgentType {
  readonly name: string;
  readonly version: number;
  readonly readOnly: readonly string[];
}

export interface PastState {
  readonly turn: number;
  readonly at: string;
  readonly kind: string;
  readonly name: string;
  readonly version: number;
  readonly state?: string;
}

export interface Alarm {
  readonly id: string;
  readonly name: string;
  readonly at: string;
  readonly data?: string;
  readonly every?: number;
  readonly attempts: number;
}

export interface Waiting {
  readonly name: string;
  readonly data?: string;
  readonly from: string;
  readonly attempts: number;
  readonly notBefore?: string;
}

export interface Letter {
  readonly id: string;
  readonly name: string;
  readonly data?: string;
  readonly from: string;
  readonly error: string;
  readonly attempts: number;
  readonly failedAt: string;
}

export interface Inspection {
  readonly info: Agent;
  readonly state?: string;
  readonly alarms: readonly Alarm[];
  readonly waiting: readonly Waiting[];
  readonly deadLetters: readonly Letter[];
  readonly beforeFirstEvent: string;
}

export interface AgentEvent {
  readonly id?: string;
  readonly name: string;
  readonly data: unknown;
  readonly timestamp: string;
}

const BASE = '/explorer/api/agents';
const path = (id: string, rest = '') => `${BASE}/${encodeURIComponent(id)}${rest}`;

/** One page, after the agent of an id; `next` is there when more follow. */
export const listAgents = (name: string, status: string, after: string) =>
  ask<{ agents: readonly Agent[]; types: readonly AgentType[]; next?: string }>(
    `${BASE}?${new URLSearchParams({ name, status, after })}`,
  );
export const startAgent = (name: string) => post<Agent>(BASE, { name });
export const inspect = (id: string) => ask<Inspection>(path(id));
/** A page of them, newest first: those before a turn. */
export const history = (id: string, before: string) =>
  ask<readonly PastState[]>(path(id, `/history?${new URLSearchParams({ before })}`));
export const stop = (id: string) => post<Agent>(path(id, '/stop'));
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
