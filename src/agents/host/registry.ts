import { GraphsteadError, isRecord } from '../../base/index.js';
import { guardOf } from '../protocol.js';
import { registerIt, unknownType } from '../refusal.js';
import type { AgentType } from '../info.js';
import { Agent, type AgentClass } from './agent.js';
import { caller } from './caller.js';

const types = new Map<string, AgentClass>();
/** the main process has been told: it would hear of no other */
let told = false;
let mostHistory = Number.POSITIVE_INFINITY;

/** @param states limits.agentHistory */
export function limitHistory(states: number): void {
  mostHistory = states;
}

/** The type's name as start takes it. */
export function nameOf(type: AgentClass): string {
  return type.agentName ?? type.name;
}

/** The name in what start was given. Throws AGENT_TYPE_UNKNOWN. */
export function wantedName(type: unknown): string {
  if (typeof type === 'string' && type !== '') return type;
  if (typeof type === 'function') return nameOf(type as AgentClass);
  throw new GraphsteadError('AGENT_TYPE_UNKNOWN', 'the type of the agent to start is missing', {
    fix: registerIt([...types.keys()]),
  });
}

/** Makes a class startable by its name. Throws when it is no Agent or the name is taken by another class. */
export function register(type: AgentClass): void {
  if (typeof type !== 'function' || !(type.prototype instanceof Agent)) {
    throw new GraphsteadError('APP_LOAD', 'agents.register takes a class that extends Agent', {
      fix: "class Counter extends Agent { ... } from 'graphstead/app', then agents.register(Counter)",
    });
  }
  const name = nameOf(type);
  const known = types.get(name);
  if (known !== undefined && known !== type) {
    throw new GraphsteadError('APP_LOAD', `two agent classes are registered as "${name}"`, {
      fix: 'give one of them a `static agentName`',
    });
  }
  assertNamed(name);
  if (told && known === undefined) throw tooLate(name);
  assertCount(name, 'version', type.version);
  assertCount(name, 'attempts', type.attempts);
  assertMigrations(name, type);
  assertHistory(name, type.history);
  assertNames(name, 'handlers', type.handlers);
  assertNoThen(name, type.handlers);
  assertNames(name, 'readOnly', type.readOnly);
  assertGuard(name, type);
  types.set(name, type);
}

function assertNamed(name: unknown): void {
  if (typeof name === 'string' && name !== '') return;
  throw new GraphsteadError(
    'APP_LOAD',
    `an agent class ${name === '' ? 'has no name' : 'is named by what is no text'}`,
    {
      fix: "write static readonly agentName = 'Counter'",
    },
  );
}

function tooLate(name: string): GraphsteadError {
  return new GraphsteadError('APP_LOAD', `agent type ${name} is registered after the app has loaded`, {
    fix: 'call agents.register at the top level of the module, not in a function, a timer or a handler',
  });
}

/** A text would be searched for its parts. */
function assertNames(name: string, list: string, names: unknown): void {
  if (names === undefined || (Array.isArray(names) && names.every((one) => typeof one === 'string'))) return;
  throw new GraphsteadError('APP_LOAD', `static ${list} of agent type ${name} is no list of names`, {
    fix: `write static readonly ${list} = ['where'] as const`,
  });
}

/** What `await` finds on a reference to the agent it would take for a promise, and wait for without an end. */
function assertNoThen(name: string, handlers: readonly string[] | undefined): void {
  if (!handlers?.includes('then')) return;
  throw new GraphsteadError(
    'APP_LOAD',
    `static handlers of agent type ${name} lists "then", by which await knows promises`,
    {
      fix: 'give the method another name',
    },
  );
}

function assertCount(name: string, what: 'version' | 'attempts', count: number | undefined): void {
  if (count === undefined || (Number.isSafeInteger(count) && count > 0)) return;
  throw new GraphsteadError('APP_LOAD', `static ${what} of agent type ${name} must be a whole number above 0`, {
    fix: `write static readonly ${what} = 2, say, or leave it out`,
  });
}

