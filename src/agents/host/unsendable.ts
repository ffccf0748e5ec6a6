import { asError } from '../../base/index.js';

/** What no other process can be given, and where it stands. */
interface Unsendable {
  /** as code would reach it from the value: `.user`, `[0].save`, '' for the value itself */
  readonly path: string;
  readonly what: string;
  readonly fix?: string;
}

/** values that are looked at, at most */
const VALUES = 100_000;

interface Part {
  readonly step: string;
  readonly value?: unknown;
  /** what it threw when it was read */
  readonly thrown?: Error;
}

/** The first part of a value that the structured clone algorithm refuses; undefined where none is found. It does not throw. */
export function unsendable(value: unknown): Unsendable | undefined {
  const seen = new Set<object>();
  const open: { readonly path: string; readonly value: unknown }[] = [{ path: '', value }];
  for (let at = 0; at < Math.min(open.length, VALUES); at++) {
    const { path, value: held } = open[at];
    try {
      const kind = kindOf(held);
      if (kind) return { path, ...kind };
      if (typeof held !== 'object' || held === null || seen.has(held)) continue;
      seen.add(held);
      for (const { step, value: part, thrown } of partsOf(held)) {
        if (thrown !== undefined) return { path: `${path}${step}`, ...throwing('a getter', thrown) };
        open.push({ path: `${path}${step}`, value: part });
      }
    } catch (error) {
      return { path, ...throwing('an object', asError(error)) };
    }
  }
  return undefined;
}

function kindOf(value: unknown): Omit<Unsendable, 'path'> | undefined {
  if (typeof value === 'function') return { what: 'a function' };
  if (typeof value === 'symbol') return { what: 'a symbol' };
  if (value instanceof Promise) return { what: 'a promise', fix: 'await it' };
  const weak = [WeakMap, WeakSet, WeakRef].find((kind) => value instanceof kind);
  return weak && { what: `a ${weak.name}` };
}

function throwing(what: string, { message }: Error): Omit<Unsendable, 'path'> {
  return { what: `${what} that throws when it is read: ${message}`, fix: 'return plain data, without it' };
}

function partsOf(value: object): readonly Part[] {
  if (ArrayBuffer.isView(value)) return [];
  if (value instanceof Map) return [...value].flatMap(([key, held]) => [key, held].map(inside));
  if (value instanceof Set) return [...value].map(inside);
  const isList = Array.isArray(value);
  return Object.keys(value).map((name) => {
    const step = isList ? `[${name}]` : `.${name}`;
    try {
      return { step, value: (value as Readonly<Record<string, unknown>>)[name] };
    } catch (error) {
      return { step, thrown: asError(error) };
    }
  });
}

function inside(value: unknown): Part {
  return { step: '{}', value };
}
