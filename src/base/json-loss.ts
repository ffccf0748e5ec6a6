// JSON changes some values without a word (a Map becomes {}, NaN null, a Date a text), which shows far away from where they
// were given. Whoever keeps or sends a value as JSON looks for them first.

/** A place of a value that JSON does not give back. */
export interface JsonLoss {
  /** from the value on, as app code writes it: `.players[3].joined` */
  readonly path: string;
  /** what stands there */
  readonly what: string;
  readonly fix: string;
}

/** `told`: a value with `toJSON` (a Date, say) is what that gives. Otherwise it is lost, as it does not come back. */
type JsonUse = 'kept' | 'told';

/**
 * A value as JSON text; undefined for undefined. Throws what `refused` makes of the first place where JSON would give
 * another value back. A field that is undefined may be left out, and -0 is 0.
 */
export function exactJson(
  value: unknown,
  refused: (loss: JsonLoss) => Error,
  use: JsonUse = 'kept',
): string | undefined {
  let text: string | undefined;
  let loss: JsonLoss | undefined;
  try {
    text = JSON.stringify(value);
    loss = jsonLoss(value, use);
  } catch (error) {
    loss = (isTooMuch(error) ? undefined : lossIn(value, use, [])) ?? unwritable(error);
  }
  if (loss !== undefined) throw refused(loss);
  return text;
}

/**
 * The first place that JSON does not give back; a fifth of what writing the JSON takes, half of it at worst. Throws what a getter or
 * a `toJSON` throws.
 */
export function jsonLoss(value: unknown, use: JsonUse = 'kept'): JsonLoss | undefined {
  try {
    return value === undefined ? undefined : lossIn(value, use);
  } catch (error) {
    if (isTooMuch(error)) return circleIn(value, use) ?? unwritable(error);
    throw error;
  }
}

function circleIn(value: unknown, use: JsonUse): JsonLoss | undefined {
  try {
    return lossIn(value, use, []);
  } catch {
    return undefined; // its levels have an end, and are too many
  }
}

/** There is too much of it, or too many levels: a circle has no end. */
function isTooMuch(error: unknown): boolean {
  return error instanceof RangeError;
}

/** What no place of it is to blame for. */
function unwritable(error: unknown): JsonLoss {
  const [reason] = String((error as Error).message).split('\n');
  return { path: '', what: `nothing that can be written (${reason})`, fix: 'put less in it, and fewer levels' };
}

type Above = readonly unknown[] | undefined;

/** `above` holds the values around this one where they may go round in a circle. */
function lossIn(value: unknown, use: JsonUse, above?: Above): JsonLoss | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : lost(String(value), 'give null');
  if (typeof value !== 'object') return lostPrimitive(value);
  if (use === 'told' && isTeller(value)) return lossInTold(value, above);
  return lossInObject(value, use, above);
}

function lossInObject(value: object, use: JsonUse, above: Above): JsonLoss | undefined {
  if (above?.includes(value)) return lost('a part of itself', 'give an id of it');
  const within = above && [...above, value];
  if (Array.isArray(value)) return isList(value) ? lossInList(value, use, within) : lostObject(value, use);
  return isRecord(value) ? lossInRecord(value, use, within) : lostObject(value, use);
}

function lossInList(list: readonly unknown[], use: JsonUse, above: Above): JsonLoss | undefined {
  for (let i = 0; i < list.length; i++) {
    const loss = lossIn(list[i], use, above);
    if (loss !== undefined) return { ...loss, path: `[${i}]${loss.path}` };
  }
  return undefined;
}

function lossInRecord(record: Readonly<Record<string, unknown>>, use: JsonUse, above: Above): JsonLoss | undefined {
  // twice as fast as a list of the keys; a record inherits none
  for (const key in record) {
    const value = record[key];
    if (value === undefined) continue;
    const loss = lossIn(value, use, above);
    if (loss !== undefined) return { ...loss, path: `${stepOf(key)}${loss.path}` };
  }
  return undefined;
}

interface Teller {
  toJSON(key: string): unknown;
}

function isTeller(value: object): value is Teller {
  return typeof (value as Partial<Teller>).toJSON === 'function';
}

function lossInTold(value: Teller, above: Above): JsonLoss | undefined {
  const told = value.toJSON('');
  if (told === null && value instanceof Date) return lost('a Date without a time', 'give null');
  if (told === undefined) return undefined;
  return typeof told === 'object' && told !== null ? lossInObject(told, 'told', above) : lossIn(told, 'told', above);
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

function lost(what: string, fix: string): JsonLoss {
  return { path: '', what, fix };
}

function lostPrimitive(value: unknown): JsonLoss {
  if (value === undefined) return lost('undefined in a list', 'give null');
  if (typeof value === 'bigint') return lost('a bigint', 'give String(value)');
  return lost(`a ${typeof value}`, 'leave it out');
}

function lostObject(value: object, use: JsonUse): JsonLoss {
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: unknown } };
  const name = String(prototype.constructor?.name ?? '');
  const known = name !== '' && name !== 'Object';
  return lost(known ? `an instance of ${name}` : 'an object with a prototype of its own', insteadOf(value, use));
}

function insteadOf(value: object, use: JsonUse): string {
  if (value instanceof Date) return 'give value.toISOString(), or value.getTime()';
  if (value instanceof Map) return 'give [...value], or Object.fromEntries(value)';
  if (value instanceof Set || Array.isArray(value)) return 'give [...value]';
  if (value instanceof Promise) return 'await it, and give what it gives';
  if (value instanceof Error) return 'give value.message';
  if (ArrayBuffer.isView(value)) return "give Buffer.from(value).toString('base64')";
  return `give a plain object of its fields, { ...value }${use === 'told' ? ', or write a toJSON' : ''}`;
}
