import {
  type ArgumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isObjectType,
  Kind,
  type NameNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { within } from '../../base/index.js';
import { type CollectScope, collectFields, selectionSets } from '../execute/collect.js';
import { needsOf, replyAliases, replyKey } from '../execute/reply-key.js';
import { sentArguments } from '../execute/sent-argument.js';
import { fieldMeaning } from '../schema/meaning.js';

type Definition = GraphQLField<unknown, unknown>;

/** One field of the remote as it is asked for, and every node of the client's text that asks for it so. */
interface Wanted {
  readonly definition: Definition;
  readonly arguments: readonly ArgumentNode[];
  readonly nodes: FieldNode[];
}

/**
 * The client's selection as the remote is asked for it: names of the remote, fragments expanded, no variables, @skip
 * and @include applied, and no aliases but where one field is asked for with several arguments. Fields that custom logic
 * resolves here are replaced by what they need. Undefined for scalars.
 */
export function remoteSelection(
  scope: CollectScope,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
): SelectionSetNode | undefined {
  const named: GraphQLNamedType = getNamedType(type);
  if (isObjectType(named)) return selectionSet(objectSelections(scope, named, nodes));
  if (!isAbstractType(named)) return undefined;
  const members = scope.schema.getPossibleTypes(named).map(
    (member): SelectionNode => ({
      kind: Kind.INLINE_FRAGMENT,
      typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(member.name) },
      selectionSet: selectionSet(objectSelections(scope, member, nodes)),
    }),
  );
  return selectionSet([fieldNode('__typename'), ...members]);
}

function objectSelections(
  scope: CollectScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): readonly SelectionNode[] {
  return [...wantedOf(scope, type, nodes)].map(([key, { definition, arguments: given, nodes: asked }]) => {
    const name = replyKey(definition);
    return {
      ...fieldNode(name),
      ...(key === name ? {} : { alias: nameNode(key) }),
      arguments: given,
      selectionSet: remoteSelection(scope, definition.type, asked),
    };
  });
}

/** By the key that the reply has it under. */
function wantedOf(
  scope: CollectScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): ReadonlyMap<string, Wanted> {
  const definitions = type.getFields();
  const wanted = new Map<string, Wanted>();
  const collected = collectFields(scope, type, selectionSets(nodes));
  const aliases = replyAliases(scope, type, collected);
  for (const [responseKey, same] of collected) {
    const definition = definitions[same[0].name.value];
    if (!definition || !isAskedFor(definition)) continue;
    for (const needed of needsOf(definition) ?? []) {
      const sibling = definitions[needed];
      if (sibling) within(wanted, replyKey(sibling), () => ({ definition: sibling, arguments: [], nodes: [] }));
    }
    if (needsOf(definition)) continue;
    const key = aliases.get(responseKey) ?? replyKey(definition);
    const given = () => ({ definition, arguments: sentArguments(scope, definition, same[0]), nodes: [] });
    within(wanted, key, given).nodes.push(...same);
  }
  return wanted;
}

/** What is counted or derived here is nothing that the remote has. */
function isAskedFor(definition: Definition): boolean {
  const meaning = fieldMeaning(definition);
  return !meaning || meaning.op === 'field' || meaning.op === 'geo';
}

/** A selection is never empty: what nothing is asked of is asked for its type. */
function selectionSet(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections: selections.length > 0 ? selections : [fieldNode('__typename')] };
}

function fieldNode(name: string): FieldNode {
  return { kind: Kind.FIELD, name: nameNode(name) };
}

function nameNode(value: string): NameNode {
  return { kind: Kind.NAME, value };
}
