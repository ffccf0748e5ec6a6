import type { GraphQLInputObjectType } from 'graphql';
import type { Filter } from '../../../dql/index.js';
import type { GraphReader } from '../../../graph/index.js';
import type { AuthAction, ObjectType } from '../../../sdl/index.js';
import { type InputMeaning, inputMeaning } from '../../schema/meaning.js';
import { authFilter } from '../auth/filter.js';
import { compileFilter, rootOf, typeTests } from '../filter.js';
import { rootRow, runPlan } from '../query.js';
import { type Request, scopeOf } from '../request.js';
import { filterInput, type Scope } from '../scope.js';
import { and, block, childrenOf, NEVER, ofUids, test } from '../syntax.js';

/**
 * Nodes of a type that a filter matches, that the rules allow the action on, and that are among `within`. What is done to nodes
 * is told, by their number at the least: a filter that asks what they hold matches none that its caller may not query.
 */
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
  const mustBeSeen = (action === 'update' || action === 'delete') && input && asks(scope, input, filterValue);
  const filter = and(
    candidates,
    input ? compileFilter(scope, input, filterValue) : undefined,
    action && authFilter(scope, type, action),
    mustBeSeen ? authFilter(scope, type, 'query') : undefined,
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

/** More than that some nodes are meant: all, or those that ids or the values of one @id name. The peer looks past rules here. */
function asks({ names }: Scope, input: GraphQLInputObjectType, value: unknown): boolean {
  if (names.dgraph) return false;
  const given = Object.entries((value ?? {}) as Given).filter(([, each]) => each !== null && each !== undefined);
  if (given.length === 0) return false;
  const [[key, by]] = given;
  return given.length > 1 || !isNaming(inputMeaning(input.getFields()[key]), by);
}

type Given = Readonly<Record<string, unknown>>;

function isNaming(meaning: InputMeaning | undefined, by: unknown): boolean {
  if (meaning?.op === 'ids') return true;
  if (meaning?.op !== 'search' || !meaning.field.xid) return false;
  return Object.entries(by as Given).every(([operator, value]) => NAMING.has(operator) && !isOrHoldsNull(value));
}

const NAMING: ReadonlySet<string> = new Set(['eq', 'in']);

/** `eq: null` asks for nodes without a value. */
const isOrHoldsNull = (value: unknown): boolean => value === null || (Array.isArray(value) && value.includes(null));
