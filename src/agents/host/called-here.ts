import { GraphsteadError } from '../../base/index.js';
import { withAppFrames } from './app-failure.js';

/**
 * The same call, whose errors of ours name where the app made it. Stacks follow what is awaited: where an async function
 * ends with `return query(...)` they hold no line of the app.
 */
export function calledHere<Call extends (...args: never[]) => Promise<unknown>>(call: Call): Call {
  const called = async (...args: Parameters<Call>): Promise<unknown> => {
    const place: { stack?: string } = {};
    Error.captureStackTrace(place, called);
    try {
      return await call(...args);
    } catch (error) {
      if (error instanceof GraphsteadError) error.stack = withAppFrames(error.stack ?? '', place.stack ?? '');
      throw error;
    }
  };
  return called as Call;
}
