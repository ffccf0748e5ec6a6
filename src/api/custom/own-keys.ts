import type { RemoteAnswer } from '../../outbound/index.js';

/** What a GraphQL remote answered, with its own keys in place of the aliases that it was asked under. */
export function inOwnKeys({ value, errors }: RemoteAnswer, aliased: ReadonlyMap<string, string>): RemoteAnswer {
  if (aliased.size === 0) return { value, errors };
  const key = <Part extends string | number>(part: Part) => (aliased.get(String(part)) ?? part) as Part;
  return {
    value: renamed(value, key),
    errors: errors.map((error) => (error.path ? { ...error, path: error.path.map(key) } : error)),
  };
}

function renamed(value: unknown, key: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [key(name), renamed(member, key)]));
}
