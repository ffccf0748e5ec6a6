import { type Environment, GraphsteadError } from '../base/index.js';
import { READABLE } from '../sdl/index.js';
import { isLoopback } from './keys.js';

const EVERY = '*';

/**
 * Variables that secrets of uploaded type definitions may read: who uploads them says where a secret is sent. undefined: all,
 * as on loopback where nothing is said.
 * @throws CONFIG for a name that no secret can read
 */
export function readableVariables(environment: Environment, host: string): ReadonlySet<string> | undefined {
  const written = environment[READABLE];
  if (written === undefined) return isLoopback(host) ? undefined : new Set();
  const names = written.split(/[\s,]+/).filter(Boolean);
  const odd = names.find((name) => name !== EVERY && !/^APP_[A-Z0-9_]+$/.test(name));
  if (odd !== undefined) {
    throw new GraphsteadError('CONFIG', `${READABLE} names ${odd}, which no secret of type definitions is read from`, {
      fix: `name variables as APP_<SECRET>_<PLACEHOLDER>, in capitals, or write ${EVERY} for all of them`,
    });
  }
  return names.includes(EVERY) ? undefined : new Set(names);
}
