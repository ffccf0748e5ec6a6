import { type GraphQLObjectType, getNullableType, isNonNullType } from 'graphql';
import { assert, type JsonWriter } from '../../../base/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { ObjectType } from '../../../sdl/index.js';
import { fieldMeaning } from '../../schema/meaning.js';
import { collectFields, selectionSets } from '../collect.js';
import { boundLevel, listWritten, rootRow, runPlan } from '../query.js';
import { type DefinedField, type Request, type RootField, scopeOf, type Written } from '../request.js';
import { shownBlock } from './shown.js';

/** What a mutation did. */
export interface Outcome {
  readonly type: ObjectType;
  /** nodes that the payload shows */
  readonly uids: readonly number[];
  readonly numUids: number;
  readonly msg: string;
}

/** The payload of a mutation, its nodes read through `reader`. */
export async function payload(
  request: Request,
  field: DefinedField,
  outcome: Outcome,
  reader: () => Promise<GraphReader>,
): Promise<Written> {
  request.touched += outcome.numUids;
  const type = getNullableType(field.definition.type) as GraphQLObjectType;
  const collected = collectFields(
    scopeOf(request, { schema: request.engine.graph.schema() }),
    type,
    selectionSets(field.nodes),
  );
  const parts: { readonly prefix: string; readonly written: Written }[] = [];
  for (const [key, nodes] of collected) {
    const own = type.getFields()[nodes[0].name.value];
    const meaning = own && fieldMeaning(own);
    const prefix = `${JSON.stringify(key)}:`;
    if (!own) parts.push({ prefix, written: constant(JSON.stringify(type.name)) });
    else if (meaning?.op === 'numUids') parts.push({ prefix, written: constant(String(outcome.numUids)) });
    else if (meaning?.op === 'msg') parts.push({ prefix, written: constant(JSON.stringify(outcome.msg)) });
    else {
      assert(meaning?.op === 'payloadNodes', `${own.name} shows nodes`);
      parts.push({
        prefix,
        written: await nodesOf(request, field, { key, nodes, definition: own }, outcome, await reader()),
      });
    }
  }
  return { write: (out) => writeParts(parts, isNonNullType(field.definition.type), out) };
}

function constant(json: string): Written {
  return {
    write: (out) => {
      out.raw(json);
      return true;
    },
  };
}

function writeParts(
  parts: readonly { readonly prefix: string; readonly written: Written }[],
  nonNull: boolean,
  out: JsonWriter,
): boolean {
  const start = out.length;
  out.byte(0x7b);
  for (let i = 0; i < parts.length; i++) {
    if (i > 0) out.byte(0x2c);
    out.raw(parts[i].prefix);
    if (parts[i].written.write(out)) continue;
    out.truncate(start);
    if (nonNull) return false;
    out.ascii('null');
    return true;
  }
  out.byte(0x7d);
  return true;
}

async function nodesOf(
  request: Request,
  mutation: RootField,
  field: DefinedField,
  outcome: Outcome,
  reader: GraphReader,
): Promise<Written> {
  const scope = scopeOf(request, reader);
  const shown = outcome.uids.length > 0 && shownBlock(scope, field, mutation, outcome);
  if (!shown) return constant('[]');
  const node = await runPlan(request, scope, shown.block, reader);
  const bound = await boundLevel(request, field.key, shown.plan, node, reader);
  const at = { level: bound.level, scope: { ...bound.scope, path: [mutation.key, field.key] } };
  return listWritten(request, at, rootRow(node), field.definition.type);
}
