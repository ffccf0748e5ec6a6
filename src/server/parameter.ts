import { GraphsteadError, type Names } from '../base/index.js';

/** The query string of a request: Fastify's parse, a repeated name as a list. */
export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request, as far as its query string is read. */
export interface Queried {
  readonly query: unknown;
}

export function parametersOf({ query }: Queried): Parameters {
  return query as Parameters;
}

/**
 * Those of a path that knows no others: `commitnow=true` would commit nothing, without a word. Throws INVALID_REQUEST.
 * What the peer's clients send beyond is passed over for them.
 */
export function knownParameters(request: Queried, names: Names, known: readonly string[]): Parameters {
  const parameters = parametersOf(request);
  const unknown = names.dgraph ? undefined : Object.keys(parameters).find((name) => !known.includes(name));
  if (unknown === undefined) return parameters;
  throw new GraphsteadError('INVALID_REQUEST', `there is no parameter ${unknown} here`, {
    fix: `leave it out; what is known is ${known.join(', ')}`,
  });
}

/** Of a parameter that is given twice the first counts. */
export function text(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** true for `name=true`, `name=1` and a bare `name`. Throws INVALID_REQUEST on anything else but false. */
export function flag(parameters: Parameters, name: string): boolean {
  const value = text(parameters, name);
  if (value === undefined || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1' || value === '') return true;
  throw new GraphsteadError('INVALID_REQUEST', `parameter ${name} is "${value}"`, {
    fix: `send ${name}=true or leave it out`,
  });
}

/** `startTs`. 0 counts as absent, as clients send it for "a new transaction". Throws INVALID_REQUEST. */
export function startTimestamp(parameters: Parameters): number | undefined {
  const value = text(parameters, 'startTs');
  if (value === undefined || value === '' || value === '0') return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && Number.isSafeInteger(number)) return number;
  throw new GraphsteadError('INVALID_REQUEST', `parameter startTs is "${value}", which is no timestamp`, {
    fix: 'send the start_ts that an earlier answer gave under extensions.txn',
  });
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** `timeout`: a duration such as `500ms`, `20s`, `1m30s`, in milliseconds. Throws INVALID_REQUEST. */
export function timeoutMs(parameters: Parameters): number | undefined {
  const value = text(parameters, 'timeout');
  if (value === undefined || value === '') return undefined;
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)];
  const total = parts.reduce((sum, part) => sum + Number(part[1]) * UNITS[part[2]], 0);
  if (parts.map((part) => part[0]).join('') === value && total > 0) return total;
  throw new GraphsteadError('INVALID_REQUEST', `parameter timeout is "${value}", which is no duration`, {
    fix: 'write it like timeout=500ms or timeout=20s',
  });
}
