import { asError, ERROR_STATUS, type ErrorCode, GraphsteadError, type Position } from '../base/index.js';
import type { WireFailure } from './protocol.js';

/** Anything thrown, as plain data. `fallback` is the code of what is not ours: an app's own error. */
export function toFailure(thrown: unknown, fallback?: ErrorCode): WireFailure {
  if (thrown instanceof GraphsteadError) {
    const { code, fix, details, cause } = thrown;
    const message = placed(thrown.message, thrown.position);
    return { message, code, fix, details: plain(details), ...(typeof cause === 'string' ? { stack: cause } : {}) };
  }
  if (!(thrown instanceof Error)) return { message: describe(thrown), code: fallback };
  const { message = '', name, stack } = readable(thrown, ['message', 'name', 'stack']);
  return {
    message: describe(message) || describe(name ?? NOTHING_SAID),
    name: textOf(name),
    code: fallback,
    details: plain(extensionsOf(thrown)),
    stack: textOf(stack),
  };
}

const NOTHING_SAID = 'what was thrown cannot be read';

function extensionsOf(thrown: object): Readonly<Record<string, unknown>> | undefined {
  const { extensions } = readable(thrown, ['extensions']);
  if (typeof extensions !== 'object' || extensions === null) return undefined;
  try {
    return readable(extensions, Object.keys(extensions));
  } catch {
    return undefined;
  }
}

/** These properties of what app code threw, without those that throw when they are read: the others say more than nothing. */
function readable(thrown: object, names: readonly string[]): Readonly<Record<string, unknown>> {
  const read = names.flatMap((name) => {
    try {
      return [[name, (thrown as Readonly<Record<string, unknown>>)[name]]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(read);
}

/** What app code threw: whatever its code says, it is not the service's own word. */
export class ThrownByApp extends GraphsteadError {}

/** The loaded code could not take the stored state of its agent: no handler ran, and no other try of this code does better. */
export class StateNotTaken extends ThrownByApp {}

/** What only the app can say more of: its readers have the log, and the log needs no such word. */
const FIX_OF_APP = "the app's own code threw this: the log of the service has the place";

/** The failure as an error of ours; `fallback` where it carries no code of the closed list. */
export function fromFailure(failure: WireFailure, fallback: ErrorCode, Kind = GraphsteadError): GraphsteadError {
  const code = failure.code !== undefined && failure.code in ERROR_STATUS ? (failure.code as ErrorCode) : fallback;
  const { message, fix = FIX_OF_APP, details, stack: cause } = failure;
  const own = details?.['fix'];
  return new Kind(code, message, { fix: typeof own === 'string' ? own : fix, details, cause });
}

/** A message with the place in the text that app code gave: no position goes along with an error that it throws on. */
export function placed(message: string, place: Pick<Position, 'line' | 'column'> | undefined): string {
  return place === undefined ? message : `${message} (line ${place.line}, column ${place.column})`;
}

/** A failure as the log has it: what is wrong, what to do about it, and where in the app it was thrown. */
export function failureText(error: unknown): string {
  const { message, fix, cause } = asError(error);
  const told = fix === FIX_OF_APP ? message : `${message} (${fix})`;
  return typeof cause === 'string' ? cause.replace(message, () => told) : told;
}

function textOf(part: unknown): string | undefined {
  return typeof part === 'string' ? part : undefined;
}

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}

function plain(details: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> | undefined {
  if (details === undefined) return undefined;
  return Object.fromEntries(Object.entries(details).flatMap(asJson));
}

/** None where JSON has nothing for it: what is left of the details says more than nothing. */
function asJson([name, detail]: [string, unknown]): [string, unknown][] {
  try {
    const text = JSON.stringify(detail);
    return text === undefined ? [] : [[name, JSON.parse(text)]];
  } catch {
    return [];
  }
}
