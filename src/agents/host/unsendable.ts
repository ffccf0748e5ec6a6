/** What no other process can be given, and where it stands. */
interface Unsendable {
  /** as code would reach it from the value: `.user`, `[0].save`, '' for the value itself */
  readonly path: string;
  readonly what: string;
  readonly fix?: string;
}

/** values that are looked at, at most */
const VALUES = 100_000;

/** The first part of a value that the structured clone algorithm refuses; undefined where none is found. */
export function unsendable(value: unknown): Unsendable | undefined {
  const seen = new Set<object>();
  const open: { readonly path: string; readonly value: unknown }[] = [{ path: '', value }];
  for (let at = 0; at < Math.min(open.length, VALUES); at++) {
    const { path, value: held } = open[at];
    const kind = kindOf(held);
    if (kind) return { path, ...kind };
    if (typeof held !== 'object' || held === null || seen.has(held)) continue;
    seen.add(held);
    for (const part of partsOf(held)) open.push({ path: `${path}${part.step}`, value: part.value });
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

function partsOf(value: object): readonly { readonly step: string; readonly value: unknown }[] {
  if (ArrayBuffer.isView(value)) return [];
  if (value instanceof Map) return [...value].flatMap(([key, held]) => [key, held].map(inside));
  if (value instanceof Set) return [...value].map(inside);
  const isList = Array.isArray(value);
  return Object.entries(value).map(([name, held]) => ({ step: isList ? `[${name}]` : `.${name}`, value: held }));
}

function inside(value: unknown): { readonly step: string; readonly value: unknown } {
  return { step: '{}', value };
}
