import { GraphsteadError } from '../base/index.js';

// What callers of agents are told in more than one place.

export function unknownAgent(id: string): GraphsteadError {
  return new GraphsteadError('AGENT_UNKNOWN', `there is no agent "${id}"`, {
    fix: 'give the id that starting it returned; an agent started in a turn exists once that turn is over',
    details: { agentId: id },
  });
}

export function terminated(id: string): GraphsteadError {
  return new GraphsteadError('AGENT_TERMINATED', `agent "${id}" was stopped and is no longer available`, {
    details: { agentId: id },
  });
}

export function mailboxFull(id: string, waiting: number): GraphsteadError {
  return new GraphsteadError('MAILBOX_FULL', `the mailbox of agent "${id}" is full: ${waiting} messages wait`, {
    fix: 'send more slowly, or raise limits.mailboxMessages',
    details: { agentId: id },
  });
}

/** Throws AGENT_ID_MISSING. */
export function assertId(id: unknown): void {
  if (typeof id === 'string' && id !== '') return;
  throw new GraphsteadError('AGENT_ID_MISSING', 'an agent id is missing', {
    fix: 'give the id that starting the agent returned',
  });
}
