import { givenOptions, GraphsteadError } from '../../base/index.js';
import type { Alarm } from '../info.js';
import { isOwnEvent } from '../own-event.js';
import { calendarTimes, type Rounds } from '../rounds.js';
import type { Caller } from './caller.js';
import { toHandlerReply } from './handler.js';
import { eventText, stateFrom, stateText } from './json-text.js';
import { requireTask, type Task } from './task.js';
import type { TurnScope } from './turn-scope.js';

type MaybePromise<T> = T | Promise<T>;
/** What a message handler may give: text, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement is allowed
export type Reply = string | null | undefined | void;

/** An event value: its name; its other fields become the data. `toJSON` is honoured. */
export interface AgentEventValue {
  readonly eventName: string;
}

/** How `publishEvent` tells an event. */
export interface PublishOptions {
  /** goes out at once, is not stored, and carries no id: progress of a long turn */
  readonly live?: boolean;
}

/** What `setAlarm` may be told beside the time. */
export interface AlarmOptions {
  /** one alarm an id; setting it again moves it. Default: the alarm's name */
  readonly id?: string;
  /** name that onAlarm gets. Default "alarm" */
  readonly name?: string;
  readonly data?: string;
  /**
   * Milliseconds from one time to the next, at least `limits.alarmEveryMs`: it rings until it is taken back or moved, also
   * after a round that failed for good. Rounds that were missed ring once, and the next is where it would have been.
   */
  readonly every?: number;
  /** IANA name of the time zone whose clocks an expression of cron means, as in "Europe/Berlin". Default "UTC" */
  readonly zone?: string;
}

/** What the runtime knows of an instance; given before the constructor runs. */
export interface Identity {
  readonly id: string;
  readonly name: string;
  readonly key?: string;
  /** commits what is done so far */
  checkpoint(agent: Agent): Promise<void>;
}

let nextIdentity: Identity | undefined;
const identities = new WeakMap<object, Identity>();

/** Makes an instance that knows who it is already in its constructor. */
export function construct(type: AgentClass, identity: Identity): Agent {
  nextIdentity = identity;
  try {
    return new type();
  } finally {
    nextIdentity = undefined;
  }
}

/** A class that `agents.register` takes. */
export interface AgentClass<T extends Agent = Agent> {
  new (): T;
  /** the type's name; default: the class's name */
  readonly agentName?: string;
  /** version of the state's shape; default 1 */
  readonly version?: number;
  /** version -> how a state of the version before becomes one of it */
  readonly migrations?: Readonly<Record<number, (state: never) => unknown>>;
  /**
   * States kept of each agent, for `agents.history`: one with each commit of a turn that changed it. Up to limits.agentHistory;
   * default 0, which keeps none.
   */
  readonly history?: number;
  /** methods that answer messages of their own name, with typed senders (`agents.ref`) */
  readonly handlers?: readonly string[];
  /** messages (handlers, or names of onReceiveMessage) that change nothing: they run beside a turn, on the last committed state */
  readonly readOnly?: readonly string[];
  /**
   * How often an asynchronous message or an alarm is tried, in all, before it is a dead letter. Default:
   * limits.messageAttempts. Pauses begin at 0.2 s and double, up to a minute
   */
  readonly attempts?: number;
  /**
   * Whether this caller may read an agent's events; asked once whenever `agentEvent` is subscribed to. Only true lets it: a
   * throw, a time-out and anything else end the subscription. It may read (the graph, read-only messages) and change nothing.
   * Without it whoever knows an agent's id may listen.
   */
  mayListen?(caller: Caller, agentId: string): MaybePromise<boolean>;
}

/**
 * A long-lived instance with durable state. One message, hook or alarm runs at a time; what it does (state, events,
 * messages, alarms, graph writes) lands together when it returns, or not at all when it throws.
 *
 *     class Counter extends Agent<{ count: number }> {
 *       state = { count: 0 };
 *       onReceiveMessage(name: string) {
 *         if (name !== 'increment') return super.onReceiveMessage(name);
 *         return String(++this.state.count);
 *       }
 *     }
 *     agents.register(Counter);
 */
export class Agent<State extends object = object> {
  /** What getState and setState keep, as long as they are not overridden: what JSON gives back as it is. */
  state: State = {} as State;

  constructor() {
    if (nextIdentity !== undefined) identities.set(this, nextIdentity);
    nextIdentity = undefined;
  }

