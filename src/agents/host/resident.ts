import { GraphsteadError, isRecord } from '../../base/index.js';
import { Agent, type Identity } from './agent.js';
import { tell } from './link.js';

/** An agent in memory. */
export interface Resident {
  readonly agent: Agent;
  readonly identity: Identity;
  readonly version: number;
  /** what getState gave at the last committed turn */
  state: string | undefined;
  /** that something changes its state between turns was told */
  strayed?: boolean;
}

const AWAIT_IT =
  'a timer or a promise that nobody awaits is no part of a turn: await it in the handler, or set an alarm or send the agent a message that makes the change';

/** characters of a state that is looked at before each turn: a look writes all of it, so larger ones get theirs when they leave memory */
const LOOKED_AT = 4_096;

/** Before a turn: what an earlier one left behind has changed the state since. It is taken for a part of this one. */
export function tellStray(resident: Resident): void {
  if (resident.strayed === true || (resident.state?.length ?? 0) > LOOKED_AT || !isChanged(resident)) return;
  resident.strayed = true;
  console.warn(
    `the state of agent ${resident.identity.id} was changed between its turns: it is stored with this one, or lost when that fails (${AWAIT_IT})`,
  );
}

/** Nothing stores what this instance holds any more. */
export function dismiss(resident: Resident): void {
  const { id } = resident.identity;
  if (isChanged(resident)) {
    const message = `the state of agent ${id} was changed behind its last turn, and is lost (${AWAIT_IT})`;
    tell({ k: 'log', level: 'warn', message });
  }
  orphan(resident);
}

/** The same for an instance whose turn did not count. What still runs is told where it touches the state, which would change nothing. */
export function orphan({ agent, identity }: Resident): void {
  const touched = (): never => {
    throw new GraphsteadError(
      'INVALID_REQUEST',
      `this.state of agent ${identity.id} behind its turn: it has left memory`,
      {
        fix: AWAIT_IT,
        details: { agentId: identity.id },
      },
    );
  };
  Reflect.defineProperty(agent, 'state', { get: touched, set: touched, configurable: true });
}

/** A getState of the app's own is called where a turn ends, and not more often. */
function isChanged({ agent, state }: Resident): boolean {
  if (agent.getState !== Agent.prototype.getState) return false;
  try {
    return agent.getState() !== state;
  } catch {
    return true; // what the turn kept could be stored
  }
}

/** types whose stored states were found to be of another shape */
const shapesTold = new Set<string>();

/**
 * Takes a stored state. One that lacks fields which the class begins with was stored by code of another shape that had the same
 * version: no migration brings it here, and handlers meet undefined where none is declared.
 */
export function takeState(agent: Agent, { id, name }: Identity, state: string | undefined): void {
  const begun: unknown = agent.state;
  agent.setState(state);
  if (state === undefined || shapesTold.has(name) || agent.setState !== Agent.prototype.setState) return;
  const stored: unknown = agent.state;
  if (!isRecord(begun) || !isRecord(stored)) return;
  const missing = Object.keys(begun).filter((field) => begun[field] !== undefined && !(field in stored));
  if (missing.length === 0) return;
  shapesTold.add(name);
  const others = Object.keys(stored).filter((field) => !(field in begun));
  const besides = others.length === 0 ? '' : `, and has ${namesOf(others)}, which the class does not begin with`;
  console.warn(
    `the stored state of agent ${id} has no ${namesOf(missing)}, which ${name} begins with${besides}: where the shape has changed, raise static version and write a migration; where a field is meant to be empty, keep null in it`,
  );
}

/** names that one line tells */
const NAMED = 10;

function namesOf(fields: readonly string[]): string {
  const named = fields.slice(0, NAMED).map((field) => JSON.stringify(field));
  return fields.length > NAMED ? `${named.join(', ')} and ${fields.length - NAMED} more` : named.join(', ');
}
