import { GraphsteadError, inSteps, type MaybePromise, type Position, STEP, type Steps } from '../../base/index.js';
import { compareValues, type Value } from '../../values/index.js';
import type { ValueColumn } from '../contract.js';
import type { AggregateSelection, MathExpression, MathSelection, ValueSelection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { evaluateMath, type Operand } from './math.js';
import { addValues, divideBy } from './math-operator.js';
import { Places } from './places.js';
import { columnBy, EMPTY_COLUMN, GLOBAL_UID, mergeColumns, type RunVariable } from './variable.js';

type Computed = ValueSelection | AggregateSelection | MathSelection;

/** A selection whose values are computed, with where it stands. */
interface Task {
  readonly branch: ResultBranch;
  readonly syntax: Computed;
  readonly parent: ResultBranch;
  /** branches from the block down to `parent` */
  readonly path: readonly ResultBranch[];
}

/**
 * Fills val(), aggregates and math of a block once everything of it is read, and sets the variables that they define.
 * They are computed in the order in which they need each other, wherever they stand.
 */
export function computeValues(root: ResultBranch, execution: Execution): MaybePromise<void> {
  const tasks: Task[] = [];
  collectTasks(root, [root], tasks);
  if (tasks.length > 0) return computeTasks(tasks, execution);
}

async function computeTasks(tasks: readonly Task[], execution: Execution): Promise<void> {
  const open = new Map<string, number>();
  for (const { syntax } of tasks) {
    if (syntax.variable === undefined) continue;
    open.set(syntax.variable, (open.get(syntax.variable) ?? 0) + 1);
    execution.variables.delete(syntax.variable);
  }
  let waiting = tasks;
  while (waiting.length > 0) {
    const ready = waiting.filter(({ syntax }) => needs(syntax).every((name) => !open.get(name)));
    // A text with variables in a circle is refused where it is read; this ends in any case.
    const next = ready.length > 0 ? ready : waiting.slice(0, 1);
    for (const task of next) {
      await execution.checkpoint();
      store(task, await inSteps(compute(task, execution), () => execution.checkpoint()), execution);
      const { variable } = task.syntax;
      if (variable !== undefined) open.set(variable, (open.get(variable) ?? 1) - 1);
    }
    waiting = waiting.filter((task) => !next.includes(task));
  }
}

/** Levels below first, then the selections of a level as they are written. */
function collectTasks(at: ResultBranch, path: readonly ResultBranch[], into: Task[]): void {
  for (const child of at.children) if (child.children.length > 0) collectTasks(child, [...path, child], into);
  for (const child of at.children) {
    const { syntax } = child;
    if (syntax.kind === 'value' || syntax.kind === 'aggregate' || syntax.kind === 'math') {
      into.push({ branch: child, syntax, parent: at, path });
    }
  }
}

function needs(syntax: Computed): readonly string[] {
  switch (syntax.kind) {
    case 'value':
      return [syntax.of];
    case 'aggregate':
      return syntax.of.kind === 'variable' ? [syntax.of.name] : [];
    case 'math':
      return mathVariables(syntax.expression);
  }
}

function mathVariables(expression: MathExpression): readonly string[] {
  if (expression.kind === 'variable') return [expression.name];
  return expression.kind === 'apply' ? expression.args.flatMap(mathVariables) : [];
}

/** undefined: there is nothing to compute from */
type Result = Operand | undefined;

function* compute({ branch, syntax, parent, path }: Task, execution: Execution): Steps<Result> {
  const alone = isRootless(parent);
  switch (syntax.kind) {
    case 'value': {
      const variable = execution.variables.get(syntax.of);
      if (alone) return onlyAggregated(variable, syntax.position);
      // The one value of a variable for everything shows at its own uid only.
      if (variable?.constant) return { column: { uids: Float64Array.of(GLOBAL_UID), values: [variable.constant] } };
      return { column: variable?.values ?? EMPTY_COLUMN };
    }
    case 'aggregate':
      return alone
        ? yield* aggregateAll(syntax, execution)
        : { column: yield* aggregateLevel(syntax, path, execution) };
    case 'math': {
      const operand = yield* evaluateMath(
        syntax.expression,
        // what only defines a variable may have a value for each node: nothing of it is shown
        (name) => operandOf(name, alone && syntax.variable === undefined, path, syntax.position, execution),
        { now: execution.clock.wall() },
      );
      if (alone || 'column' in operand) return operand;
      const { source } = branch;
      return { column: { uids: source, values: new Array<Value>(source.length).fill(operand.constant) } };
    }
  }
}

function isRootless(at: ResultBranch): boolean {
  return at.syntax.kind === 'block' && !at.syntax.root && !at.syntax.shortest;
}

function onlyAggregated(variable: RunVariable | undefined, position: Position): Result {
  if (variable?.constant) return { constant: variable.constant };
  if (!variable?.values || variable.values.uids.length === 0) return undefined;
  throw new GraphsteadError(
    'INVALID_QUERY',
    'a block without a root shows one value of each variable, and this one has a value for each node',
    {
      position,
      fix: 'Aggregate the variable first, or give the block a root function.',
    },
  );
}

function store({ branch, syntax, parent, path }: Task, result: Result, execution: Execution): void {
  if (result && 'constant' in result) branch.constant = result.constant;
  else if (result) branch.computed = result.column;
  if (syntax.variable === undefined) return;
  if (isRootless(parent)) {
    const { constant, computed } = branch;
    execution.variables.set(syntax.variable, computed ? { values: computed, path: [] } : { constant, path });
    return;
  }
  // @recurse defines a variable at every level.
  const before = execution.variables.get(syntax.variable)?.values ?? EMPTY_COLUMN;
  execution.variables.set(syntax.variable, { values: mergeColumns(before, branch.computed ?? EMPTY_COLUMN), path });
}

function* operandOf(
  name: string,
  alone: boolean,
  path: readonly ResultBranch[],
  position: Position,
  execution: Execution,
): Steps<Operand> {
  const variable = execution.variables.get(name);
  if (alone) return onlyAggregated(variable, position) ?? { column: EMPTY_COLUMN };
  if (variable?.constant) return { constant: variable.constant };
  return { column: variable ? yield* carry(variable, path, position) : EMPTY_COLUMN };
}

/**
 * Brings a variable of a level above down to the level of `path`: each node gets the sum of the values of the nodes
 * that lead to it.
 */
function* carry(variable: RunVariable, path: readonly ResultBranch[], position: Position): Steps<ValueColumn> {
  let column = variable.values ?? EMPTY_COLUMN;
  const from = variable.path ?? [];
  if (from.length === 0 || from.length > path.length || from.some((branch, i) => branch !== path[i])) return column;
  for (const branch of path.slice(from.length)) column = yield* step(column, branch, position);
  return column;
}

function* step(column: ValueColumn, through: ResultBranch, position: Position): Steps<ValueColumn> {
  const { source, rows = [], dest } = through;
  const sums = new Array<Value | undefined>(dest.length).fill(undefined);
  const from = Places.finder(column.uids);
  const to = Places.finder(dest);
  for (let i = 0; i < rows.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const at = from(source[i]);
    if (at < 0) continue;
    const value = column.values[at];
    if (value.type !== 'int' && value.type !== 'float') {
      throw new GraphsteadError('INVALID_QUERY', 'only numbers can be carried down to another level', {
        position,
        fix: 'Use the variable at the level where its values are.',
      });
    }
    for (const uid of rows[i]) {
      const place = to(uid);
      const before = sums[place];
      sums[place] = before ? addValues(before, value) : value;
    }
  }
  return yield* columnBy(dest, (i) => sums[i]);
}

/** In a block without root: over all values of the variable. */
function* aggregateAll(syntax: AggregateSelection, execution: Execution): Steps<Result> {
  if (syntax.of.kind !== 'variable') throw wrongLevel(syntax);
  const variable = execution.variables.get(syntax.of.name);
  const values = variable?.constant ? [variable.constant] : (variable?.values?.values ?? []);
  const result = yield* aggregateMany(syntax.op, values);
  return result && { constant: result };
}

/** For each uid of the level: over the values of the nodes that the sibling branch with the variable leads to. */
function* aggregateLevel(
  syntax: AggregateSelection,
  path: readonly ResultBranch[],
  execution: Execution,
): Steps<ValueColumn> {
  if (syntax.of.kind !== 'variable') throw wrongLevel(syntax);
  const variable = execution.variables.get(syntax.of.name);
  // below an edge that no node has ever had nothing was read, and nothing is defined
  if (!variable) return EMPTY_COLUMN;
  const from = variable.path ?? [];
  const sibling = from[path.length];
  if (from.length !== path.length + 1 || path.some((branch, i) => branch !== from[i])) throw wrongLevel(syntax);
  const { source, rows = [] } = sibling;
  const { uids, values: all } = variable.values ?? EMPTY_COLUMN;
  const place = Places.finder(uids);
  const results: (Value | undefined)[] = [];
  let looked = 0;
  for (let i = 0; i < rows.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const values: Value[] = [];
    for (const uid of rows[i]) {
      if (++looked % STEP === 0) yield;
      const at = place(uid);
      if (at >= 0) values.push(all[at]);
    }
    results.push(yield* aggregateMany(syntax.op, values));
  }
  return yield* columnBy(source, (i) => results[i]);
}

function wrongLevel(syntax: AggregateSelection): GraphsteadError {
  const { of } = syntax;
  return new GraphsteadError(
    'INVALID_QUERY',
    `val(${of.kind === 'variable' ? of.name : ''}) cannot be aggregated at this level`,
    {
      position: syntax.position,
      fix: 'Aggregate a variable beside the edge in whose block it is defined, or in a block without root.',
    },
  );
}

/** undefined for no values, and for sums of what cannot be added */
export function* aggregateMany(op: AggregateSelection['op'], values: readonly Value[]): Steps<Value | undefined> {
  const addends = op === 'min' || op === 'max' ? values : values.filter(isAddend);
  let result = addends.at(0);
  for (let start = 1; start < addends.length; start += STEP) {
    result = fold(op, result as Value, addends, start);
    yield;
  }
  return result !== undefined && op === 'avg' ? divideBy(result, addends.length) : result;
}

function isAddend({ type }: Value): boolean {
  return type === 'int' || type === 'float' || type === 'bigfloat' || type === 'float32vector';
}

/** One step, in a function of its own: what runs for long in one call is not compiled. */
function fold(op: AggregateSelection['op'], before: Value, values: readonly Value[], start: number): Value {
  let result = before;
  const end = Math.min(values.length, start + STEP);
  for (let i = start; i < end; i++) {
    const value = values[i];
    if (op === 'min') result = compareValues(value, result) < 0 ? value : result;
    else if (op === 'max') result = compareValues(value, result) > 0 ? value : result;
    else result = addValues(result, value);
  }
  return result;
}