  /** Opaque text that start gave. */
  get id(): string {
    return identityOf(this).id;
  }

  /** The type's name. */
  get name(): string {
    return identityOf(this).name;
  }

  /** What it was started by, where `agents.start` was given a key. */
  get key(): string | undefined {
    return identityOf(this).key;
  }

  /** 1 for the first delivery of the message being handled; above 1 when an earlier try did not end well. */
  get attempt(): number {
    return requireTask('attempt').turn?.message?.attempt ?? 1;
  }

  /** Aborts when the turn is given up (past its time): hand it to fetch and the like. */
  get signal(): AbortSignal {
    return requireTask('signal').signal;
  }

  /** The agent is first created: set the initial state. A throw means that it was never started. */
  onInitialize(): MaybePromise<void> {}
  /** The agent is back with its state, after idling or a restart of the service. */
  onResume(): MaybePromise<void> {}
  /** The agent is about to leave memory. */
  onSuspend(): MaybePromise<void> {}
  /** The agent is being stopped for good. */
  onTerminate(): MaybePromise<void> {}

  /**
   * Answers a message. The default calls the method of that name when it is listed in `static handlers`, and throws
   * an error that names the message otherwise: end your own with `return super.onReceiveMessage(name, data)`.
   */
  onReceiveMessage(name: string, data?: string): MaybePromise<Reply> {
    const handlers = (this.constructor as AgentClass).handlers ?? [];
    if (!handlers.includes(name)) throw unknownMessage(this, name, handlers);
    return toHandlerReply(this, name, data);
  }

  /** An alarm went off. The default handles it as a message. */
  onAlarm(name: string, data?: string): MaybePromise<Reply> {
    return this.onReceiveMessage(name, data);
  }

  /**
   * The whole durable state as text; one that is overridden may give undefined and store none. Throws AGENT_STATE where JSON
   * would not give `this.state` back as it is.
   */
  getState(): string | undefined {
    return stateText(this.state, this.id);
  }

  /** Takes back what getState gave. Absent input is ignored. Throws AGENT_STATE on a text that is no JSON. */
  setState(data?: string | null): void {
    if (data === undefined || data === null) return;
    this.state = stateFrom(data, this.id) as State;
  }

  /**
   * Publishes an event with this turn: a value that supplies its name, or a name and its data. Throws INVALID_VALUE, naming
   * the place, where JSON would lose some of it.
   */
  publishEvent<Event extends AgentEventValue>(event: Event, options?: PublishOptions): void;
  publishEvent(name: string, data?: unknown, options?: PublishOptions): void;
  publishEvent(event: AgentEventValue | string, second?: unknown, third?: PublishOptions): void {
    const named = typeof event === 'string';
    const given = named ? third : (second as PublishOptions | undefined);
    const options = givenOptions('publishEvent', given, '{ live: true }');
    const name = checkedName(named ? event : (event as AgentEventValue | null | undefined)?.eventName);
    const { task, turn } = this.#turn('publishEvent');
    turn.assertWrites('publishEvent');
    task.publish({ name, data: eventText(name, named ? second : fieldsOf(event)) }, options.live === true);
  }

  /**
   * Sets a durable alarm: a Date, wall milliseconds, or five fields of cron (minute, hour, day, month, weekday), by which it rings
   * again and again.
   */
  setAlarm(at: Date | number | string, options: AlarmOptions = {}): void {
    const { turn } = this.#turn('setAlarm');
    turn.assertWrites('setAlarm');
    const given = givenOptions('setAlarm', options, "{ name: 'remind' }");
    const name = given.name ?? 'alarm';
    const id = given.id ?? name;
    const { data } = given;
    assertTexts({ name, id, data, zone: given.zone });
    turn.alarm({ id, name, data, ...(typeof at === 'string' ? byCalendar(at, given) : byTime(at, given)) });
  }

  /** Takes back an alarm by its id. */
  cancelAlarm(id = 'alarm'): void {
    const { turn } = this.#turn('cancelAlarm');
    turn.assertWrites('cancelAlarm');
    assertTexts({ id });
    turn.alarm({ id });
  }

  /**
   * The alarms of this agent, soonest first, as this turn has set them by now: in onAlarm the one that rings is among them only where
   * it rings again.
   */
  async getAlarms(): Promise<Alarm[]> {
    const { task, turn } = this.#turn('getAlarms');
    return turn.alarmsOver((await task.call('alarms', [this.id])) as readonly Alarm[]);
  }

