import { isDeepStrictEqual } from 'node:util';
import { GraphsteadError, type Names } from '../../../base/index.js';
import type { Draft } from './draft.js';
import type { Input } from './input.js';

/**
 * Upserted objects that name one node by different @ids are written as one object: what the second does not speak of
 * stays as the first says, defaults included. Throws INVALID_VALUE where they give one field two values.
 */
export function joinUpserts(first: Draft, second: Draft, { dgraph }: Names): void {
  const { type, values } = first.input;
  const joined: Record<string, unknown> = { ...values };
  for (const [name, given] of Object.entries(second.input.values)) {
    // the peer passes over null, which else takes the value away
    if (given === undefined || (dgraph && given === null)) continue;
    joined[name] = dgraph && values[name] === null ? given : joinValues(first, name, values, given);
  }
  first.input = { type, values: joined };
  first.edges.push(...second.edges);
}

function joinValues(first: Draft, name: string, values: Input, given: unknown): unknown {
  const before = values[name];
  if (before === undefined || isDeepStrictEqual(before, given)) return given;
  if (Array.isArray(before) && Array.isArray(given)) return [...before, ...given];
  const { type } = first.input;
  throw new GraphsteadError(
    'INVALID_VALUE',
    `two objects of the input are one ${type.name}, and give it two values for ${name}`,
    {
      fix: `Their @id values belong to the same node: give ${name} once, or change the ${type.name} by one object.`,
    },
  );
}
