import { atOnce, GraphsteadError, type Position, STEP, type Steps } from '../../base/index.js';
import { MAX_UID, type UidList } from '../../graph/index.js';
import { compareValues, type Value } from '../../values/index.js';
import type { QueryVariable, ValueColumn } from '../contract.js';
import type { ResultBranch } from './branch.js';
import { EMPTY, placeOf, sortedDistinct } from './uid-set.js';

/**
 * The one uid that `uid(x)` gives when x holds one value for everything (`x as count(uid)`): no node has it.
 */
export const GLOBAL_UID = MAX_UID + 1;

export const EMPTY_COLUMN: ValueColumn = { uids: EMPTY, values: [] };

/** A variable while its query runs. */
export interface RunVariable extends QueryVariable {
  /** uids in the order of a path, for variables of `shortest` */
  readonly ordered?: UidList;
  /** every member of a list predicate, for `expand(val(x))` */
  readonly members?: readonly Value[];
  /** branches from the block down to the one whose uids the values belong to */
  readonly path?: readonly ResultBranch[];
}

/** A column from pairs in any order. A repeated uid keeps its last value. */
export function* columnOf(pairs: ReadonlyMap<number, Value>): Steps<ValueColumn> {
  const uids = sortedDistinct(Float64Array.from(pairs.keys()));
  const values: Value[] = [];
  for (const uid of uids) {
    if (values.push(pairs.get(uid) as Value) % STEP === 0) yield;
  }
  return { uids, values };
}

/** A column of those uids of an ascending list that have a value. */
export function* columnBy(uids: UidList, valueIn: (i: number) => Value | undefined): Steps<ValueColumn> {
  const kept = new Float64Array(uids.length);
  const values: Value[] = [];
  for (let i = 0; i < uids.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const value = valueIn(i);
    if (value === undefined) continue;
    kept[values.length] = uids[i];
    values.push(value);
  }
  return { uids: kept.subarray(0, values.length), values };
}

export function valueAt(column: ValueColumn | undefined, uid: number): Value | undefined {
  if (!column) return undefined;
  const at = placeOf(column.uids, uid);
  return at < 0 ? undefined : column.values[at];
}

/** Throws INVALID_QUERY where the values of a variable are asked for that holds nodes. */
export function checkValues(name: string, variable: QueryVariable | undefined, position: Position): void {
  if (!variable?.uids || variable.values || variable.constant) return;
  throw new GraphsteadError('INVALID_QUERY', `the variable ${name} holds nodes and no values`, {
    position,
    fix: `Use uid(${name}), or define a variable with a value of them, as in x as age.`,
  });
}

/** The uids that `uid(x)` stands for, ascending. */
export function uidsOf(variable: RunVariable | undefined): UidList {
  if (!variable) return EMPTY;
  if (variable.uids) return variable.uids;
  if (variable.values) return variable.values.uids;
  return variable.constant === undefined ? EMPTY : Float64Array.of(GLOBAL_UID);
}

/** `val(x)` of one uid. */
export function valueFor(variable: RunVariable | undefined, uid: number): Value | undefined {
  if (!variable) return undefined;
  return variable.constant ?? valueAt(variable.values, uid);
}

/** The distinct values of a variable, ascending. */
export function distinctValues(variable: RunVariable | undefined): readonly Value[] {
  if (!variable) return [];
  if (variable.constant) return [variable.constant];
  const sorted = [...(variable.values?.values ?? [])].sort(compareValues);
  return sorted.filter((value, i) => i === 0 || compareValues(sorted[i - 1], value) !== 0);
}

/** What the variable held before and now, for variables that are defined at several levels (@recurse). */
export function mergeColumns(before: ValueColumn, now: ValueColumn): ValueColumn {
  if (before.uids.length === 0) return now;
  if (now.uids.length === 0) return before;
  const pairs = new Map<number, Value>();
  for (const column of [before, now]) {
    for (let i = 0; i < column.uids.length; i++) pairs.set(column.uids[i], column.values[i]);
  }
  return atOnce(columnOf(pairs));
}