  /**
   * Commits what this turn has done so far. After a crash the message is handled again from its beginning, with
   * this state and `attempt` above 1.
   */
  async checkpoint(): Promise<void> {
    const { turn } = this.#turn('checkpoint');
    turn.assertWrites('checkpoint');
    await identityOf(this).checkpoint(this);
  }

  #turn(what: string): { task: Task; turn: TurnScope } {
    const task = requireTask(what);
    task.assertOpen(what);
    if (task.turn?.agentId !== this.id) {
      throw new GraphsteadError('INVALID_REQUEST', `${what} of agent ${this.id} outside of its own turn`, {
        fix: 'send the agent a message and call it in its handler',
      });
    }
    return { task, turn: task.turn };
  }
}

function identityOf(agent: object): Identity {
  const identity = identities.get(agent);
  if (identity === undefined) {
    throw new GraphsteadError('INVALID_REQUEST', 'an agent made with `new` has no id', {
      fix: 'register the class and start it with agents.start(name)',
    });
  }
  return identity;
}

function unknownMessage(agent: Agent, name: string, handlers: readonly string[]): GraphsteadError {
  return new GraphsteadError('MESSAGE_UNKNOWN', `unknown message "${name}" for agent type ${agent.name}`, {
    fix: handlers.length > 0 ? `known messages: ${handlers.join(', ')}` : 'handle it in onReceiveMessage',
    details: { messageName: name, agentId: agent.id },
  });
}

/** JavaScript gives what it likes. */
function assertTexts(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || typeof value === 'string') continue;
    throw new GraphsteadError('INVALID_VALUE', `the ${name} of an alarm is text, got ${typeof value}`, {
      fix: name === 'data' ? 'give JSON.stringify(value)' : 'give a text',
    });
  }
}

/** When an alarm rings. */
interface Times {
  readonly at: number;
  readonly every?: Rounds;
}

function byCalendar(cron: string, { every, zone = 'UTC' }: AlarmOptions): Times {
  if (every !== undefined) {
    throw new GraphsteadError('INVALID_VALUE', `an alarm rings by "${cron}" or every so often, not both`, {
      fix: 'leave `every` out, or give a Date in place of the expression',
    });
  }
  const { first, times } = calendarTimes(cron, zone, Date.now());
  return { at: first, every: times };
}

function byTime(at: Date | number, { every, zone }: AlarmOptions): Times {
  const time = at instanceof Date ? at.getTime() : at;
  const when = typeof time === 'number' ? Math.max(0, Math.floor(time)) : Number.NaN;
  // what a Date cannot hold is no time either
  if (Number.isNaN(new Date(when).getTime())) {
    throw new GraphsteadError('INVALID_VALUE', 'setAlarm got no valid time', {
      fix: 'give a Date, milliseconds since 1970 as in Date.now() + 60_000, or an expression of cron',
    });
  }
  if (zone !== undefined) {
    throw new GraphsteadError('INVALID_VALUE', 'the time zone of an alarm belongs to an expression of cron', {
      fix: "leave `zone` out, or give the time as in '0 9 * * MON-FRI'",
    });
  }
  assertInterval(every);
  return { at: when, every };
}

/** a hundred years: the round behind any that rings is a time too */
const LONGEST_MS = 100 * 366 * 24 * 3_600_000;

function assertInterval(every: unknown): void {
  if (every === undefined || (Number.isInteger(every) && (every as number) > 0 && (every as number) <= LONGEST_MS))
    return;
  throw new GraphsteadError('INVALID_VALUE', `the interval of an alarm is whole milliseconds, got ${String(every)}`, {
    fix: 'give `every` as in every: 60_000, up to a hundred years, or leave it out',
  });
}

function checkedName(name: unknown): string {
  if (typeof name !== 'string' || name === '') {
    throw new GraphsteadError('INVALID_VALUE', 'an event needs a name', {
      fix: 'give publishEvent a name, or a value with an `eventName` property',
    });
  }
  if (!isOwnEvent(name)) return name;
  const message = `"${name}" is an event of the service's own, and would be taken for it`;
  throw new GraphsteadError('INVALID_VALUE', message, { fix: 'give it another name' });
}

function fieldsOf(event: AgentEventValue): unknown {
  if (typeof (event as { toJSON?: unknown }).toJSON === 'function') return event;
  const { eventName: _, ...fields } = event;
  return fields;
}
