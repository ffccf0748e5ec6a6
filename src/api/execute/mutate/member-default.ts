import type { GraphReader } from '../../../graph/index.js';
import type { ObjectType } from '../../../sdl/index.js';
import { type Request, scopeOf } from '../request.js';
import type { NodeInput } from './input.js';
import { matching } from './matching.js';

/**
 * Who updates a node by its interface has updated it: by uid, what gives fields of its own type their defaults. The peer knows the
 * interface's alone.
 */
export async function memberDefaults(
  request: Request,
  reader: GraphReader,
  type: ObjectType,
  uids: readonly number[],
): Promise<ReadonlyMap<number, NodeInput>> {
  const found = new Map<number, NodeInput>();
  const { model, names } = scopeOf(request, reader);
  if (type.kind === 'object' || names.dgraph) return found;
  // those of the interface are dealt with: null keeps a default away
  const values = Object.fromEntries(type.fields.map(({ name }) => [name, null]));
  for (const name of type.members) {
    const member = model.object(name);
    if (!member?.fields.some((field) => field.default?.update && !type.field(field.name))) continue;
    for (const uid of await matching(request, reader, member, {}, undefined, uids)) {
      found.set(uid, { type: member, values });
    }
  }
  return found;
}
