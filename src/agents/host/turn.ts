import { GraphsteadError, internal } from '../../base/index.js';
import type { Effects, TurnTask, WireFailure } from '../protocol.js';
import { appFailure } from './app-failure.js';
import { type Agent, type AgentClass, construct, type Identity } from './agent.js';
import { tell } from './link.js';
import { marked, taking } from './marker.js';
import { migrate } from './migrate.js';
import { typeOf } from './registry.js';
import { dismiss, orphan, type Resident, takeState, tellStray } from './resident.js';
import { requireTask, Task, within } from './task.js';
import { TurnScope } from './turn-scope.js';

const residents = new Map<string, Resident>();
let stateBytes = Number.POSITIVE_INFINITY;

/** @param bytes limits.agentStateBytes */
export function limitStates(bytes: number): void {
  stateBytes = bytes;
}

/** The agent leaves memory: what its last turn stored counts. */
export function evict(agentId: string): void {
  const resident = residents.get(agentId);
  if (resident === undefined) return;
  residents.delete(agentId);
  dismiss(resident);
}

/** The same behind a turn that does not count. */
export function discard(agentId: string): void {
  const resident = residents.get(agentId);
  if (resident === undefined) return;
  residents.delete(agentId);
  orphan(resident);
}

/**
 * Runs one turn and reports it. The instance stays for the next one unless the turn failed. One that was given up took its
 * instance along: when it ends, the one that is here belongs to a later turn.
 */
export function startTurn(id: number, turn: TurnTask): Task {
  const scope = new TurnScope(turn.agentId, turn.readOnly === true, turn.message);
  const task = new Task(id, turn.requestId, scope, turn.journal, turn.trace, turn.client);
  if (turn.calls !== undefined) task.goOn(turn.calls);
  const running = marked(id, () => within(task, () => run(task, scope, turn)));
  running.then(
    ({ reply, effects }) => {
      if (task.ended !== undefined) return;
      task.end('the handler had returned');
      tell({ k: 'turned', id, reply, effects });
    },
    (error: unknown) => {
      if (task.ended !== undefined) return;
      if (!scope.readOnly) discard(turn.agentId);
      task.end('the handler had failed');
      tell({ k: 'failed', id, error: failureOf(error) });
    },
  );
  return task;
}

/** The stored state is nothing that the loaded code can take. */
class NotTaken extends Error {
  constructor(readonly reason: unknown) {
    super('the stored state was not taken');
  }
}

function failureOf(error: unknown): WireFailure {
  if (!isNotTaken(error)) return appFailure(error, 'AGENT_FAILED');
  return { ...appFailure(error.reason, 'AGENT_FAILED'), notTaken: true };
}

/** What app code throws may be something that throws when it is looked at. */
function isNotTaken(error: unknown): error is NotTaken {
  try {
    return error instanceof NotTaken;
  } catch {
    return false;
  }
}

interface Outcome {
  readonly reply: string | undefined;
  readonly effects: Effects;
}

async function run(task: Task, scope: TurnScope, turn: TurnTask): Promise<Outcome> {
  const resident = residentFor(task, turn);
  const { agent } = resident;
  const resuming = turn.load !== undefined && turn.kind !== 'init' && !scope.readOnly ? agent.onResume() : undefined;
  // Behind an await the mark is gone: the handler's first part gets its own.
  const performed =
    resuming instanceof Promise
      ? resuming.then(() => marked(task.id, () => perform(agent, turn)))
      : perform(agent, turn);
  const reply = toReply(await performed, turn);
  if (scope.readOnly) assertUnchanged(task, resident, turn);
  if (turn.kind === 'terminate') discard(turn.agentId);
  if (scope.readOnly || turn.kind === 'terminate') return { reply, effects: scope.take(undefined, 1) };
  const effects = collect(scope, resident, turn.kind === 'init');
  if (turn.kind === 'suspend' && task.ended === undefined) discard(turn.agentId);
  return { reply, effects };
}

