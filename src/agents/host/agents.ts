import { givenOptions, assertCallable, GraphsteadError } from '../../base/index.js';
import { derivedAgentId, freshAgentId, keyedAgentId } from '../agent-id.js';
import type { AgentFilter, AgentInfo, Alarm, DeadLetter, DeadLetterPage, HistoryPage, PastState } from '../info.js';
import { assertId, assertKey, assertMessage, assertOptions, assertUnkeyed, notInTransaction } from '../refusal.js';
import type { AgentClass } from './agent.js';
import { typedValue } from '../typed-reply.js';
import { argumentsText } from './json-text.js';
import { nameOf, register, typeOf, wantedName } from './registry.js';
import { around, withTransaction } from './standing.js';
import { requireTask, type Task } from './task.js';
import type { TurnScope } from './turn-scope.js';

/** What `sendMessage` may be told. */
export interface MessageOptions {
  /** milliseconds until the sender gives up; default limits.messageMs */
  readonly timeout?: number;
  /** the same key gives the first reply again */
  readonly idempotencyKey?: string;
}

/** What `agents.start` may be told. */
export interface StartOptions {
  /** the same key gives the first agent again, for `limits.idempotencyHours`. Not in a turn, whose starts land once with it */
  readonly idempotencyKey?: string;
  /** names the one agent of its type that has it. 1 to 512 characters */
  readonly key?: string;
}

/** What start gives. */
export interface Started {
  readonly id: string;
  readonly name: string;
}

type Sendable<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;
type Postable<F> = F extends (...args: infer A) => unknown ? (...args: A) => Promise<void> : never;
type HandlerNames<C> = C extends { readonly handlers: readonly (infer N)[] } ? N : never;

/** A typed sender: the methods listed in the class's `static handlers` (declare them `as const`). */
export type AgentRef<C extends AgentClass> = {
  readonly [N in HandlerNames<C> & keyof InstanceType<C>]: Sendable<InstanceType<C>[N]>;
} & { readonly id: string };

/** The same for background work: each call resolves as `sendMessageAsync` does, whatever the handler gives. */
export type AgentRefAsync<C extends AgentClass> = {
  readonly [N in HandlerNames<C> & keyof InstanceType<C>]: Postable<InstanceType<C>[N]>;
} & { readonly id: string };