function assertHistory(name: string, history: number | undefined): void {
  const isCount = history === undefined || (Number.isSafeInteger(history) && history >= 0);
  if (isCount && (history ?? 0) <= mostHistory) return;
  const what = isCount ? `asks for ${history} states` : 'is no whole number';
  throw new GraphsteadError('APP_LOAD', `static history of agent type ${name} ${what}`, {
    fix: `write static readonly history = 20: how many states of an agent are kept; limits.agentHistory is ${mostHistory}`,
  });
}

/**
 * What an agent of an older version would meet with its first message: a step that is missing or none. The oldest ones may be
 * left out, where no such state is stored any more.
 */
function assertMigrations(name: string, { version = 1, migrations = {} }: AgentClass): void {
  const wrong = isRecord(migrations) ? wrongStep(version, migrations) : 'are no object of functions';
  if (wrong === undefined) return;
  throw new GraphsteadError('APP_LOAD', `static migrations of agent type ${name} ${wrong}`, {
    fix: `write static migrations = { ${Math.max(2, version)}: (state) => ... }, one for each version up to static version`,
  });
}

function wrongStep(version: number, migrations: NonNullable<AgentClass['migrations']>): string | undefined {
  const steps = Object.keys(migrations).map(Number);
  const odd = Object.keys(migrations).find((key) => !(Number.isSafeInteger(Number(key)) && Number(key) > 1));
  if (odd !== undefined) return `lead to ${JSON.stringify(odd)}, which is no version behind 1`;
  const beyond = steps.find((step) => step > version);
  if (beyond !== undefined) return `lead to ${beyond}, and static version is ${version}`;
  const none = steps.find((step) => typeof migrations[step] !== 'function');
  if (none !== undefined) return `have no function for ${none}`;
  const late = steps.find((step) => isAsync(migrations[step]));
  if (late !== undefined) return `have an async function for ${late}, and a step gives the state at once`;
  for (let step = Math.min(version, ...steps); step <= version; step++) {
    if (step > 1 && !(step in migrations)) return `have none to version ${step}`;
  }
  return undefined;
}

function isAsync(step: unknown): boolean {
  return Object.prototype.toString.call(step) === '[object AsyncFunction]';
}

/** A guard that cannot be asked must not leave the door open: neither one that is no method, nor one under a near name. */
function assertGuard(name: string, type: AgentClass): void {
  const statics = Object.getOwnPropertyNames(type).filter((own) => own !== 'mayListen');
  const near = [...statics, ...Object.getOwnPropertyNames(type.prototype)].find((own) => /^mayListen$/i.test(own));
  if (near === undefined && (type.mayListen === undefined || typeof type.mayListen === 'function')) return;
  const told = near === undefined ? 'must be a method' : `is never asked where it stands as ${near}, or is not static`;
  throw new GraphsteadError('APP_LOAD', `static mayListen of agent type ${name} ${told}`, {
    fix: 'static mayListen(caller: Caller, agentId: string) { return caller.claims?.USER === ... }',
  });
}

/** Throws AGENT_TYPE_UNKNOWN, naming it and what is known. */
export function typeOf(name: string): AgentClass {
  const type = types.get(name);
  if (type !== undefined) return type;
  throw unknownType(name, [...types.keys()]);
}

/** What the main process learns after the bundle has loaded. */
export function registered(): readonly AgentType[] {
  told = true;
  return [...types].map(([name, type]) => ({
    name,
    version: type.version ?? 1,
    attempts: type.attempts,
    onSuspend: type.prototype.onSuspend !== Agent.prototype.onSuspend,
    handlers: [...(type.handlers ?? [])],
    readOnly: [...(type.readOnly ?? [])],
    history: type.history ?? 0,
    mayListen: type.mayListen !== undefined,
  }));
}

/** What the classes say of who may listen, as functions to call: see guardOf. */
export function guards(): ReadonlyMap<string, (...args: readonly unknown[]) => unknown> {
  const guarded = [...types].filter(([, type]) => type.mayListen !== undefined);
  return new Map(
    guarded.map(([name, type]) => [guardOf(name), (agentId) => type.mayListen?.(caller, String(agentId))]),
  );
}