function perform(agent: Agent, turn: TurnTask): unknown {
  switch (turn.kind) {
    case 'init':
      return agent.onInitialize();
    case 'suspend':
      return agent.onSuspend();
    case 'terminate':
      return agent.onTerminate();
    case 'alarm':
      return agent.onAlarm(turn.message?.name ?? 'alarm', turn.message?.data);
    case 'message':
      return agent.onReceiveMessage(turn.message?.name ?? '', turn.message?.data);
  }
}

function residentFor(task: Task, turn: TurnTask): Resident {
  const known = residents.get(turn.agentId);
  if (turn.load === undefined) {
    if (known === undefined) throw internal(`agent ${turn.agentId} is not in this process`);
    tellStray(known);
    return known;
  }
  const { load } = turn;
  const type = typeOf(turn.type);
  const version = type.version ?? 1;
  const identity = { id: turn.agentId, name: turn.type, key: load.key, checkpoint };
  const agent = construct(type, identity);
  const state = turn.kind === 'init' ? undefined : taking(task.id, () => taken(agent, identity, type, turn, load));
  if (task.turn?.readOnly === true) return { agent, identity, version, state };
  // A migrated state counts as changed, so that this turn stores it in its new shape.
  const resident = { agent, identity, version, state: load.version === version ? state : undefined };
  discard(turn.agentId);
  residents.set(turn.agentId, resident);
  return resident;
}

/** The stored state in the shape of this code, and in the agent. Throws NotTaken. */
function taken(
  agent: Agent,
  identity: Identity,
  type: AgentClass,
  turn: TurnTask,
  load: NonNullable<TurnTask['load']>,
): string | undefined {
  try {
    const state = migrate(type, turn, load);
    takeState(agent, identity, state);
    return state;
  } catch (reason) {
    throw new NotTaken(reason);
  }
}

/** What a read-only handler made of its state would go without a word. Throws INVALID_REQUEST. */
function assertUnchanged(task: Task, { agent, state }: Resident, turn: TurnTask): void {
  if (agent.getState() === state) return;
  // A getState that gives another text each time tells nothing.
  if (residentFor(task, turn).agent.getState() === state) task.turn?.assertWrites('a change of the state');
}

async function checkpoint(agent: Agent): Promise<void> {
  const task = requireTask('checkpoint');
  const resident = residents.get(agent.id);
  if (task.turn === undefined || resident === undefined) return;
  const effects = collect(task.turn, resident);
  await task.call('checkpoint', [effects]).catch((error: unknown) => {
    task.turn?.lose(error);
    throw error;
  });
}

function collect(scope: TurnScope, resident: Resident, always = false): Effects {
  const state: unknown = resident.agent.getState() ?? undefined;
  if (state !== undefined && typeof state !== 'string') throw noText(scope.agentId, state);
  const bytes = state === undefined ? 0 : Buffer.byteLength(state);
  if (bytes > stateBytes) {
    throw new GraphsteadError('LIMIT_EXCEEDED', `the state of agent ${scope.agentId} holds ${bytes} bytes`, {
      fix: `limits.agentStateBytes is ${stateBytes}: keep what grows in the graph`,
    });
  }
  const changed = always || state !== resident.state;
  resident.state = state;
  return scope.take(changed ? (state ?? '') : undefined, resident.version);
}

function noText(agentId: string, state: unknown): GraphsteadError {
  const what = state instanceof Promise ? 'a promise' : typeof state;
  return new GraphsteadError('AGENT_STATE', `getState of agent ${agentId} gave ${what}, not text`, {
    fix: 'give text at once: JSON.stringify(value)',
    details: { agentId },
  });
}

function toReply(value: unknown, turn: TurnTask): string | undefined {
  if (turn.kind !== 'message' || value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw new GraphsteadError('AGENT_FAILED', `the reply to "${turn.message?.name}" is ${typeof value}, not a string`, {
    fix: 'return text: JSON.stringify(value)',
  });
}
