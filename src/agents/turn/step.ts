import type { StepOptions } from '../../base/index.js';
import type { Activation } from '../activation.js';
import type { Job } from '../job.js';

/**
 * A turn belongs to the commit that brought its message, or to whoever waits for its reply: an agent in a turn of its own, else a
 * request. What stands around it means nothing, since the turn before may have begun it. Alarms begin a trace of their own.
 */
export function turnStep({ id, head }: Activation, job: Job): StepOptions {
  const { kind, name, create, stored, from, requestId, attempts } = job;
  const causes = stored ? [`commit:${stored.ts}`] : from !== '' ? [`agent:${from}`] : [`request:${requestId}`];
  const facts = {
    'graphstead.agent.id': id,
    'graphstead.agent.type': head?.type ?? create?.type ?? '',
    'graphstead.turn.kind': kind,
    'graphstead.turn.message': name.slice(0, 100),
    'graphstead.turn.attempt': attempts + 1,
    'graphstead.request.id': requestId,
  };
  return { facts, causes, key: `agent:${id}` };
}
