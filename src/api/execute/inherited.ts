import { type GraphQLSchema, isInputObjectType } from 'graphql';

/** A name that every object of JavaScript has something under: `constructor`, `toString`, `valueOf` ... */
export const isInherited = (name: string): boolean => name in Object.prototype;

const known = new WeakMap<GraphQLSchema, boolean>();

/** Some input has a field of such a name, which graphql-js would find in every object that lacks it. */
export function hasInheritedFields(schema: GraphQLSchema): boolean {
  let found = known.get(schema);
  if (found === undefined) {
    found = Object.values(schema.getTypeMap()).some(
      (type) => isInputObjectType(type) && Object.keys(type.getFields()).some(isInherited),
    );
    known.set(schema, found);
  }
  return found;
}

/** A copy of a JSON value whose objects inherit nothing. */
export function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, member] of Object.entries(value)) copy[key] = bare(member);
  return copy;
}

/** What an object itself has under a name. */
export function ownValue(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
