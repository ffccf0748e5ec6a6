import { GraphsteadError } from '../../../base/index.js';
import { compareValues, convert, type Value } from '../../../values/index.js';
import type { Argument, FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, filterUids } from '../uid-set.js';
import { distinctValues, uidsOf, valueFor } from '../variable.js';
import { invalid, textOf } from './argument.js';
import type { CallOperator } from './contract.js';

/**
 * `ge(val(score), 35)`: at root, the uids of the variable itself are asked. `gt(val(a), val(b))` compares what each node has
 * in both, and does not hold where it has nothing in one.
 */
export const valueCall: CallOperator = {
  root: async (call, execution) =>
    await valueCall.filter(call, uidsOf(execution.variables.get(variableOf(call))), execution),
  async filter(call, candidates, execution) {
    const variable = execution.variables.get(variableOf(call));
    const test = comparisonOf(call);
    const wanted = wantedOf(call, execution);
    if (!variable) return EMPTY;
    return filterUids(candidates, (uid) => {
      const value = valueFor(variable, uid);
      return value !== undefined && test(value, wanted(uid));
    });
  },
};

/** What a node's value is compared with, of that node. */
function wantedOf(call: FunctionCall, execution: Execution): (uid: number) => Wanted {
  const { args } = call;
  const given = args.map((argument) => (argument.kind === 'value' ? undefined : written(argument, call)));
  if (!given.includes(undefined)) return () => given;
  const variables = args.map((argument) =>
    argument.kind === 'value' ? execution.variables.get(argument.variable) : undefined,
  );
  return (uid) => given.map((value, at) => value ?? valueFor(variables[at], uid));
}

const written = (argument: Argument, call: FunctionCall): Value => ({ type: 'default', value: textOf(argument, call) });

function variableOf(call: FunctionCall): string {
  if (call.subject?.kind === 'value') return call.subject.variable;
  throw invalid('val(..) expected', call.position, 'Write it as ge(val(v), 2).');
}

/** The call as a test of one value, which belongs to no node: a variable stands for all of its values. */
export function compareWith(call: FunctionCall, execution: Execution): (value: Value) => boolean {
  const wanted = call.args.flatMap((argument) =>
    argument.kind === 'value' ? distinctValues(execution.variables.get(argument.variable)) : [written(argument, call)],
  );
  const test = comparisonOf(call);
  return (value) => test(value, wanted);
}

/** undefined: there is nothing to compare with */
type Wanted = readonly (Value | undefined)[];

/** The call's comparison. Texts are read in the value's own type. */
function comparisonOf(call: FunctionCall): (value: Value, wanted: Wanted) => boolean {
  const holds = (value: Value, other: Value | undefined, accept: (order: number) => boolean): boolean =>
    other !== undefined && accept(compareValues(value, like(other, value, call)));
  switch (call.name) {
    case 'eq':
      return (value, wanted) => wanted.some((other) => holds(value, other, (o) => o === 0));
    case 'le':
      return (value, [other]) => holds(value, other, (o) => o <= 0);
    case 'lt':
      return (value, [other]) => holds(value, other, (o) => o < 0);
    case 'ge':
      return (value, [other]) => holds(value, other, (o) => o >= 0);
    case 'gt':
      return (value, [other]) => holds(value, other, (o) => o > 0);
    case 'between':
      return (value, [from, to]) => holds(value, from, (o) => o >= 0) && holds(value, to, (o) => o <= 0);
    default:
      throw invalid(`${call.name} cannot compare val()`, call.position, 'Use eq, le, lt, ge, gt or between.');
  }
}

/** A text as a value that compares with `value`. Throws INVALID_QUERY for one that cannot be read so. */
function like(other: Value, value: Value, call: FunctionCall): Value {
  if (other.type === value.type || (other.type !== 'default' && other.type !== 'string')) return other;
  const type = value.type === 'int' && /[.eE]/.test(other.value) ? 'float' : value.type;
  try {
    return convert(other, type);
  } catch (error) {
    if (!(error instanceof GraphsteadError)) throw error;
    throw invalid(
      `${call.name} compares a value of type ${value.type} with "${other.value}"`,
      call.position,
      `Write a value of type ${value.type}.`,
    );
  }
}
