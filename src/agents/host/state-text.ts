import { GraphsteadError } from '../../base/index.js';

// A state is JSON when it is stored and what app code made of it while it is in memory. What JSON cannot give back would
// be another value after a restart only, where nobody looks for it: it is refused in the turn that keeps it.

/** A place of a state whose value JSON does not give back. */
interface Loss {
  /** as app code writes it: `.players[3].joined` */
  readonly path: string;
  /** what stands there */
  readonly what: string;
  readonly fix: string;
}

/**
 * A state as JSON text; undefined for none. Throws AGENT_STATE, naming the place, where JSON would not give the same back.
 * A field that is undefined may be left out, and -0 is 0.
 */
export function stateText(state: unknown, agentId: string): string | undefined {
  let text: string | undefined;
  let loss: Loss | undefined;
  try {
    text = JSON.stringify(state);
    if (state !== undefined) loss = lossIn(state);
  } catch (error) {
    // a RangeError says that there is too much of it, or too many levels
    loss = (error instanceof RangeError ? undefined : lossIn(state, [])) ?? unwritable(error);
  }
  if (loss !== undefined) throw refused(agentId, loss);
  return text;
}

function refused(agentId: string, { path, what, fix }: Loss): GraphsteadError {
  const statePath = `state${path}`;
  return new GraphsteadError('AGENT_STATE', `the state of agent ${agentId} is no JSON: ${statePath} is ${what}`, {
    fix: `${fix}, or override getState and setState`,
    details: { agentId, statePath },
  });
}

/** What no place of it is to blame for. */
function unwritable(error: unknown): Loss {
  const [reason] = String((error as Error).message).split('\n');
  return { path: '', what: `nothing that can be written (${reason})`, fix: 'keep less in it, and fewer levels' };
}

/**
 * The first place that JSON does not give back; a fifth of what writing the JSON takes, half of it at worst. `above` holds the values around
 * this one where they may go round in a circle.
 */
function lossIn(value: unknown, above?: readonly unknown[]): Loss | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : lost(String(value), 'keep null');
  if (typeof value !== 'object') return lostPrimitive(value);
  if (above?.includes(value)) return lost('a part of itself', 'keep an id of it');
  const within = above && [...above, value];
  if (Array.isArray(value)) return isList(value) ? lossInList(value, within) : lostObject(value);
  return isRecord(value) ? lossInRecord(value, within) : lostObject(value);
}

function lossInList(list: readonly unknown[], above: readonly unknown[] | undefined): Loss | undefined {
  for (let i = 0; i < list.length; i++) {
    const loss = lossIn(list[i], above);
    if (loss !== undefined) return { ...loss, path: `[${i}]${loss.path}` };
  }
  return undefined;
}

function lossInRecord(record: Readonly<Record<string, unknown>>, above: readonly unknown[] | undefined) {
  // twice as fast as a list of the keys; a record inherits none
  for (const key in record) {
    const value = record[key];
    if (value === undefined) continue;
    const loss = lossIn(value, above);
    if (loss !== undefined) return { ...loss, path: `${stepOf(key)}${loss.path}` };
  }
  return undefined;
}

function stepOf(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** No class stands behind it. */
function isRecord(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** No class stands behind it: the prototype of lists is one itself, that of a class of lists is none. */
function isList(value: readonly unknown[]): boolean {
  return Array.isArray(Object.getPrototypeOf(value));
}

function lost(what: string, fix: string): Loss {
  return { path: '', what, fix };
}

function lostPrimitive(value: unknown): Loss {
  if (value === undefined) return lost('undefined in a list', 'keep null');
  if (typeof value === 'bigint') return lost('a bigint', 'keep String(value)');
  return lost(`a ${typeof value}`, 'keep it outside of this.state');
}

function lostObject(value: object): Loss {
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } };
  const name = String(prototype.constructor?.name ?? '');
  const known = name !== '' && name !== 'Object';
  return lost(known ? `an instance of ${name}` : 'an object with a prototype of its own', insteadOf(value));
}

function insteadOf(value: object): string {
  if (value instanceof Date) return 'keep value.toISOString(), or value.getTime()';
  if (value instanceof Map) return 'keep [...value], or Object.fromEntries(value)';
  if (value instanceof Set || Array.isArray(value)) return 'keep [...value]';
  if (value instanceof Promise) return 'await it, and keep what it gives';
  if (value instanceof Error) return 'keep value.message';
  if (ArrayBuffer.isView(value)) return "keep Buffer.from(value).toString('base64')";
  return 'keep a plain object of its fields, { ...value }';
}
