import { GraphsteadError } from '../../../base/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import { type Request, scopeOf } from '../request.js';
import type { Scope } from '../scope.js';
import { inverseOf } from './input.js';
import { matching } from './matching.js';
import type { Removal } from './removal.js';

/** Something that a removal takes from nodes of a type: a field of theirs, or the edge back at the other end of one. */
interface Loss {
  readonly type: ObjectType;
  readonly name: string;
  readonly error: (requiring: ObjectType) => GraphsteadError;
  /** at this field's other ends; undefined: on the updated nodes */
  readonly through?: Field;
}

/** Without a value that it must have a node could not be read any more; the peer lets it go. */
export function demandSpared(scope: Scope, removal: Removal): void {
  for (const { type, name, error } of lossesOf(scope, removal)) if (requires(type, name)) throw error(type);
}

/** Some type of an interface may require what the interface does not: its nodes among those that lose something keep it. */
export async function demandMembersSpared(
  request: Request,
  reader: GraphReader,
  removal: Removal,
  nodes: (through: Field | undefined) => Promise<readonly number[]>,
): Promise<void> {
  const scope = scopeOf(request, reader);
  for (const { type, name, error, through } of lossesOf(scope, removal)) {
    for (const member of membersRequiring(scope, type, name)) {
      const losing = await matching(request, reader, member, {}, undefined, await nodes(through));
      if (losing.length > 0) throw error(member);
    }
  }
}

function lossesOf(scope: Scope, removal: Removal): Loss[] {
  const { type, values } = removal;
  return Object.entries(values).flatMap(([name, given]) => {
    const field = type.field(name);
    if (!field || given === undefined) return [];
    const own = { type, name, error: (requiring: ObjectType) => taken(removal, requiring, name) };
    return [...backwards(scope, removal, field), own];
  });
}

function backwards(scope: Scope, removal: Removal, field: Field): Loss[] {
  const given = removal.values[field.name];
  const back = field.role === 'edge' ? inverseOf(scope, field) : undefined;
  const end = field.inverse && scope.model.object(field.inverse.type);
  if (!end || !back || (Array.isArray(given) && given.length === 0)) return [];
  return [
    { type: end, name: back.name, error: (requiring) => cutOff(removal, field, requiring, back), through: field },
  ];
}

function taken({ by }: Removal, { name: type }: ObjectType, name: string): GraphsteadError {
  return new GraphsteadError('INVALID_VALUE', `${by} cannot take ${name} away: type ${type} requires it`, {
    fix: `Set another ${name}, or delete the ${type}.`,
  });
}

function cutOff(removal: Removal, field: Field, { name: type }: ObjectType, back: Field): GraphsteadError {
  return new GraphsteadError(
    'INVALID_VALUE',
    `${removal.by} cannot take ${field.name} away: type ${type} requires ${back.name}`,
    { fix: `Give each ${type} another ${removal.type.name} as its ${back.name}, or delete it.` },
  );
}

function membersRequiring({ model }: Scope, { kind, members }: ObjectType, name: string): ObjectType[] {
  if (kind === 'object') return [];
  return members.flatMap((member) => {
    const object = model.object(member);
    return object && requires(object, name) ? [object] : [];
  });
}

function requires(type: ObjectType, name: string): boolean {
  const of = type.field(name)?.type;
  return of?.nonNull === true && !of.list;
}
