import { GraphsteadError } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import { compareValues, decodeValue, encodeValue, type Value } from '../../values/index.js';
import type { ResultGroup } from '../contract.js';
import type { AggregateSelection, GroupBy, Selection } from '../syntax/index.js';
import { readColumn } from './batch.js';
import type { ResultBranch } from './branch.js';
import { aggregate } from './compute.js';
import type { Execution } from './execution.js';
import { chooseValues } from './language.js';
import { indexOf, sortedDistinct } from './uid-set.js';
import { columnOf, valueFor } from './variable.js';

type GroupKey = ResultGroup['keys'][number];

/** The values that each uid has for each key: several for edges and lists, none where it belongs to no group. */
type KeyColumns = readonly (readonly (readonly GroupKey[])[])[];

/** Groups the rows of a branch, and sets the variables of the groups over all of its rows together. */
export async function groupBranch(
  at: ResultBranch,
  groupBy: GroupBy,
  selections: readonly Selection[],
  execution: Execution,
): Promise<void> {
  const uids = at.dest;
  const columns: (readonly (readonly GroupKey[])[])[] = [];
  for (const key of groupBy.keys) columns.push(await readKey(key, uids, execution));
  const results: ((members: UidList) => Value | undefined)[] = [];
  for (const selection of selections) results.push(await resultOf(selection, uids, execution));
  const form = (members: UidList) => formGroups(members, uids, columns, results);
  at.groups = (at.rows ?? []).map(form);
  defineGroupVariables(form(uids), selections, groupBy, execution);
}

async function readKey(
  key: GroupBy['keys'][number],
  uids: UidList,
  execution: Execution,
): Promise<readonly (readonly GroupKey[])[]> {
  await execution.checkpoint();
  execution.countUids(key.reverse ? `~${key.name}` : key.name, uids.length);
  const predicate = execution.predicate(key.name);
  if (!predicate) return Array.from(uids, () => []);
  if (predicate.type === 'uid') {
    const rows = await readColumn(uids, execution, async (batch) => {
      const matrix = await execution.reader.edges(predicate, batch, { reverse: key.reverse });
      return matrix.rows;
    });
    return rows.map((row) => Array.from(row, (uid): GroupKey => ({ type: 'uid', value: uid })));
  }
  if (predicate.list) {
    throw new GraphsteadError('INVALID_QUERY', `cannot group by ${key.name}: it holds lists of values`, {
      fix: 'Group by predicates with one value, or by edges.',
    });
  }
  const { values } = await chooseValues(execution, predicate, uids, key.langs);
  return values.map((value) => (value ? [decodeValue(value)] : []));
}

/** What a selection of the groupby block computes from the members of a group. */
async function resultOf(
  selection: Selection,
  uids: UidList,
  execution: Execution,
): Promise<(members: UidList) => Value | undefined> {
  if (selection.kind === 'countUid') return (members) => ({ type: 'int', value: members.length });
  if (selection.kind === 'aggregate') return aggregateOf(selection, uids, execution);
  throw new GraphsteadError('INVALID_QUERY', 'a block with @groupby holds counts and aggregates only', {
    position: selection.position,
    fix: 'Select count(uid), or min, max, sum or avg of a predicate or of a value variable.',
  });
}

async function aggregateOf(
  selection: AggregateSelection,
  uids: UidList,
  execution: Execution,
): Promise<(members: UidList) => Value | undefined> {
  const { of, op } = selection;
  const over = (valueAt: (uid: number) => Value | undefined) => (members: UidList) =>
    aggregate(
      op,
      Array.from(members, valueAt).filter((value) => value !== undefined),
    );
  if (of.kind === 'variable') {
    const variable = execution.variables.get(of.name);
    return over((uid) => valueFor(variable, uid));
  }
  const predicate = execution.predicate(of.name);
  if (!predicate) return () => undefined;
  execution.countUids(of.name, uids.length);
  const { values } = await chooseValues(execution, predicate, uids, of.langs);
  return over((uid) => {
    const bytes = values.at(indexOf(uids, uid));
    return bytes && decodeValue(bytes);
  });
}

function formGroups(
  members: UidList,
  uids: UidList,
  columns: KeyColumns,
  results: readonly ((members: UidList) => Value | undefined)[],
): readonly ResultGroup[] {
  const groups = new Map<string, { keys: readonly GroupKey[]; uids: number[] }>();
  for (const uid of members) {
    const at = indexOf(uids, uid);
    for (const keys of combinations(columns.map((column) => column[at]))) {
      const id = keys.map(keyText).join('|');
      const group = groups.get(id);
      if (group) group.uids.push(uid);
      else groups.set(id, { keys, uids: [uid] });
    }
  }
  return [...groups.values()]
    .map((group) => {
      const inside = sortedDistinct(Float64Array.from(group.uids));
      return { keys: group.keys, uids: inside, results: results.map((result) => result(inside)) };
    })
    .sort(smallerFirst);
}

function combinations(lists: readonly (readonly GroupKey[])[]): readonly (readonly GroupKey[])[] {
  return lists.reduce<readonly (readonly GroupKey[])[]>(
    (found, list) => found.flatMap((keys) => list.map((key) => [...keys, key])),
    [[]],
  );
}

function keyText(key: GroupKey): string {
  return key.type === 'uid' ? `u${key.value}` : Buffer.from(encodeValue(key)).toString('latin1');
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

function compareKeys(a: GroupKey, b: GroupKey): number {
  if (a.type === 'uid' || b.type === 'uid') return Number(a.value) - Number(b.value);
  return compareValues(a, b);
}

function defineGroupVariables(
  groups: readonly ResultGroup[],
  selections: readonly Selection[],
  groupBy: GroupBy,
  execution: Execution,
): void {
  selections.forEach((selection, i) => {
    if (selection.variable === undefined) return;
    const pairs = new Map<number, Value>();
    for (const group of groups) {
      const [key] = group.keys;
      if (groupBy.keys.length !== 1 || key.type !== 'uid') {
        throw new GraphsteadError(
          'INVALID_QUERY',
          'a variable of a group needs one key, and this an edge, since its values belong to nodes',
          { position: selection.position },
        );
      }
      const value = group.results[i];
      if (value !== undefined) pairs.set(key.value, value);
    }
    execution.variables.set(selection.variable, { values: columnOf(pairs) });
  });
}
