import { type FieldNode, type GraphQLField, type GraphQLInterfaceType, type GraphQLObjectType, print } from 'graphql';
import { within } from '../../base/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import type { CollectedFields, CollectScope } from './collect.js';
import { asOne, PLAIN_QUESTION, type Question, questionOf } from './one-question.js';
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

interface Asking {
  readonly key: string;
  readonly nodes: readonly FieldNode[];
  readonly definition: Definition;
}

/**
 * Aliases, by response key, of what a GraphQL remote is asked for again with other arguments, or with a selection that
 * cannot be told apart from the one before: each name of its own it answers once. The first who asks goes without an
 * alias, and so do the names that custom fields need.
 */
export function replyAliases(
  scope: CollectScope,
  type: GraphQLObjectType | GraphQLInterfaceType,
  collected: CollectedFields,
): ReadonlyMap<string, string> {
  const definitions = type.getFields();
  const fields = [...collected].flatMap(([key, nodes]): Asking[] => {
    const definition = definitions[nodes[0].name.value];
    return definition ? [{ key, nodes, definition }] : [];
  });
  const needed = new Set(fields.flatMap(({ definition }) => neededKeys(definitions, definition)));
  const own = fields.filter(({ definition }) => !needsOf(definition));
  const names = new Set([...needed, ...own.map(({ definition }) => replyKey(definition))]);
  if (names.size === needed.size + own.length) return NONE;
  const questions = new Map([...needed].map((key) => [key, [PLAIN_QUESTION]]));
  const aliases = new Map<string, string>();
  for (const { key, nodes, definition } of own) {
    const name = replyKey(definition);
    const sent = sentArguments(scope, definition, nodes[0]).map(print).join();
    const at = placeAmong(
      within(questions, name, () => []),
      questionOf(scope, sent, nodes),
    );
    if (at > 0) aliases.set(key, unlikeFields(definitions, `${name}__${at + 1}`));
  }
  return aliases;
}

/** The place of the question that this one is asked with; it gets one of its own behind them where there is none. */
function placeAmong(questions: Question[], question: Question): number {
  for (const [at, known] of questions.entries()) {
    const both = asOne(known, question);
    if (!both) continue;
    questions[at] = both;
    return at;
  }
  return questions.push(question) - 1;
}

function neededKeys(definitions: Definitions, definition: Definition): string[] {
  return (needsOf(definition) ?? []).flatMap((name) => (definitions[name] ? [replyKey(definitions[name])] : []));
}

/** An alias that no field of the type has as its key. */
function unlikeFields(definitions: Definitions, alias: string): string {
  const taken = Object.values(definitions).some((definition) => replyKey(definition) === alias);
  return taken ? unlikeFields(definitions, `${alias}_`) : alias;
}
