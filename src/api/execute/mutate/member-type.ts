import type { GraphReader } from '../../../graph/index.js';
import type { ObjectType } from '../../../sdl/index.js';
import type { Request } from '../request.js';
import { matching } from './matching.js';

/**
 * By uid, the own type of nodes that are changed by their interface, where that type pairs one of the fields with another
 * edge than the interface does: `Author.questions` may be the other end of `Post.author` for questions only.
 */
export async function memberTypes(
  request: Request,
  reader: GraphReader,
  type: ObjectType,
  names: readonly string[],
  uids: readonly number[],
): Promise<ReadonlyMap<number, ObjectType>> {
  const found = new Map<number, ObjectType>();
  if (type.kind === 'object') return found;
  for (const name of type.members) {
    const member = request.engine.model.object(name);
    if (!member || !names.some((each) => pairsForItself(member, type, each))) continue;
    for (const uid of await matching(request, reader, member, {}, undefined, uids)) found.set(uid, member);
  }
  return found;
}

function pairsForItself(member: ObjectType, of: ObjectType, name: string): boolean {
  const [own, shared] = [member.field(name)?.inverse, of.field(name)?.inverse];
  return own !== undefined && (own.type !== shared?.type || own.field !== shared.field);
}
