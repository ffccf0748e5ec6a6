import { inSteps, type Limits, type MaybePromise, type Names, type Position } from '../../base/index.js';
import type { GraphChange, GraphReader } from '../../graph/index.js';
import type { QueryVariable } from '../contract.js';
import { holdsCondition } from '../run/index.js';
import type { MutationRequest } from '../syntax/index.js';
import { changesOf } from './changes.js';
import { newLists } from './lists.js';
import { MutationNodes } from './nodes.js';
import { demandSingle } from './one-value.js';
import { newSingleEdges } from './single-edges.js';
import { withVectors } from './vectors.js';

interface ResolveOptions {
  /** what the query of an upsert found; empty without one */
  readonly variables: ReadonlyMap<string, QueryVariable>;
  readonly reader: GraphReader;
  /** first of `count` fresh uids */
  readonly lease: (count: number) => Promise<number>;
  readonly names: Names;
  readonly limits: Limits;
  /** awaited between parts of the work, so that others have their turn */
  readonly pause?: () => MaybePromise<void>;
}

const NONE: ReadonlySet<string> = new Set();

/** A request's mutations as changes of the graph, and the new nodes that they make. */
interface ResolvedMutation {
  readonly changes: readonly GraphChange[];
  /** where each change was asked for, aligned with changes */
  readonly positions: readonly Position[];
  /** names of new nodes, without `_:`, or `uid(v)`; to uids as 0x text */
  readonly uids: ReadonlyMap<string, string>;
}

/**
 * Decides which blocks apply (@if), gives new nodes their uids and fans variables out. Blocks whose condition does not
 * hold do nothing at all. Throws INVALID_MUTATION, UNSUPPORTED_DELETE, LIMIT_EXCEEDED.
 */
export async function resolveMutation(request: MutationRequest, options: ResolveOptions): Promise<ResolvedMutation> {
  const { variables, reader, lease, names, limits, pause = () => undefined } = options;
  const chosen = request.mutations.filter(
    ({ condition }) => condition === undefined || holdsCondition(condition, variables, reader, { limits, names }),
  );
  // Dgraph refuses a list for a vector, and so do its names; of one for a single value it keeps the last
  const blocks = names.dgraph ? chosen : await inSteps(withVectors(chosen, reader.schema), pause);
  const lists = await inSteps(newLists(blocks, reader.schema), pause);
  if (!names.dgraph) await inSteps(demandSingle(blocks, reader.schema, lists), pause);
  const singles = names.dgraph ? await inSteps(newSingleEdges(blocks, reader.schema, variables), pause) : NONE;
  const nodes = new MutationNodes(variables);
  await inSteps(nodes.collect(blocks), pause);
  await nodes.assign(blocks, lease, limits, pause);
  const context = { nodes, variables, names, limits, lists, singles };
  const { changes, positions } = await inSteps(changesOf(blocks, context), pause);
  const uids = await inSteps(nodes.uidsIn(changes), pause);
  return { changes, positions, uids };
}
