import { GraphsteadError } from '../../../base/index.js';
import { compareValues, convert, type Value } from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, filterUids } from '../uid-set.js';
import { distinctValues, uidsOf, valueFor } from '../variable.js';
import { invalid, textOf } from './argument.js';
import type { CallOperator } from './contract.js';

/** `ge(val(score), 35)`: at root, the uids of the variable itself are asked. */
export const valueCall: CallOperator = {
  root: async (call, execution) => valueCall.filter(call, uidsOf(execution.variables.get(variableOf(call))), execution),
  async filter(call, candidates, execution) {
    const variable = execution.variables.get(variableOf(call));
    const test = compareWith(call, execution);
    if (!variable) return EMPTY;
    return filterUids(candidates, (uid) => {
      const value = valueFor(variable, uid);
      return value !== undefined && test(value);
    });
  },
};

function variableOf(call: FunctionCall): string {
  if (call.subject?.kind === 'value') return call.subject.variable;
  throw invalid('val(..) expected', call.position, 'Write it as ge(val(v), 2).');
}

/** The call as a test of one value. Texts of the arguments are read in the value's own type. */
export function compareWith(call: FunctionCall, execution: Execution): (value: Value) => boolean {
  const wanted = call.args.flatMap((argument): Value[] => {
    if (argument.kind !== 'value') return [{ type: 'default', value: textOf(argument, call) }];
    return [...distinctValues(execution.variables.get(argument.variable))];
  });
  const order = (value: Value, at: number): number | undefined => {
    const other = wanted[at];
    if (other === undefined) return undefined;
    return compareValues(value, like(other, value, call));
  };
  const holds = (value: Value, at: number, accept: (order: number) => boolean): boolean => {
    const result = order(value, at);
    return result !== undefined && accept(result);
  };
  switch (call.name) {
    case 'eq':
      return (value) => wanted.some((_, at) => holds(value, at, (o) => o === 0));
    case 'le':
      return (value) => holds(value, 0, (o) => o <= 0);
    case 'lt':
      return (value) => holds(value, 0, (o) => o < 0);
    case 'ge':
      return (value) => holds(value, 0, (o) => o >= 0);
    case 'gt':
      return (value) => holds(value, 0, (o) => o > 0);
    case 'between':
      return (value) => holds(value, 0, (o) => o >= 0) && holds(value, 1, (o) => o <= 0);
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
