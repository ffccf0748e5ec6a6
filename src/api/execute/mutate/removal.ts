import type { ChangeSet } from './change-set.js';
import type { NodeInput } from './input.js';

/** What a mutation takes away from nodes of a type, and which part of its input says so. */
export interface Removal extends NodeInput {
  readonly by: 'remove' | 'null in set' | 'null in input';
}

/** The fields that an object sets to null: on a node that is there they go. */
export function nullsOf({ type, values }: NodeInput, by: Removal['by']): Removal | undefined {
  const nulls = Object.entries(values).filter(([, given]) => given === null);
  return nulls.length === 0 ? undefined : { type, values: Object.fromEntries(nulls), by };
}

/** Values and, for null, all edges; edges to nodes that are named go by `unlink`. */
export async function removeFrom(changes: ChangeSet, uid: number, { type, values }: NodeInput): Promise<void> {
  const { password } = type;
  if (password && values[password.field] === null) changes.removePassword(uid, password.predicate);
  for (const [name, given] of Object.entries(values)) {
    const field = type.field(name);
    if (field?.role === 'scalar' && given !== undefined) changes.removeValues(uid, field, given);
    else if (field?.role === 'edge' && given === null) {
      for (const child of await changes.targets(uid, field)) await changes.unlink(uid, field, child);
    }
  }
}