/** The agents of this service, as app code reaches them. */
export const agents = {
  /** Makes a class startable by its name; call it at the top level of a module. */
  register(...types: AgentClass[]): void {
    for (const type of types) register(type);
  },

  /**
   * Starts an agent. In a function it is durable when this resolves; in a turn, and in a function's `graph.transaction`, it starts
   * with that commit. With a `key` it is the one agent of its type and key: one that was started is given again, and where it was
   * stopped it begins anew under its id.
   */
  async start(type: string | AgentClass, options: StartOptions = {}): Promise<Started> {
    const name = wantedName(type);
    typeOf(name);
    const asked = givenOptions('agents.start', options, "{ key: 'order 17' }");
    assertOptions(asked);
    const { key } = asked;
    if (key !== undefined) assertKey(key);
    const task = requireTask('agents.start');
    if (task.turn === undefined) {
      const given = withTransaction(task, asked);
      if (given.transaction !== undefined) assertUnkeyed('agents.start', asked, 'a graph.transaction');
      return (await task.call('start', [name, given])) as Started;
    }
    task.assertOpen('agents.start');
    task.turn.assertWrites('agents.start');
    assertUnkeyed('agents.start', asked, 'a turn of an agent');
    if (key === undefined) {
      const id = childId(task, task.turn, name);
      task.turn.start({ id, type: name });
      return { id, name };
    }
    const id = keyedAgentId(name, key);
    // where one with this key was stopped, what it left makes room
    await task.call('keyed', [id, task.turn.hasStopped(id)]);
    task.turn.start({ id, type: name, key });
    return { id, name };
  },

  /** The id that `agents.start` gives for this type and key, whether or not it was started. */
  idOf(type: string | AgentClass, key: string): string {
    const name = wantedName(type);
    typeOf(name);
    assertKey(key);
    return keyedAgentId(name, key);
  },

  /** Stops an agent for good, also a suspended one. In a turn, and in a function's `graph.transaction`, it stops after that commit. */
  async stop(id: string): Promise<void> {
    const task = requireTask('agents.stop');
    task.assertOpen('agents.stop');
    assertId(id);
    if (task.turn === undefined) {
      await task.call('stop', [id, withTransaction(task, {})]);
      return;
    }
    task.turn.assertWrites('agents.stop');
    task.turn.stop(id);
  },

  /** Throws AGENT_UNKNOWN. */
  async info(id: string): Promise<AgentInfo> {
    assertId(id);
    return (await requireTask('agents.info').call('info', [id])) as AgentInfo;
  },

  /** A page of agents, stopped ones too, always in the same order. */
  async list(filter: AgentFilter = {}): Promise<AgentInfo[]> {
    const asked = givenOptions('agents.list', filter, "{ status: 'running' }");
    return (await requireTask('agents.list').call('list', [asked])) as AgentInfo[];
  },

  /**
   * Waits for the handler's reply; null when it gave none. What the handler throws is thrown here. Its effects
   * are durable before this resolves, whatever becomes of the caller: a function's `graph.transaction`, which may run again, sends
   * none but read-only ones (INVALID_REQUEST).
   */
  async sendMessage(
    id: string,
    name: string,
    data?: string | null,
    options: MessageOptions = {},
  ): Promise<string | null> {
    const task = requireTask('agents.sendMessage');
    const reply = await sendMessage(task, id, name, data, options, false);
    return reply ?? null;
  },

  /** Leaves the message for background work; in a turn, and in a function's `graph.transaction`, it goes out with that commit. */
  async sendMessageAsync(id: string, name: string, data?: string | null, options: MessageOptions = {}): Promise<void> {
    await postMessage(requireTask('agents.sendMessageAsync'), id, name, data, options, false);
  },

  /** A typed sender for one agent; the options go with each of its messages. */
  ref<C extends AgentClass>(type: C, id: string, options: MessageOptions = {}): AgentRef<C> {
    return senderOf('agents.ref', type, id, async (task, name, args) => {
      const reply = await sendMessage(task, id, name, args, options, true);
      return reply === undefined ? undefined : typedValue(nameOf(type), name, reply);
    }) as AgentRef<C>;
  },

  /** A typed sender for background work. */
  refAsync<C extends AgentClass>(type: C, id: string, options: MessageOptions = {}): AgentRefAsync<C> {
    const post: Sender = (task, name, args) => postMessage(task, id, name, args, options, true);
    return senderOf('agents.refAsync', type, id, post) as AgentRefAsync<C>;
  },

  /**
   * The states that the agent's turns have left, newest first, the current one among them: those that its class keeps
   * (`static history`), none of a stopped agent. Throws AGENT_UNKNOWN, INVALID_VALUE.
   */
  async history(id: string, page: HistoryPage = {}): Promise<PastState[]> {
    assertId(id);
    const asked = givenOptions('agents.history', page, '{ limit: 10 }');
    return (await requireTask('agents.history').call('history', [id, asked])) as PastState[];
  },

  /**
   * The alarms that are set, soonest first; none of a stopped agent. In a turn of that agent they are as the turn has set them by
   * now. Throws AGENT_UNKNOWN.
   */
  async alarms(id: string): Promise<Alarm[]> {
    assertId(id);
    const task = requireTask('agents.alarms');
    const stored = (await task.call('alarms', [id])) as Alarm[];
    return task.turn?.agentId === id ? task.turn.alarmsOver(stored) : stored;
  },

  /** Messages that failed for good, oldest first. Throws AGENT_UNKNOWN, INVALID_VALUE. */
  async deadLetters(id: string, page: DeadLetterPage = {}): Promise<DeadLetter[]> {
    assertId(id);
    const asked = givenOptions('agents.deadLetters', page, '{ first: 10 }');
    return (await requireTask('agents.deadLetters').call('deadLetters', [id, asked])) as DeadLetter[];
  },

  /** Delivers a dead letter anew. */
  async replay(id: string, deadLetterId: string): Promise<void> {
    const task = requireTask('agents.replay');
    assertId(id);
    task.turn?.assertWrites('agents.replay');
    if (task.turn === undefined && around() !== undefined) throw notInTransaction('agents.replay');
    await task.call('replay', [id, deadLetterId]);
  },
};

