import { type GraphQLField, type GraphQLInterfaceType, type GraphQLObjectType, print } from 'graphql';
import { within } from '../../base/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import type { CollectedFields, CollectScope } from './collect.js';
import { sentArguments } from './sent-argument.js';

type Definition = GraphQLField<unknown, unknown>;
type Definitions = Readonly<Record<string, Definition>>;

/** The key of a reply that holds a field's value. */
export function replyKey(definition: Definition): string {
  const meaning = fieldMeaning(definition);
  return meaning?.op === 'field' ? (meaning.field.responseName ?? definition.name) : definition.name;
}

/** The siblings that a field with custom logic needs; undefined for any other field. */
export function needsOf(definition: Definition): readonly string[] | undefined {
  const meaning = fieldMeaning(definition);
  if (meaning?.op !== 'field' || !meaning.field.custom) return undefined;
  return meaning.field.custom.kind === 'http' ? meaning.field.custom.http.needs : [];
}

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * Aliases, by response key, of what a GraphQL remote is asked for again with other arguments: each name of its own it
 * answers once. The first who asks goes without an alias, and so do the names that custom fields need.
 */
export function replyAliases(
  scope: CollectScope,
  type: GraphQLObjectType | GraphQLInterfaceType,
  collected: CollectedFields,
): ReadonlyMap<string, string> {
  const definitions = type.getFields();
  const fields = [...collected].flatMap(([key, [node]]) => {
    const definition = definitions[node.name.value];
    return definition ? [{ key, node, definition }] : [];
  });
  if (fields.every(({ definition }) => definition.args.length === 0)) return NONE;
  const asked = new Map(
    fields.flatMap(({ definition }) => neededKeys(definitions, definition)).map((key) => [key, ['']]),
  );
  const aliases = new Map<string, string>();
  for (const { key, node, definition } of fields) {
    if (needsOf(definition)) continue;
    const name = replyKey(definition);
    const texts = within(asked, name, () => []);
    const text = sentArguments(scope, definition, node).map(print).join();
    if (!texts.includes(text)) texts.push(text);
    const at = texts.indexOf(text);
    if (at > 0) aliases.set(key, unlikeFields(definitions, `${name}__${at + 1}`));
  }
  return aliases;
}

function neededKeys(definitions: Definitions, definition: Definition): string[] {
  return (needsOf(definition) ?? []).flatMap((name) => (definitions[name] ? [replyKey(definitions[name])] : []));
}

/** An alias that no field of the type has as its key. */
function unlikeFields(definitions: Definitions, alias: string): string {
  const taken = Object.values(definitions).some((definition) => replyKey(definition) === alias);
  return taken ? unlikeFields(definitions, `${alias}_`) : alias;
}
