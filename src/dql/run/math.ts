import { GraphsteadError, STEP, type Steps } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import { convert, type Value } from '../../values/index.js';
import type { ValueColumn } from '../contract.js';
import type { MathExpression } from '../syntax/index.js';
import { applyMath, type MathContext } from './math-operator.js';
import { union } from './uid-set.js';
import { EMPTY_COLUMN, valueAt } from './variable.js';

/** An operand: one value for all uids, or a column. */
export type Operand = { readonly constant: Value } | { readonly column: ValueColumn };

/** Evaluates an expression a column at a time. Throws INVALID_QUERY with the position of the operator at fault. */
export function* evaluateMath(
  expression: MathExpression,
  variable: (name: string) => Steps<Operand>,
  context: MathContext,
): Steps<Operand> {
  switch (expression.kind) {
    case 'constant':
      return { constant: constantOf(expression) };
    case 'variable':
      return yield* variable(expression.name);
    case 'apply': {
      if (expression.op === 'cond') return yield* decide(expression, variable, context);
      const [only] = expression.args;
      if (expression.op === 'neg' && isWhole(only)) return { constant: constantOf(only, '-') };
      const args: Operand[] = [];
      for (const arg of expression.args) args.push(yield* evaluateMath(arg, variable, context));
      return yield* applyColumns(expression, args, context);
    }
  }
}

type Constant = Extract<MathExpression, { kind: 'constant' }>;

/** A whole number as it is written, with no sign: below zero there is one more of them than above. */
function isWhole(expression: MathExpression): expression is Constant {
  return expression.kind === 'constant' && expression.type === 'int' && /^\d/.test(expression.text);
}

function constantOf({ text, type, position }: Constant, sign = ''): Value {
  const typed = type ?? (/^[-+]?\d+$/.test(text) ? 'int' : text === 'true' || text === 'false' ? 'bool' : 'float');
  const written = typed === 'int' && /^0x[\da-f]+$/i.test(text) ? BigInt(text).toString() : text;
  try {
    return convert({ type: 'default', value: sign + written }, typed);
  } catch (error) {
    if (!(error instanceof GraphsteadError)) throw error;
    throw new GraphsteadError('INVALID_QUERY', error.message, { position, fix: error.fix });
  }
}

type Application = Extract<MathExpression, { kind: 'apply' }>;

/**
 * `cond`: each of its two results is computed only for the uids that take it, so that a test can keep a division from
 * the nodes where it divides by zero.
 */
function* decide(
  expression: Application,
  variable: (name: string) => Steps<Operand>,
  context: MathContext,
): Steps<Operand> {
  const [test, yes, no] = expression.args;
  const tested = yield* evaluateMath(test, variable, context);
  if ('constant' in tested) {
    // refuses what is no truth value
    applyOne(expression, [tested.constant], context);
    return yield* evaluateMath(tested.constant.value === true ? yes : no, variable, context);
  }
  const args: Operand[] = [tested];
  for (const result of [yes, no]) {
    const where = yield* uidsWhere(tested.column, result === yes);
    const taken = function* (name: string): Steps<Operand> {
      return yield* onlyAt(where, yield* variable(name));
    };
    args.push(yield* evaluateMath(result, taken, context));
  }
  return yield* applyColumns(expression, args, context);
}

function* uidsWhere({ uids, values }: ValueColumn, outcome: boolean): Steps<UidList> {
  const found = new Float64Array(uids.length);
  let n = 0;
  for (let i = 0; i < uids.length; i++) {
    if (i % STEP === STEP - 1) yield;
    if (values[i].value === outcome) found[n++] = uids[i];
  }
  return found.subarray(0, n);
}

function* onlyAt(where: UidList, operand: Operand): Steps<Operand> {
  if ('constant' in operand) return operand;
  const kept = new Float64Array(where.length);
  const values: Value[] = [];
  for (let i = 0; i < where.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const value = valueAt(operand.column, where[i]);
    if (value === undefined) continue;
    kept[values.length] = where[i];
    values.push(value);
  }
  return { column: { uids: kept.subarray(0, values.length), values } };
}

function* applyColumns(expression: Application, args: readonly Operand[], context: MathContext): Steps<Operand> {
  const columns = args.flatMap((arg) => ('column' in arg ? [arg.column] : []));
  if (columns.length === 0) {
    const value = applyOne(
      expression,
      args.map((arg) => ('constant' in arg ? arg.constant : undefined)),
      context,
    );
    return value === undefined ? { column: EMPTY_COLUMN } : { constant: value };
  }
  const uids = union(columns.map((column) => column.uids));
  const cursors = args.map(() => 0);
  const kept = new Float64Array(uids.length);
  const values: Value[] = [];
  for (let n = 0; n < uids.length; n++) {
    if (n % STEP === STEP - 1) yield;
    const uid = uids[n];
    const operands = args.map((arg, i) => {
      if ('constant' in arg) return arg.constant;
      const { column } = arg;
      // every uid of a column is one of the union
      return column.uids[cursors[i]] === uid ? column.values[cursors[i]++] : undefined;
    });
    const value = applyOne(expression, operands, context);
    if (value === undefined) continue;
    kept[values.length] = uid;
    values.push(value);
  }
  return { column: { uids: kept.subarray(0, values.length), values } };
}

function applyOne(
  expression: Application,
  args: readonly (Value | undefined)[],
  context: MathContext,
): Value | undefined {
  try {
    return applyMath(expression.op, args, context);
  } catch (error) {
    if (!(error instanceof GraphsteadError) || error.position) throw error;
    throw new GraphsteadError(error.code, error.message, { position: expression.position, fix: error.fix });
  }
}
