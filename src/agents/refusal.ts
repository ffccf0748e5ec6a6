import { GraphsteadError, LONGEST_TIMER } from '../base/index.js';
import type { AgentFilter, AgentStatus, AgentType, DeadLetterPage, HistoryPage } from './info.js';

// What callers of agents are told in more than one place.

export function unknownAgent(id: string): GraphsteadError {
  return new GraphsteadError('AGENT_UNKNOWN', `there is no agent "${id}"`, {
    fix: 'give the id that starting it returned; one that a turn or a transaction starts exists once that is over, in a turn also behind await this.checkpoint()',
    details: { agentId: id },
  });
}

/** Whoever knows the operations of one class reaches no agent of another by them. */
export function ofOtherType(id: string, type: string): GraphsteadError {
  return new GraphsteadError('AGENT_UNKNOWN', `there is no ${type} "${id}"`, {
    fix: `give the id that starting a ${type} returned`,
    details: { agentId: id },
  });
}

export function terminated(id: string): GraphsteadError {
  return new GraphsteadError('AGENT_TERMINATED', `agent "${id}" was stopped and is no longer available`, {
    fix: 'start another one; agents.start with the key that it had begins it anew',
    details: { agentId: id },
  });
}

/** Stops go out last, and end what is started with them: the key would lead to an agent that is about to end. */
export function stoppedWithIt(id: string): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', `agent "${id}" is started where it has just been stopped`, {
    fix: 'start it later, once agents.info tells that it is terminated (agents.stop in a function, outside of graph.transaction, waits for that); or do not stop it, and send a message by which it begins anew',
    details: { agentId: id },
  });
}

/** Throws INVALID_REQUEST for one that is to be started by whom it was stopped by, where that has not come about. */
export function assertOver(id: string, head: { readonly status: string } | undefined): void {
  if (head !== undefined && head.status !== 'terminated') throw stoppedWithIt(id);
}

/** It was this agent, and none that its handler met. */
export function isTerminated(error: unknown, id: string): boolean {
  return error instanceof GraphsteadError && error.code === 'AGENT_TERMINATED' && error.details?.['agentId'] === id;
}

export function mailboxFull(id: string, waiting: number): GraphsteadError {
  return new GraphsteadError('MAILBOX_FULL', `the mailbox of agent "${id}" is full: ${waiting} messages wait`, {
    fix: 'send more slowly, or raise limits.mailboxMessages',
    details: { agentId: id },
  });
}

export function noLetter(id: string, letter: string): GraphsteadError {
  return new GraphsteadError('NOT_FOUND', `agent "${id}" has no dead letter ${letter}`, {
    fix: 'agents.deadLetters lists the ones that there are',
    details: { agentId: id },
  });
}

const STATUSES: readonly AgentStatus[] = [
  'starting',
  'running',
  'suspending',
  'suspended',
  'resuming',
  'stopping',
  'terminated',
];
/** agents in one page of a list */
const PAGE = 1_000;

/** Throws INVALID_VALUE: what app code asks a list of agents by is text and numbers to us. */
export function assertFilter({ status, first, after, name }: AgentFilter): void {
  for (const [what, text] of Object.entries({ after, name })) {
    if (text === undefined || typeof text === 'string') continue;
    throw new GraphsteadError('INVALID_VALUE', `${what} of a list of agents is text, got ${String(text)}`, {
      fix: what === 'after' ? 'give the id of the last agent of the page before, or none' : 'name a type, or none',
    });
  }
  if (status !== undefined && !STATUSES.includes(status)) {
    throw new GraphsteadError('INVALID_VALUE', `"${String(status)}" is no status of an agent`, {
      fix: `one of ${STATUSES.join(', ')}`,
    });
  }
  if (first === undefined || (Number.isInteger(first) && first >= 1 && first <= PAGE)) return;
  throw new GraphsteadError('INVALID_VALUE', `a list of agents cannot begin with ${String(first)} of them`, {
    fix: `first is 1 to ${PAGE}; after names the last one of the page before`,
  });
}

/** states in one page of a history */
const STATES = 100;

/** Throws INVALID_VALUE. */
export function assertPage({ limit, before }: HistoryPage): void {
  const wrong = (what: string, value: unknown, fix: string) =>
    new GraphsteadError('INVALID_VALUE', `a history cannot ${what} ${String(value)}`, { fix });
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= STATES)) {
    throw wrong('begin with so many states:', limit, `limit is 1 to ${STATES}; before names the turn to go on from`);
  }
  if (before === undefined || (Number.isSafeInteger(before) && before >= 0)) return;
  throw wrong('end before turn', before, 'before is the turn of the last state of the page before');
}

/** of a dead letter, as it is shown */
export const LETTER_ID = /^[1-9]\d{0,14}$/;
/** dead letters in one page */
const LETTERS = 1_000;

/** Throws INVALID_VALUE. */
export function assertLetterPage({ first, after }: DeadLetterPage): void {
  if (first !== undefined && !(Number.isInteger(first) && first >= 1 && first <= LETTERS)) {
    throw new GraphsteadError('INVALID_VALUE', `a list of dead letters cannot begin with ${String(first)} of them`, {
      fix: `first is 1 to ${LETTERS}; after names the last one of the page before`,
    });
  }
  if (after === undefined || (typeof after === 'string' && LETTER_ID.test(after))) return;
  throw new GraphsteadError('INVALID_VALUE', `"${String(after).slice(0, 100)}" is no id of a dead letter`, {
    fix: 'after is the id of the last one of the page before',
  });
}

