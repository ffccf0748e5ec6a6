import { coerceInputValue, type GraphQLObjectType, isInputType } from 'graphql';
import { GraphsteadError } from '../../base/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';

const KEYS = 'Send __typename and the key as a text or a number in each representation.';

/** What a federation's gateway knows of an entity: its `__typename`, its key, and fields that other services own. */
export type Representation = Readonly<Record<string, unknown>>;

/** Values of fields by their names. */
export type Told = Readonly<Record<string, unknown>>;

/** The field that names an entity. Throws INVALID_GRAPHQL for a type without @key. */
export function keyField(type: ObjectType): Field {
  const name = type.federation.key?.[0];
  const field = name === undefined ? undefined : type.field(name);
  if (field) return field;
  throw new GraphsteadError('INVALID_GRAPHQL', `type ${type.name} has no @key`, {
    fix: 'Ask _entities for types that have @key.',
  });
}

/** The type that a representation names; none where its name is not even a text. */
export function typeNameOf(representation: Representation | null): string {
  const name = representation?.__typename;
  return typeof name === 'string' ? name : '';
}

/** The text of an entity's key. Throws INVALID_GRAPHQL where it is missing, or a list or an object. */
export function keyText(type: ObjectType, representation: Representation): string {
  const key = keyField(type);
  const value = representation[key.name];
  if (typeof value === 'object' && value !== null) {
    throw new GraphsteadError(
      'INVALID_GRAPHQL',
      `_entities: the key ${key.name} of a representation of ${type.name} is no scalar`,
      { fix: KEYS },
    );
  }
  if (value !== undefined && value !== null) return String(value);
  throw new GraphsteadError(
    'INVALID_GRAPHQL',
    `_entities: a representation of ${type.name} lacks its key ${key.name}`,
    {
      fix: KEYS,
    },
  );
}

/** The fields of a representation that a field of the type requires. Throws INVALID_GRAPHQL for values of other types. */
export function requiredOf(type: ObjectType, output: GraphQLObjectType, representation: Representation): Told {
  const told: Record<string, unknown> = {};
  for (const name of new Set(type.fields.flatMap((field) => field.requires))) {
    const wanted = output.getFields()[name]?.type;
    if (!Object.hasOwn(representation, name) || !wanted || !isInputType(wanted)) continue;
    told[name] = coerceInputValue(representation[name], wanted, (_path, _value, error) => {
      throw new GraphsteadError(
        'INVALID_GRAPHQL',
        `_entities: a representation of ${type.name}: ${name}: ${error.message}`,
        { fix: `Send ${name} as its type in the schema has it.` },
      );
    });
  }
  return told;
}
