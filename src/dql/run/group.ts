import { assert, forEachInSteps, GraphsteadError, inSteps, STEP, type Steps } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import { compareValues, decodeValue, type Value } from '../../values/index.js';
import type { ResultGroup } from '../contract.js';
import type { AggregateSelection, GroupBy, Selection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import { aggregateMany } from './compute.js';
import type { Execution } from './execution.js';
import { both, groupedValues, type Grouping, type GroupKeys, readGrouping } from './group-key.js';
import { sortInSteps } from './sort-in-steps.js';
import { placeOf, sortedDistinct } from './uid-set.js';
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
    const one = await inSteps(await readGrouping(key, uids, execution), pause);
    grouping = grouping ? await inSteps(both(grouping, one), pause) : one;
  }
  assert(grouping, 'the parser asks for a key');
  const results: ResultOfGroup[] = [];
  for (const selection of selections) results.push(await resultOf(selection, uids, execution));
  const groups: (readonly ResultGroup[])[] = [];
  for (const row of at.rows ?? []) groups.push(await groupsOf(row, uids, grouping, results, execution));
  at.groups = groups;
  if (!selections.some((selection) => selection.variable !== undefined)) return;
  const all = at.rows?.length === 1 ? groups[0] : await groupsOf(uids, uids, grouping, results, execution);
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

/**
 * The groups of some members in the order in which they are shown.
 * @param uids what the grouping is aligned with
 */
async function groupsOf(
  members: UidList,
  uids: UidList,
  grouping: Grouping,
  results: readonly ResultOfGroup[],
  execution: Execution,
): Promise<readonly ResultGroup[]> {
  const formed = await inSteps(formGroups(members, uids, grouping, results), () => execution.checkpoint());
  if (formed.length < 2) return formed;
  const order = await sortInSteps(formed.length, (a, b) => smallerFirst(formed[a], formed[b]), execution);
  return Array.from(order, (at) => formed[at]);
}

function* formGroups(
  members: UidList,
  uids: UidList,
  grouping: Grouping,
  results: readonly ResultOfGroup[],
): Steps<readonly ResultGroup[]> {
  const { numbers, starts, keys } = grouping;
  const groups = new Map<number, number[]>();
  for (let i = 0; i < members.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const at = uids[i] === members[i] ? i : placeOf(uids, members[i]);
    for (let n = starts[at]; n < starts[at + 1]; n++) {
      const group = groups.get(numbers[n]);
      if (group) group.push(members[i]);
      else groups.set(numbers[n], [members[i]]);
    }
  }
  const formed: ResultGroup[] = [];
  for (const [number, own] of groups) {
    if (formed.length % STEP === STEP - 1) yield;
    const inside = sortedDistinct(Float64Array.from(own));
    const values: (Value | undefined)[] = [];
    for (const result of results) {
      values.push(result === 'count' ? { type: 'int', value: inside.length } : yield* result(inside));
    }
    formed.push({ keys: keys[number], uids: inside, results: values });
  }
  return formed;
}

/** Small groups first, then by their keys. */
function smallerFirst(a: ResultGroup, b: ResultGroup): number {
  if (a.uids.length !== b.uids.length) return a.uids.length - b.uids.length;
  for (let i = 0; i < a.keys.length; i++) {
    const order = compareKeys(a.keys[i], b.keys[i]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareKeys(a: GroupKeys[number], b: GroupKeys[number]): number {
  if (a.type === 'uid' || b.type === 'uid') return Number(a.value) - Number(b.value);
  return compareValues(a, b);
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
