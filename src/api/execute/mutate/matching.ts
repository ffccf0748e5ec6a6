import type { Filter } from '../../../dql/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { AuthAction, ObjectType } from '../../../sdl/index.js';
import { authFilter } from '../auth/filter.js';
import { compileFilter, rootOf, typeTests } from '../filter.js';
import { rootRow, runPlan } from '../query.js';
import { type Request, scopeOf } from '../request.js';
import { filterInput } from '../scope.js';
import { and, block, childrenOf, NEVER, ofUids, test } from '../syntax.js';

/** Nodes of a type that a filter matches, that the rules allow the action on, and that are among `within`. */
export async function matching(
  request: Request,
  reader: GraphReader,
  type: ObjectType,
  filterValue: unknown,
  action: AuthAction | undefined,
  within?: readonly number[],
): Promise<number[]> {
  if (within?.length === 0) return [];
  const scope = scopeOf(request, reader);
  const input = filterInput(scope, type.name);
  const candidates: Filter | undefined = within && test(ofUids([...new Set(within)].sort((a, b) => a - b)));
  const filter = and(
    candidates,
    input ? compileFilter(scope, input, filterValue) : undefined,
    action && authFilter(scope, type, action),
  );
  if (filter === NEVER) return [];
  const root = rootOf(scope, typeTests(scope, type.name), filter);
  const shown = block({
    name: 'matching',
    root: root.call,
    ...(root.filter ? { filter: root.filter } : {}),
    children: childrenOf([]),
  });
  return Array.from(rootRow(await runPlan(request, scope, shown, reader)));
}
