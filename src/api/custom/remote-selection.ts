import {
  type ArgumentNode,
  astFromValue,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isObjectType,
  Kind,
  type NameNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  valueFromAST,
} from 'graphql';
import { GraphsteadError } from '../../base/index.js';
import type { Field } from '../../sdl/index.js';
import { type CollectScope, collectFields, selectionSets } from '../execute/collect.js';
import { replyKey } from '../execute/complete.js';
import { fieldMeaning } from '../schema/meaning.js';

type Definition = GraphQLField<unknown, unknown>;

/** One field of the remote, and every node of the client's text that asks for it. */
interface Wanted {
  readonly definition: Definition;
  readonly arguments: readonly ArgumentNode[];
  readonly nodes: FieldNode[];
}

/**
 * The client's selection as the remote is asked for it: names of the remote, fragments expanded, no aliases and no
 * variables, @skip and @include applied. Fields that custom logic resolves here are replaced by what they need.
 * Undefined for scalars. Throws INVALID_GRAPHQL when one field is asked for twice with different arguments.
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
  const wanted = new Map<string, Wanted>();
  for (const same of collectFields(scope, type, selectionSets(nodes)).values()) want(scope, type, same, wanted);
  return [...wanted].map(([name, { definition, arguments: given, nodes: asked }]) => ({
    ...fieldNode(name),
    arguments: given,
    selectionSet: remoteSelection(scope, definition.type, asked),
  }));
}

function want(
  scope: CollectScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  wanted: Map<string, Wanted>,
): void {
  const definition = type.getFields()[nodes[0].name.value];
  if (!definition) return;
  const meaning = fieldMeaning(definition);
  if (meaning && meaning.op !== 'field' && meaning.op !== 'geo') return;
  if (meaning?.op === 'field' && meaning.field.custom) {
    for (const needed of needsOf(meaning.field)) {
      const sibling = type.getFields()[needed];
      if (sibling) add(replyKey(sibling), { definition: sibling, arguments: [], nodes: [] }, wanted);
    }
    return;
  }
  add(
    replyKey(definition),
    { definition, arguments: plainArguments(scope, definition, nodes[0]), nodes: [...nodes] },
    wanted,
  );
}

function needsOf(field: Field): readonly string[] {
  return field.custom?.kind === 'http' ? field.custom.http.needs : [];
}

function add(name: string, more: Wanted, wanted: Map<string, Wanted>): void {
  const known = wanted.get(name);
  if (!known) {
    wanted.set(name, more);
    return;
  }
  if (known.arguments.map(print).join() !== more.arguments.map(print).join()) {
    throw new GraphsteadError('INVALID_GRAPHQL', `${name} is asked for twice with different arguments`, {
      fix: 'A remote is asked for each of its fields once; ask for the other in a request of its own.',
    });
  }
  known.nodes.push(...more.nodes);
}

/**
 * The client's arguments with the values of variables in their place, and the defaults that our definitions promise for
 * those that it did not give: the remote may have others, or none.
 */
function plainArguments(scope: CollectScope, definition: Definition, node: FieldNode): ArgumentNode[] {
  const given = (node.arguments ?? []).flatMap((argument): ArgumentNode[] => {
    const type = definition.args.find((one) => one.name === argument.name.value)?.type;
    if (!type || !hasVariable(argument.value)) return [argument];
    return written(argument.name.value, valueFromAST(argument.value, type, scope.variables), type);
  });
  const names = new Set(given.map(({ name }) => name.value));
  const others = definition.args.filter(({ name }) => !names.has(name));
  return [...given, ...others.flatMap(({ name, defaultValue, type }) => written(name, defaultValue, type))];
}

/** An argument with a value; none where there is no value. */
function written(name: string, value: unknown, type: GraphQLInputType): ArgumentNode[] {
  const literal = value === undefined ? undefined : astFromValue(value, type);
  return literal ? [{ kind: Kind.ARGUMENT, name: nameNode(name), value: literal as ArgumentNode['value'] }] : [];
}

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  return value.kind === Kind.OBJECT && value.fields.some((field) => hasVariable(field.value));
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
