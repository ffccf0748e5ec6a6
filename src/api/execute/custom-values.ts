import { type FieldNode, getNullableType, type GraphQLOutputType, isAbstractType, isListType } from 'graphql';
import { addTo, within } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import type { CollectScope } from './collect.js';
import { type AnswerOf, askedFields, heldValue, runtimeType } from './complete.js';
import type { CustomResult } from './custom-logic.js';
import { customScopeOf, type Request } from './request.js';
import { siblingsOf } from './sibling-value.js';

type Nodes = readonly FieldNode[];

/** A value that custom logic returned, and what the client asks of it. */
export interface Returned {
  readonly type: GraphQLOutputType;
  readonly nodes: Nodes;
  readonly value: unknown;
}

interface Call {
  readonly type: ObjectType;
  readonly field: Field;
  readonly nodes: Nodes;
  readonly returns: GraphQLOutputType;
  readonly parents: Record<string, unknown>[];
}

/** By the first of their nodes, which a fragment brings to places that ask for more below it. */
type Calls = Map<FieldNode, Call[]>;

interface Answered {
  readonly nodes: Nodes;
  readonly result: CustomResult;
}

/** By the first of the nodes that ask for it. */
type Answers = Map<FieldNode, Answered[]>;

/**
 * Answers the @custom fields of stored types inside what custom logic returned: an object of a reply that the client
 * asks a custom field of becomes its parent. What those return is gone into in turn, a stage a level.
 */
export async function answersBelow(
  request: Request,
  returned: readonly Returned[],
  reader: () => Promise<GraphReader>,
  shared: object,
): Promise<AnswerOf> {
  const { engine, fragments, variables } = request;
  const scope: CollectScope = { schema: engine.schema, fragments, variables };
  const answers = new Map<object, Answers>();
  for (let stage = returned; stage.length > 0; ) {
    const calls: Calls = new Map();
    for (const one of stage) gather(scope, one, calls);
    stage = (
      await Promise.all([...calls.values()].flat().map((call) => answer(request, call, reader, shared, answers)))
    ).flat();
  }
  return (parent, fieldNodes) => answers.get(parent)?.get(fieldNodes[0])?.find(asksFor(fieldNodes))?.result;
}

export function sameNodes(one: Nodes, other: Nodes): boolean {
  return one === other || (one.length === other.length && one.every((node, i) => node === other[i]));
}

/** Whether something is asked for by the same nodes. */
const asksFor =
  (wanted: Nodes) =>
  ({ nodes }: { readonly nodes: Nodes }): boolean =>
    sameNodes(nodes, wanted);

function gather(scope: CollectScope, { type, nodes, value }: Returned, calls: Calls): void {
  const nullable = getNullableType(type) as GraphQLOutputType;
  if (Array.isArray(value)) {
    if (isListType(nullable))
      for (const item of value) gather(scope, { type: nullable.ofType, nodes, value: item }, calls);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  const object = value as Record<string, unknown>;
  const typed = isAbstractType(nullable) ? runtimeType(scope, nullable, nodes, object) : nullable;
  if (!typed || !('getFields' in typed)) return;
  for (const asked of askedFields(scope, typed, nodes)) {
    const { definition, nodes: fieldNodes } = asked;
    if (!definition) continue;
    const meaning = fieldMeaning(definition);
    if (meaning?.op !== 'field' || meaning.field.role !== 'custom') {
      gather(scope, { type: definition.type, nodes: fieldNodes, value: heldValue(asked, object) }, calls);
      continue;
    }
    const { type: owner, field } = meaning;
    const known = calls.get(fieldNodes[0])?.find(asksFor(fieldNodes));
    if (known) known.parents.push(object);
    else {
      const call = { type: owner, field, nodes: fieldNodes, returns: definition.type, parents: [object] };
      addTo(calls, fieldNodes[0], call);
    }
  }
}

async function answer(
  request: Request,
  call: Call,
  reader: () => Promise<GraphReader>,
  shared: object,
  answers: Map<object, Answers>,
): Promise<Returned[]> {
  const { engine } = request;
  if (!engine.custom) return [];
  const results = await engine.custom.fields({
    ...customScopeOf(request, call.nodes, shared, reader),
    type: call.type,
    field: call.field,
    parents: call.parents.map(siblingsOf(engine.schema, call.type, call.field, engine.names.dgraph)),
  });
  call.parents.forEach((parent, i) => {
    const known: Answers = within(answers, parent, () => new Map());
    addTo(known, call.nodes[0], { nodes: call.nodes, result: results[i] });
  });
  return results.map(({ value }) => ({ type: call.returns, nodes: call.nodes, value }));
}
