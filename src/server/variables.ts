import { type Environment, GraphsteadError } from '../base/index.js';
import { READABLE } from '../sdl/index.js';

const PREFIX = 'GRAPHSTEAD_';
/** All of them but the limits. */
export const VARIABLES: ReadonlySet<string> = new Set([
  'GRAPHSTEAD_API_KEY',
  'GRAPHSTEAD_API_KEYS',
  'GRAPHSTEAD_CLIENT_KEYS',
  'GRAPHSTEAD_METRICS_KEYS',
  'GRAPHSTEAD_HOST_NAMES',
  'GRAPHSTEAD_ALLOWED_HOSTS',
  'GRAPHSTEAD_LOG',
  'GRAPHSTEAD_STORE',
  'GRAPHSTEAD_WRITER',
  'GRAPHSTEAD_WRITER_GRPC',
  READABLE,
]);
/** each is known or refused where limits are made */
const LIMIT = 'GRAPHSTEAD_LIMIT_';
/** what Kubernetes sets for a service whose name begins as ours does */
const OF_KUBERNETES = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?$/;

/** Variables that look like settings of the service and are none: misspelt, one may leave open what it was to close. */
export function strayVariables(environment: Environment): readonly string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith(PREFIX) && !VARIABLES.has(name) && !name.startsWith(LIMIT) && !OF_KUBERNETES.test(name),
  );
}

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** GRAPHSTEAD_LOG, in small letters; undefined where it is not set or empty. Throws CONFIG for what is no level. */
export function logLevel({ GRAPHSTEAD_LOG: written = '' }: Environment): string | undefined {
  const level = written.trim().toLowerCase();
  if (level === '') return undefined;
  if (LEVELS.includes(level)) return level;
  throw new GraphsteadError('CONFIG', `GRAPHSTEAD_LOG is "${written}", which is no level`, {
    fix: `use ${LEVELS.join(', ')}`,
  });
}