/** Sends one message; `args` is the JSON array of its arguments. */
type Sender = (task: Task, name: string, args: string) => Promise<unknown>;

function senderOf(call: string, type: AgentClass, id: string, send: Sender): object {
  assertCallable(call, type, `${call}(Counter, id), with the class of the agent`, 'a class');
  const methods = (type.handlers ?? []).map((name) => {
    // awaited: what it throws names the line of the app that called it
    const method = async (...args: unknown[]) =>
      await send(requireTask(`a message to ${nameOf(type)}`), name, argumentsText(name, args));
    return [name, method] as const;
  });
  return { id, ...Object.fromEntries(methods) };
}

/** What the main process takes for a message: the text stands last, where there is one. */
function sendArgs(id: string, name: string, text: string | undefined, options: object): readonly unknown[] {
  return text === undefined ? [id, name, options] : [id, name, options, text];
}

async function sendMessage(
  task: Task,
  id: string,
  name: string,
  data: string | null | undefined,
  given: MessageOptions | null,
  typed: boolean,
): Promise<string | undefined> {
  assertId(id);
  assertMessage(name, id);
  const options = givenOptions('a message', given, '{ timeout: 5_000 }');
  assertOptions(options);
  task.turn?.assertWrites('agents.sendMessage');
  const args = sendArgs(id, name, textOf(data), withTransaction(task, typed ? { ...options, typed } : options));
  return (await task.call('send', args)) as string | undefined;
}

async function postMessage(
  task: Task,
  id: string,
  name: string,
  data: string | null | undefined,
  asked: MessageOptions | null,
  typed: boolean,
): Promise<void> {
  task.assertOpen('agents.sendMessageAsync');
  assertId(id);
  assertMessage(name, id);
  const options = givenOptions('a message', asked, "{ idempotencyKey: 'order 17' }");
  assertOptions(options);
  if (task.turn !== undefined) assertUnkeyed('agents.sendMessageAsync', options, 'a turn of an agent');
  const text = textOf(data);
  const marked = typed ? { typed } : {};
  if (task.turn === undefined) {
    const given = withTransaction(task, { ...options, ...marked });
    if (given.transaction !== undefined) assertUnkeyed('agents.sendMessageAsync', options, 'a graph.transaction');
    await task.call('sendAsync', sendArgs(id, name, text, given));
    return;
  }
  task.turn.assertWrites('agents.sendMessageAsync');
  task.turn.send({ to: id, name, data: text, ...marked });
}

function textOf(data: unknown): string | undefined {
  if (data === undefined || data === null) return undefined;
  if (typeof data === 'string') return data;
  throw new GraphsteadError('INVALID_VALUE', `a message's data is text, got ${typeof data}`, {
    fix: 'send JSON.stringify(value)',
  });
}

/**
 * The same for every run of the same message, so that others are told the same id in each. A run behind a checkpoint goes on
 * with the places behind it: what it starts is not what was started before.
 */
function childId(task: Task, turn: TurnScope, type: string): string {
  const message = turn.message?.id;
  if (message === undefined) return freshAgentId();
  return derivedAgentId(`${turn.agentId} ${message} ${task.ordinal()} ${type}`);
}
