import { type FieldNode, Kind, print, type SelectionSetNode } from 'graphql';
import { type CollectScope, included, selectionSets } from './collect.js';

/** What a client asks of one field of a GraphQL remote, where that has to be told from what it asks of it elsewhere. */
export interface Question {
  /** as they are sent */
  readonly arguments: string;
  /** what is asked below the field, as the client wrote it; empty for scalars */
  readonly below: string;
  /** of each field below, however deep, by response key and by name; undefined where one of them stands for two things */
  readonly meanings: ReadonlyMap<string, string> | undefined;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/** What a custom field asks of a sibling that it needs. */
export const PLAIN_QUESTION: Question = { arguments: '', below: '', meanings: NOTHING };

export function questionOf(scope: CollectScope, sent: string, nodes: readonly FieldNode[]): Question {
  const sets = selectionSets(nodes);
  return { arguments: sent, below: sets.map(print).join(), meanings: meaningsOf(scope, sets) };
}

/**
 * One question with the meanings of both, where a remote can be asked them at once and each finds its own in the
 * answer: below the field no key stands for two things, and no field is asked for with several arguments.
 */
export function asOne(one: Question, other: Question): Question | undefined {
  if (one.arguments !== other.arguments) return undefined;
  if (one.below === other.below) return one;
  const meanings = one.meanings && other.meanings && united(one.meanings, other.meanings);
  return meanings && { ...one, meanings };
}

function united(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> | undefined {
  for (const [key, meaning] of other) if ((one.get(key) ?? meaning) !== meaning) return undefined;
  return new Map([...one, ...other]);
}

function meaningsOf(scope: CollectScope, sets: readonly SelectionSetNode[]): ReadonlyMap<string, string> | undefined {
  const meanings = new Map<string, string>();
  const seen = new Set<string>();
  /** False once a key stands for two things. */
  const note = (key: string, meaning: string): boolean => {
    const known = meanings.get(key);
    meanings.set(key, meaning);
    return known === undefined || known === meaning;
  };
  const visit = ({ selections }: SelectionSetNode): boolean =>
    selections.every((node) => {
      if (!included(scope, node)) return true;
      if (node.kind === Kind.FIELD) {
        const given = (node.arguments ?? []).map(print).join();
        const { value: name } = node.name;
        return (
          note(`key ${node.alias?.value ?? name}`, `${name} ${given}`) &&
          note(`field ${name}`, given) &&
          (!node.selectionSet || visit(node.selectionSet))
        );
      }
      if (node.kind === Kind.INLINE_FRAGMENT) return visit(node.selectionSet);
      if (seen.has(node.name.value)) return true;
      seen.add(node.name.value);
      const fragment = scope.fragments[node.name.value];
      return !fragment || visit(fragment.selectionSet);
    });
  return sets.every(visit) ? meanings : undefined;
}
