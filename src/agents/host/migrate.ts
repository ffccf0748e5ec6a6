import { GraphsteadError } from '../../base/index.js';
import type { TurnTask } from '../protocol.js';
import type { AgentClass } from './agent.js';
import { appFailure } from './app-failure.js';
import { stateText } from './json-text.js';

type Whose = Pick<TurnTask, 'agentId' | 'type'>;
type Stored = NonNullable<TurnTask['load']>;

/** A stored state of an older version, brought step by step to the class's version. Throws AGENT_STATE. */
export function migrate(
  type: AgentClass,
  { agentId, type: name }: Whose,
  { state, version: stored }: Stored,
): string | undefined {
  const target = type.version ?? 1;
  if (stored === target || state === undefined) return state;
  if (stored > target) {
    throw new GraphsteadError('AGENT_STATE', `agent type ${name} is at version ${target}, its state at ${stored}`, {
      fix: 'load the newer code again, or raise `static version` and write a migration back',
    });
  }
  let value = parse(state);
  for (let version = stored + 1; version <= target; version++) {
    const step = type.migrations?.[version] as ((state: unknown) => unknown) | undefined;
    if (step === undefined) {
      throw new GraphsteadError('AGENT_STATE', `agent type ${name} has no migration to version ${version}`, {
        fix: `add static migrations = { ${version}: (state) => ... }; states of version ${stored} are stored`,
      });
    }
    value = stepped(step, value, `the migration of agent type ${name} to version ${version}`, agentId);
  }
  return typeof value === 'string' ? value : stateText(value, agentId);
}

/** What a step throws says little without the step: its state has a shape that the code around it does not show. */
function stepped(step: (state: unknown) => unknown, state: unknown, which: string, agentId: string): unknown {
  try {
    return step(state);
  } catch (thrown) {
    const { message, stack } = appFailure(thrown, 'AGENT_STATE');
    const told = `${which} failed: ${message}`;
    throw new GraphsteadError('AGENT_STATE', told, {
      fix: 'mend it; until the app is loaded again the stored state is what it was',
      details: { agentId },
      cause: stack?.replace(message, () => told),
    });
  }
}

/** A state that is no JSON is handed to migrations as the text it is. */
function parse(state: string): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}
