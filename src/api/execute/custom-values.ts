import {
  type FieldNode,
  getNullableType,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isListType,
  isObjectType,
} from 'graphql';
import type { GraphReader } from '../../graph/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import { fieldMeaning } from '../schema/meaning.js';
import { collectFields, selectionSets } from './collect.js';
import { type AnswerOf, replyKey } from './complete.js';
import type { CustomResult } from './custom-logic.js';
import type { Request } from './request.js';

type Nodes = readonly FieldNode[];

interface Call {
  readonly type: ObjectType;
  readonly field: Field;
  readonly nodes: Nodes;
  readonly parents: Record<string, unknown>[];
}

/**
 * Answers the @custom fields of stored types inside what custom logic returned: an object of a reply that the client
 * asks a custom field of becomes its parent.
 */
export async function answersBelow(
  request: Request,
  type: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  reader: () => Promise<GraphReader>,
): Promise<AnswerOf> {
  const calls = new Map<FieldNode, Call>();
  gather(request, type, nodes, value, calls);
  const answers = new Map<object, Map<FieldNode, CustomResult>>();
  await Promise.all([...calls.values()].map((call) => answer(request, call, reader, answers)));
  return (parent, fieldNodes) => answers.get(parent)?.get(fieldNodes[0]);
}

function gather(
  request: Request,
  type: GraphQLOutputType,
  nodes: Nodes,
  value: unknown,
  calls: Map<FieldNode, Call>,
): void {
  const nullable = getNullableType(type) as GraphQLOutputType;
  if (Array.isArray(value)) {
    if (isListType(nullable)) for (const item of value) gather(request, nullable.ofType, nodes, item, calls);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  const object = value as Record<string, unknown>;
  const concrete = isObjectType(nullable) ? nullable : runtimeType(request, nullable, object);
  if (!concrete) return;
  const { engine, fragments, variables } = request;
  const fields = collectFields({ schema: engine.schema, fragments, variables }, concrete, selectionSets(nodes));
  for (const fieldNodes of fields.values()) {
    const definition = concrete.getFields()[fieldNodes[0].name.value];
    if (!definition) continue;
    const meaning = fieldMeaning(definition);
    if (meaning?.op !== 'field' || meaning.field.role !== 'custom') {
      gather(request, definition.type, fieldNodes, object[replyKey(definition)], calls);
      continue;
    }
    const call = calls.get(fieldNodes[0]) ?? {
      type: meaning.type,
      field: meaning.field,
      nodes: fieldNodes,
      parents: [],
    };
    call.parents.push(object);
    calls.set(fieldNodes[0], call);
  }
}

function runtimeType(
  request: Request,
  type: GraphQLOutputType,
  value: Record<string, unknown>,
): GraphQLObjectType | undefined {
  if (!isAbstractType(type)) return undefined;
  const possible = request.engine.schema.getPossibleTypes(type as GraphQLAbstractType);
  return possible.find((candidate) => candidate.name === value.__typename);
}

async function answer(
  request: Request,
  call: Call,
  reader: () => Promise<GraphReader>,
  answers: Map<object, Map<FieldNode, CustomResult>>,
): Promise<void> {
  const { engine } = request;
  if (!engine.custom) return;
  const results = await engine.custom.fields({
    model: engine.model,
    schema: engine.schema,
    fieldNodes: call.nodes,
    fragments: request.fragments,
    variables: request.variables,
    context: request.context,
    reader,
    type: call.type,
    field: call.field,
    parents: call.parents,
  });
  call.parents.forEach((parent, i) => {
    const known = answers.get(parent) ?? new Map<FieldNode, CustomResult>();
    known.set(call.nodes[0], results[i]);
    answers.set(parent, known);
  });
}
