import { GraphsteadError } from '../base/index.js';

// How a handler's result comes back to a typed sender: as JSON, since text alone would not tell a text from a number.

/** @param json of the result; undefined where the handler gave nothing */
export function typedReply(json: string | undefined): string {
  return json === undefined ? '{}' : `{"value":${json}}`;
}

/** What the handler gave. Throws AGENT_FAILED for text that onReceiveMessage gave in its place. */
export function typedValue(type: string, message: string, reply: string): unknown {
  if (reply === '{}') return undefined;
  if (reply.startsWith('{"value":')) return (JSON.parse(reply) as { value: unknown }).value;
  throw new GraphsteadError('AGENT_FAILED', `onReceiveMessage of ${type} answered "${message}" itself, with text`, {
    fix: 'end it with return super.onReceiveMessage(name, data), which calls the methods of static handlers; or send the message by its name',
    details: { messageName: message },
  });
}

/**
 * The arguments of a typed message as it carries them: a JSON array, or an object by their places where one in the middle is
 * left out, as JSON has no undefined.
 */
export function typedArguments(args: readonly unknown[]): string {
  return args.includes(undefined) ? JSON.stringify({ ...args, length: args.length }) : JSON.stringify(args);
}

/** The same again. */
export function argumentsIn(data: unknown): unknown[] {
  return Array.isArray(data) ? (data as unknown[]) : Array.from(data as ArrayLike<unknown>);
}
