import { GraphsteadError } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import type { QueryVariable, RunOptions } from '../contract.js';
import type { Filter, FunctionCall } from '../syntax/index.js';
import { holdsCount } from './call/count.js';
import { compareWith } from './call/value.js';
import { Execution } from './execution.js';
import { checkValues, uidsOf } from './variable.js';

/**
 * The `@if` of a mutation: comparisons of `len(v)`, and of `val(v)`, which hold when they hold for any of its values.
 * Throws INVALID_QUERY for calls that are not about variables.
 */
export function holdsCondition(
  filter: Filter,
  variables: ReadonlyMap<string, QueryVariable>,
  reader: GraphReader,
  options: RunOptions,
): boolean {
  const execution = new Execution(reader, options);
  for (const [name, variable] of variables) execution.variables.set(name, variable);
  return holds(filter, execution);
}

function holds(filter: Filter, execution: Execution): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.children.every((child) => holds(child, execution));
    case 'or':
      return filter.children.some((child) => holds(child, execution));
    case 'not':
      return !holds(filter.child, execution);
    case 'call':
      return holdsCall(filter.call, execution);
  }
}

function holdsCall(call: FunctionCall, execution: Execution): boolean {
  const { subject } = call;
  if (subject?.kind === 'length') {
    return holdsCount(call, uidsOf(execution.variables.get(subject.variable)).length, execution);
  }
  if (subject?.kind === 'value') {
    const variable = execution.variables.get(subject.variable);
    checkValues(subject.variable, variable, call.position);
    const test = compareWith(call, execution);
    const values = variable?.constant ? [variable.constant] : (variable?.values?.values ?? []);
    return values.some(test);
  }
  throw new GraphsteadError('INVALID_QUERY', `${call.name} is not allowed in a condition`, {
    position: call.position,
    fix: 'Compare len(v) or val(v) of a variable of the query.',
  });
}
