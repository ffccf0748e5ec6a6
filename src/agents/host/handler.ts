import { GraphsteadError } from '../../base/index.js';
import { argumentsIn, typedReply } from '../typed-reply.js';
import { resultText } from './json-text.js';
import { currentTask } from './task.js';

/**
 * Calls the method named by a message. A typed sender gives its arguments together; any other data is the one argument,
 * parsed when it is JSON. The result goes back as text: as it is when it is text, else as JSON. Throws AGENT_FAILED where
 * JSON would lose some of it.
 */
export async function toHandlerReply(
  agent: object,
  name: string,
  data: string | undefined,
): Promise<string | undefined> {
  const typed = currentTask()?.turn?.message?.typed === true;
  const method = (agent as Record<string, unknown>)[name];
  if (typeof method !== 'function') {
    throw new GraphsteadError('AGENT_FAILED', `"${name}" is listed in static handlers but is no method`, {
      fix: 'write the method, or take its name out of static handlers',
    });
  }
  const result: unknown = await method.apply(agent, typed ? argumentsIn(parsed(data, [])) : argumentsOf(data));
  const text = typeof result === 'string' && !typed ? result : resultText(name, result);
  if (typed) return typedReply(text);
  return result === null ? undefined : text;
}

function argumentsOf(data: string | undefined): unknown[] {
  return data === undefined ? [] : [parsed(data, data)];
}

function parsed<T>(data: string | undefined, otherwise: T): T {
  if (data === undefined) return otherwise;
  try {
    return JSON.parse(data) as T;
  } catch {
    return otherwise;
  }
}
