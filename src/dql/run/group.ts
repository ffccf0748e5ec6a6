import { assert, forEachInSteps, GraphsteadError, inSteps, STEP, type Steps } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import { decodeValue, type Value } from '../../values/index.js';
import type { ResultGroup } from '../contract.js';
import type { AggregateSelection, GroupBy, Selection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import { aggregateMany } from './compute.js';
import type { Execution } from './execution.js';
import { both, groupedValues, type Grouping, type GroupKeys, readGrouping } from './group-key.js';
import { pairOrder } from './number-order.js';
import { EMPTY, placeOf } from './uid-set.js';
import { columnOf, valueFor } from './variable.js';

/** What a selection of the groupby block tells of a group: how many members it has, or what is computed from them, who may be a million. */
type ResultOfGroup = 'count' | ((members: UidList) => Steps<Value | undefined>);

/** Groups the rows of a branch, and sets the variables of the groups over all of its rows together. */
export async function groupBranch(
  at: ResultBranch,
  groupBy: GroupBy,
  selections: readonly Selection[],
  execution: Execution,
): Promise<void> {
  const uids = at.dest;
  const pause = () => execution.checkpoint();
  let grouping: Grouping | undefined;
  for (const key of groupBy.keys) {
    const one = await readGrouping(key, uids, execution);
    grouping = grouping ? await both(grouping, one, execution) : one;
  }
  assert(grouping, 'the parser asks for a key');
  const results: ResultOfGroup[] = [];
  for (const selection of selections) results.push(await resultOf(selection, uids, execution));
  const groups: (readonly ResultGroup[])[] = [];
  const sizes = new Uint32Array(grouping.size);
  for (const row of at.rows ?? []) groups.push(await groupsOf(row, uids, { grouping, results, sizes }, execution));
  at.groups = groups;
  if (!selections.some((selection) => selection.variable !== undefined)) return;
  const all = at.rows?.length === 1 ? groups[0] : await groupsOf(uids, uids, { grouping, results, sizes }, execution);
  await inSteps(defineGroupVariables(all, selections, groupBy, execution), pause);
}

async function resultOf(selection: Selection, uids: UidList, execution: Execution): Promise<ResultOfGroup> {
  if (selection.kind === 'countUid') return 'count';
  if (selection.kind === 'aggregate') return await aggregateOf(selection, uids, execution);
  throw new GraphsteadError('INVALID_QUERY', 'a block with @groupby holds counts and aggregates only', {
    position: selection.position,
    fix: 'Select count(uid), or min, max, sum or avg of a predicate or of a value variable.',
  });
}

async function aggregateOf(selection: AggregateSelection, uids: UidList, execution: Execution): Promise<ResultOfGroup> {
  const { of, op, position } = selection;
  const over = (valueAt: (uid: number) => Value | undefined) =>
    function* aggregated(members: UidList): Steps<Value | undefined> {
      const values: Value[] = [];
      yield* forEachInSteps(members, (uid) => {
        const value = valueAt(uid);
        if (value !== undefined) values.push(value);
      });
      return yield* aggregateMany(op, values);
    };
  if (of.kind === 'variable') {
    const variable = execution.variables.get(of.name);
    return over((uid) => valueFor(variable, uid));
  }
  const predicate = execution.predicate(of.name);
  if (!predicate) return over(() => undefined);
  execution.countUids(of.name, uids.length);
  const values = await groupedValues(predicate, uids, { langs: of.langs, position }, execution);
  return over((uid) => {
    const bytes = values.at(placeOf(uids, uid));
    return bytes && decodeValue(bytes);
  });
}

/** What all rows are grouped by. */
interface Grouped {
  readonly grouping: Grouping;
  readonly results: readonly ResultOfGroup[];
  /** of each group how many members it has in the row at hand; zeros between rows */
  readonly sizes: Uint32Array;
}

/**
 * The groups of some members in the order in which they are shown: small ones first, then by their keys.
 * @param uids what the grouping is aligned with
 */
async function groupsOf(
  members: UidList,
  uids: UidList,
  { grouping, results, sizes }: Grouped,
  execution: Execution,
): Promise<readonly ResultGroup[]> {
  const pause = () => execution.checkpoint();
  const met = await inSteps(countMembers(members, uids, grouping, sizes), pause);
  const order = await smallerFirst(met, sizes, grouping, execution);
  const counted = results.every((result) => result === 'count');
  const membersOf = counted ? undefined : await inSteps(gatherMembers(members, uids, grouping, order, sizes), pause);
  return await inSteps(showGroups(order, { grouping, results, sizes }, membersOf), pause);
}

/** Counts the members of each group; answers which groups have some, each once. */
function* countMembers(members: UidList, uids: UidList, grouping: Grouping, sizes: Uint32Array): Steps<number[]> {
  const { numbers, starts } = grouping;
  const met: number[] = [];
  for (let i = 0; i < members.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const at = uids[i] === members[i] ? i : placeOf(uids, members[i]);
    for (let n = starts[at]; n < starts[at + 1]; n++) if (sizes[numbers[n]]++ === 0) met.push(numbers[n]);
  }
  return met;
}

async function smallerFirst(
  met: number[],
  sizes: Uint32Array,
  { ranks }: Grouping,
  execution: Execution,
): Promise<ArrayLike<number>> {
  if (met.length <= STEP) return met.sort((a, b) => sizes[a] - sizes[b] || ranks[a] - ranks[b]);
  await execution.checkpoint();
  const own = Float64Array.from(met, (group) => ranks[group]);
  const bySize = Float64Array.from(met, (group) => sizes[group]);
  const order = await pairOrder(bySize, own, () => execution.checkpoint());
  return order.map((at) => met[at]);
}

/** The members of groups, ascending, by their place in the order. */
type MembersOf = (place: number) => UidList;

function* gatherMembers(
  members: UidList,
  uids: UidList,
  { numbers, starts }: Grouping,
  order: ArrayLike<number>,
  sizes: Uint32Array,
): Steps<MembersOf> {
  const places = new Map<number, number>();
  const ends = new Uint32Array(order.length + 1);
  for (let place = 0; place < order.length; place++) {
    if (place % STEP === STEP - 1) yield;
    places.set(order[place], place);
    ends[place + 1] = ends[place] + sizes[order[place]];
  }
  const all = new Float64Array(ends[order.length]);
  const next = ends.slice();
  for (let i = 0; i < members.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const at = uids[i] === members[i] ? i : placeOf(uids, members[i]);
    for (let n = starts[at]; n < starts[at + 1]; n++) all[next[places.get(numbers[n]) ?? 0]++] = members[i];
  }
  return (place) => all.slice(ends[place], ends[place + 1]).sort();
}

/** Makes what is shown of each group, and sets the sizes back. */
function* showGroups(
  order: ArrayLike<number>,
  { grouping, results, sizes }: Grouped,
  membersOf: MembersOf | undefined,
): Steps<readonly ResultGroup[]> {
  const shown: ResultGroup[] = [];
  let alike: { readonly size: number; readonly values: ResultGroup['results'] } | undefined;
  for (let place = 0; place < order.length; place++) {
    if (place % STEP === STEP - 1) yield;
    const group = order[place];
    const size = sizes[group];
    sizes[group] = 0;
    // where only counts are asked for, groups of one size show the same
    if (membersOf || alike?.size !== size) {
      alike = { size, values: yield* resultsOf(results, size, membersOf?.(place)) };
    }
    shown.push(new Group(grouping, group, alike.values));
  }
  return shown;
}

function* resultsOf(
  results: readonly ResultOfGroup[],
  size: number,
  members: UidList | undefined,
): Steps<ResultGroup['results']> {
  const values: (Value | undefined)[] = [];
  for (const result of results) {
    if (result === 'count') values.push({ type: 'int', value: size });
    else values.push(yield* result(members ?? EMPTY));
  }
  return values;
}

/** Its keys are made when they are shown. */
class Group implements ResultGroup {
  readonly #grouping: Grouping;
  readonly #group: number;

  constructor(
    grouping: Grouping,
    group: number,
    readonly results: ResultGroup['results'],
  ) {
    this.#grouping = grouping;
    this.#group = group;
  }

  get keys(): GroupKeys {
    return this.#grouping.keysOf(this.#group);
  }
}

function* defineGroupVariables(
  groups: readonly ResultGroup[],
  selections: readonly Selection[],
  groupBy: GroupBy,
  execution: Execution,
): Steps<void> {
  for (const [i, selection] of selections.entries()) {
    if (selection.variable === undefined) continue;
    const pairs = new Map<number, Value>();
    for (const [at, group] of groups.entries()) {
      if (at % STEP === STEP - 1) yield;
      const [key] = group.keys;
      if (groupBy.keys.length !== 1 || key.type !== 'uid') {
        throw new GraphsteadError(
          'INVALID_QUERY',
          'a variable of a group needs one key, and this an edge, since its values belong to nodes',
          {
            position: selection.position,
            fix: `Group by one edge alone, or remove "${selection.variable} as".`,
          },
        );
      }
      const value = group.results[i];
      if (value !== undefined) pairs.set(key.value, value);
    }
    execution.variables.set(selection.variable, { values: yield* columnOf(pairs) });
  }
}
