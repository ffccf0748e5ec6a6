import {
  getNullableType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { assert, parseJson } from '../../base/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import { exactJson, leafJson } from './scalar.js';

type Values = Readonly<Record<string, unknown>>;

/**
 * What custom logic is told of an object that another remote returned: the siblings that the field needs, as values of
 * their types, which clients see too. One that is no value of its type is null to both.
 * @param anyTextIsTrue of a Boolean, as Dgraph has it
 */
export function siblingsOf(
  schema: GraphQLSchema,
  type: ObjectType,
  { custom }: Field,
  anyTextIsTrue: boolean,
): (object: Values) => Values {
  const generated = schema.getType(type.name);
  assert(isObjectType(generated) || isInterfaceType(generated), 'a custom field belongs to a generated type');
  const definitions = generated.getFields();
  const json = anyTextIsTrue ? leafJson : exactJson;
  const typed = (of: GraphQLOutputType, value: unknown): unknown => {
    const nullable = getNullableType(of) as GraphQLOutputType;
    if (value === null || value === undefined) return null;
    if (isListType(nullable)) return Array.isArray(value) ? value.map((item) => typed(nullable.ofType, item)) : null;
    if (!isLeafType(nullable)) return value;
    const text = json(nullable, value);
    return text === undefined ? null : parseJson(text)?.value;
  };
  const needs = custom?.kind === 'http' ? custom.http.needs : [];
  const needed = needs.flatMap((name) => (definitions[name] ? [[name, definitions[name].type] as const] : []));
  return (object) => {
    const told: Record<string, unknown> = {};
    for (const [name, of] of needed) if (Object.hasOwn(object, name)) told[name] = typed(of, object[name]);
    return told;
  };
}
