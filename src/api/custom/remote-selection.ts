import {
  type ArgumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  Kind,
  type NameNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { within } from '../../base/index.js';
import { type CollectScope, collectFields, selectionSets } from '../execute/collect.js';
import { suffices } from '../execute/complete.js';
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

/** What is asked of a remote below a field. */
interface RemoteSelection {
  /** undefined for scalars */
  readonly set: SelectionSetNode | undefined;
  /** keys of the reply by the aliases that stand for them */
  readonly aliased: ReadonlyMap<string, string>;
}

/**
 * The client's selection as the remote is asked for it: names of the remote, fragments expanded, no variables, @skip
 * and @include applied, and no aliases but where one question could not be told from another (`replyAliases`), or
 * members of an interface or a union have fields of one name that a remote may refuse to be asked for side by side.
 * Fields that custom logic resolves here are replaced by what they need.
 * Where an interface's own fields are all that is asked, they are asked of the interface, so that types of the remote that
 * are not defined here answer them too.
 * @param isTheirs whether the remote is known to have an interface with all of its fields
 */
export function remoteSelection(
  scope: CollectScope,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  isTheirs: (name: string) => boolean,
): RemoteSelection {
  const aliased = new Map<string, string>();
  return { set: below(scope, type, nodes, { aliased, isTheirs }), aliased };
}

interface Asking {
  readonly aliased: Map<string, string>;
  readonly isTheirs: (name: string) => boolean;
}

function below(
  scope: CollectScope,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  asking: Asking,
): SelectionSetNode | undefined {
  const named: GraphQLNamedType = getNamedType(type);
  if (isObjectType(named)) return fieldsOf(scope, wantedOf(scope, named, nodes), asking);
  if (!isAbstractType(named)) return undefined;
  if (isInterfaceType(named) && asking.isTheirs(named.name) && suffices(scope, named, nodes)) {
    const { selections } = fieldsOf(scope, wantedOf(scope, named, nodes), asking);
    return selectionSet([fieldNode('__typename'), ...selections]);
  }
  const firsts = new Map<string, GraphQLOutputType>();
  const members = scope.schema.getPossibleTypes(named).map((member): SelectionNode => {
    const wanted = [...wantedOf(scope, member, nodes)].map(([key, want]): [string, Wanted] => {
      const known = firsts.get(key);
      if (!known) firsts.set(key, want.definition.type);
      if (!known || isTheRemotes(known, want.definition.type)) return [key, want];
      const alias = `${key}__${member.name}`;
      asking.aliased.set(alias, key);
      return [alias, want];
    });
    return {
      kind: Kind.INLINE_FRAGMENT,
      typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(member.name) },
      selectionSet: fieldsOf(scope, new Map(wanted), asking),
    };
  });
  return selectionSet([fieldNode('__typename'), ...members]);
}

/**
 * Both are of one type in the remote, too, which may have as non-null what is nullable here. Of objects that does not
 * suffice: what is asked below them would have to be alike as well.
 */
function isTheRemotes(one: GraphQLOutputType, other: GraphQLOutputType): boolean {
  const text = String(one);
  return isLeafType(getNamedType(one)) && text === String(other) && text.endsWith('!') && !/[^!]\]/.test(text);
}

function fieldsOf(scope: CollectScope, wanted: ReadonlyMap<string, Wanted>, asking: Asking): SelectionSetNode {
  const fields = [...wanted].map(([key, { definition, arguments: given, nodes }]) => {
    const name = replyKey(definition);
    return {
      ...fieldNode(name),
      ...(key === name ? {} : { alias: nameNode(key) }),
      arguments: given,
      selectionSet: below(scope, definition.type, nodes, asking),
    };
  });
  return selectionSet(fields);
}

/** By the key that the reply has it under. */
function wantedOf(
  scope: CollectScope,
  type: GraphQLObjectType | GraphQLInterfaceType,
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
