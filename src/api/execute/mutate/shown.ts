import { type ASTNode, BREAK, type FieldNode, type GraphQLObjectType, getNullableType, visit } from 'graphql';
import type { Block } from '../../../dql/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { ObjectType } from '../../../sdl/index.js';
import { fieldMeaning } from '../../schema/meaning.js';
import { argumentsOf } from '../argument.js';
import { authFilter } from '../auth/filter.js';
import { collectFields, selectionSets } from '../collect.js';
import { demandOf } from '../demand.js';
import { compileFilter } from '../filter.js';
import { compileOrder, compilePage } from '../order.js';
import type { ObjectPlan } from '../plan.js';
import { runBlocks } from '../query.js';
import { type DefinedField, type Request, type RootField, scopeOf } from '../request.js';
import { filterInput, type Scope, selectedType } from '../scope.js';
import { compileRoot } from '../selection.js';
import { and, block, childrenOf, NEVER, ofUids } from '../syntax.js';

interface Shown {
  readonly plan: ObjectPlan;
  readonly block: Block;
}

/** The query for nodes that a payload shows; undefined where none may be seen. */
export function shownBlock(
  scope: Scope,
  field: DefinedField,
  mutation: RootField,
  { type, uids }: { readonly type: ObjectType; readonly uids: readonly number[] },
): Shown | undefined {
  const args = argumentsOf(scope, field);
  const input = filterInput(scope, type.name);
  const filter = and(input ? compileFilter(scope, input, args.filter) : undefined, authFilter(scope, type, 'query'));
  if (filter === NEVER) return undefined;
  const outer = demandOf(scope, mutation.nodes[0]);
  const { plan, directives } = compileRoot(scope, selectedType(field.definition), type, field.nodes, outer);
  const root = ofUids([...new Set(uids)].sort((a, b) => a - b));
  const shown = block({
    name: field.key,
    root,
    ...(filter ? { filter } : {}),
    order: compileOrder(scope, type, args.order, root),
    page: compilePage(args),
    directives,
    children: childrenOf(plan.selections),
  });
  return { plan, block: shown };
}

/**
 * Throws what the arguments in a payload will be refused with, such as a pattern that is none: once the change has
 * landed, an error would be read as if it had not.
 */
export async function demandShowable(
  request: Request,
  mutation: DefinedField,
  type: ObjectType,
  reader: GraphReader,
): Promise<void> {
  if (!mutation.nodes.some((node) => takesArguments(request, node))) return;
  const payload = getNullableType(mutation.definition.type) as GraphQLObjectType;
  for (const [key, nodes] of collectFields(scopeOf(request, reader), payload, selectionSets(mutation.nodes))) {
    const definition = payload.getFields()[nodes[0].name.value];
    if (!definition || fieldMeaning(definition)?.op !== 'payloadNodes') continue;
    const scope = scopeOf(request, reader);
    const shown = shownBlock(scope, { key, nodes, definition }, mutation, { type, uids: [] });
    // of no nodes: arguments are looked at before the first of them
    const ofNone = scope.plan.blocks.map((each) => ({ ...each, root: ofUids([]) }));
    if (shown) await runBlocks(request, [...ofNone, shown.block], reader);
  }
}

const taking = new WeakMap<FieldNode, boolean>();

/** Some field below has an argument. */
function takesArguments({ fragments }: Request, node: FieldNode): boolean {
  const known = taking.get(node);
  if (known !== undefined) return known;
  const spread = new Set<string>();
  let found = false;
  const search = (part: ASTNode): void => {
    visit(part, {
      Argument() {
        found = true;
        return BREAK;
      },
      FragmentSpread({ name: { value: name } }) {
        if (spread.has(name)) return;
        spread.add(name);
        search(fragments[name]);
      },
    });
  };
  if (node.selectionSet) search(node.selectionSet);
  taking.set(node, found);
  return found;
}