/** Throws MESSAGE_UNKNOWN. */
export function assertMessage(name: unknown, agentId: string): void {
  if (typeof name === 'string' && name !== '') return;
  throw new GraphsteadError('MESSAGE_UNKNOWN', `the message to agent "${agentId}" has no name`, {
    fix: 'name one of the messages that the agent handles',
    details: { agentId },
  });
}

/** Throws AGENT_ID_MISSING. */
export function assertId(id: unknown): void {
  if (typeof id === 'string' && id !== '') return;
  throw new GraphsteadError('AGENT_ID_MISSING', 'an agent id is missing', {
    fix: 'give the id that starting the agent returned',
  });
}

/** characters of an agent's key */
const LONGEST_KEY = 512;

/** Throws INVALID_VALUE. */
export function assertKey(key: unknown): void {
  if (typeof key === 'string' && key !== '' && key.length <= LONGEST_KEY) return;
  throw new GraphsteadError('INVALID_VALUE', `the key of an agent is a text of 1 to ${LONGEST_KEY} characters`, {
    fix: "give one that names what the agent is for, as in key: 'order 17'",
  });
}

/** Throws INVALID_REQUEST: what a commit takes along is part of it, which no key could keep from landing again in another. */
export function assertUnkeyed(what: string, { idempotencyKey }: { idempotencyKey?: unknown }, where: string): void {
  if (idempotencyKey === undefined) return;
  throw new GraphsteadError('INVALID_REQUEST', `an idempotencyKey of ${what} in ${where}`, {
    fix: 'leave it out: it lands once, with its commit. What several must do once, keep in the state or the graph; one agent for all of them has a `key`',
  });
}

/** What takes effect before a transaction has landed, and again with each of its runs, is no part of it. */
export function notInTransaction(what: string): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', `${what} in a graph.transaction, which may run again or not land`, {
    fix: 'do it behind the transaction, or leave a message there with sendMessageAsync: it lands with it. Read-only messages may be asked',
  });
}

/** Throws INVALID_VALUE. */
export function assertOptions({ timeout, idempotencyKey }: { timeout?: unknown; idempotencyKey?: unknown }): void {
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0 && timeout <= LONGEST_TIMER)) {
    throw new GraphsteadError('INVALID_VALUE', `nobody can wait ${String(timeout)} milliseconds for an answer`, {
      fix: `give a timeout above 0 and up to ${LONGEST_TIMER}, or none`,
    });
  }
  if (idempotencyKey !== undefined && (typeof idempotencyKey !== 'string' || idempotencyKey === '')) {
    throw new GraphsteadError('INVALID_VALUE', 'an idempotency key is a text that is not empty', {
      fix: 'give one that names this message, or none',
    });
  }
}

/** What a request by GET leads to must change nothing; nor must what a read-only handler calls, or a guard. */
export function mayOnlyRead(what: string, fix = ''): GraphsteadError {
  const why = 'it was called by GET, by a read-only handler or as mayListen';
  return new GraphsteadError('METHOD_NOT_ALLOWED', `${what} in a function that may only read: ${why}`, {
    fix: `send what came by GET by POST, or mark its function with @mutation; the other two change nothing${fix}`,
  });
}

export function closing(): GraphsteadError {
  return new GraphsteadError('NOT_READY', 'the service is closing', { fix: 'ask again once it has started' });
}

/** Agents by themselves: a service has always one. */
export function noGraph(): GraphsteadError {
  return new GraphsteadError('NOT_READY', 'this service has no graph', { fix: 'give these agents a graph' });
}

/** Throws AGENT_TYPE_UNKNOWN where the loaded app registers no class of this name. */
export function assertType(app: { readonly agentTypes: readonly AgentType[] } | undefined, name: string): void {
  const known = app?.agentTypes.map((type) => type.name) ?? [];
  if (!known.includes(name)) throw unknownType(name, known);
}

/** No handler ran: there is no app, or none of its classes is the agent's. */
export function isWithoutClass(
  app: { readonly agentTypes: readonly AgentType[] } | undefined,
  type: string | undefined,
  { code }: GraphsteadError,
): boolean {
  if (app === undefined) return code === 'NOT_READY';
  return code === 'AGENT_TYPE_UNKNOWN' && !app.agentTypes.some(({ name }) => name === type);
}

export function unknownType(name: string, known: readonly string[]): GraphsteadError {
  return new GraphsteadError('AGENT_TYPE_UNKNOWN', `unknown agent type "${name}"`, { fix: registerIt(known) });
}

/** What to do about an agent type that nobody knows. */
export function registerIt(known: readonly string[]): string {
  const registered = known.length === 0 ? 'no type is registered' : `registered types: ${[...known].sort().join(', ')}`;
  return `${registered}; agents.register(Class), in the file of the class, adds one by its static agentName, or else by the class's own name`;
}
