import { GraphsteadError, groupBy } from '../../../base/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { AuthAction, ObjectType } from '../../../sdl/index.js';
import { authFilter } from '../auth/filter.js';
import { runPlan } from '../query.js';
import { type Request, scopeOf } from '../request.js';
import { block, childrenOf, NEVER, ofUids } from '../syntax.js';

interface Node {
  readonly type: ObjectType;
  readonly uid: number;
}

/** Those of the uids that the rules of a type allow an action on. */
export async function allowed(
  request: Request,
  reader: GraphReader,
  type: ObjectType,
  action: AuthAction,
  uids: readonly number[],
): Promise<ReadonlySet<number>> {
  const scope = scopeOf(request, reader);
  const filter = authFilter(scope, type, action);
  if (filter === undefined) return new Set(uids);
  if (filter === NEVER || uids.length === 0) return new Set();
  const sorted = [...new Set(uids)].sort((a, b) => a - b);
  const shown = block({ name: 'allowed', root: ofUids(sorted), filter, children: childrenOf([]) });
  const node = await runPlan(request, scope, shown, reader);
  return new Set(node.rows?.[0] ?? []);
}

/** Whether rules say anything about an action on one of the nodes. */
export function isGuarded(request: Request, action: AuthAction, nodes: readonly Node[]): boolean {
  const schema = request.engine.graph.schema();
  const types = new Set(nodes.map(({ type }) => type));
  return [...types].some((type) => authFilter(scopeOf(request, { schema }), type, action) !== undefined);
}

/** Throws FORBIDDEN unless the rules allow the action on every node. */
export async function demand(
  request: Request,
  reader: GraphReader,
  action: AuthAction,
  nodes: readonly Node[],
): Promise<void> {
  for (const [type, same] of groupBy(nodes, (node) => node.type)) {
    const uids = same.map(({ uid }) => uid);
    const passed = await allowed(request, reader, type, action, uids);
    if (uids.every((uid) => passed.has(uid))) continue;
    const rule = `the rule for ${action} in @auth of ${type.name}`;
    throw new GraphsteadError('FORBIDDEN', 'mutation failed because authorization failed', {
      fix: request.context.claims ? `The token's claims do not meet ${rule}.` : `Send a token that meets ${rule}.`,
      details: { type: type.name, action },
    });
  }
}
