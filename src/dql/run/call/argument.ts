import { atOnce, forEachInSteps, GraphsteadError, type Position, STEP, type Steps } from '../../../base/index.js';
import type { IndexSpec, Predicate } from '../../../graph/index.js';
import {
  convert,
  type IndexKind,
  type ScalarType,
  tokenizer,
  type TypeName,
  type Value,
  valueText,
} from '../../../values/index.js';
import type { Argument, FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { missingIndex, undeclared, withIndex } from '../missing.js';
import { distinctValues } from '../variable.js';

type PredicateSubject = Extract<FunctionCall['subject'], { kind: 'predicate' }>;

export function invalid(message: string, position: Position, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_QUERY', message, { position, fix });
}

/** The predicate a call is asked of. */
export function subjectOf(call: FunctionCall): PredicateSubject {
  if (call.subject?.kind === 'predicate') return call.subject;
  throw invalid(
    `${call.name} needs a predicate as its first argument`,
    call.position,
    `Write ${call.name}(predicate, ...).`,
  );
}

/** The predicate of texts that a call is asked of; undefined for one that nobody declared. */
export function textPredicate(call: FunctionCall, execution: Execution): Predicate | undefined {
  const predicate = execution.predicate(subjectOf(call).name);
  if (predicate) checkType(predicate, tokenizer('trigram').types, call);
  return predicate;
}

/** Refuses a predicate whose values a call cannot look into. Throws INVALID_QUERY. */
export function checkType({ name, type }: Predicate, types: readonly TypeName[], call: FunctionCall): void {
  if (types.includes(type)) return;
  const text = type === 'string' || type === 'default';
  throw invalid(
    `${call.name} needs a predicate of type ${types[0]}, ${name} is of type ${type}`,
    call.position,
    `Ask a predicate of type ${types[0]}.${text ? ' Texts are searched by eq, anyofterms, anyoftext, regexp and match.' : ''}`,
  );
}

/** The predicate of a call that only an index of one kind can answer. Throws INVALID_QUERY, MISSING_INDEX, INDEX_BUILDING. */
export function indexedBy(kind: IndexKind, call: FunctionCall, execution: Execution): Predicate {
  const { name } = subjectOf(call);
  const predicate = execution.predicate(name) ?? undeclared(name, kind);
  checkType(predicate, tokenizer(kind).types, call);
  if (pickIndex(predicate, [kind])) return predicate;
  const message = `${call.name} reads an index of kind ${kind}, and ${name} has none`;
  throw missingIndex(message, predicate, { indexes: withIndex(predicate, kind) }, call.position, execution);
}

/** The text of an argument that must be one. */
export function textOf(argument: Argument | undefined, call: FunctionCall): string {
  if (argument?.kind === 'literal' || argument?.kind === 'coordinates') return argument.text;
  if (argument?.kind === 'uid') return `0x${argument.uid.toString(16)}`;
  if (argument?.kind === 'value') {
    throw invalid(
      `${call.name} takes no val(${argument.variable}) here`,
      argument.position,
      'Give it a text, a number or a uid; comparisons and words can be asked for by values of a variable.',
    );
  }
  throw invalid(`an argument of ${call.name} is missing`, call.position, 'Give it a text, a number or a uid.');
}

/** All texts of a call as one; `val(x)` stands for all values of x. */
export function textsOf(call: FunctionCall, execution: Execution): string {
  const texts = call.args.flatMap((argument) =>
    argument.kind === 'value'
      ? distinctValues(execution.variables.get(argument.variable)).map(valueText)
      : [textOf(argument, call)],
  );
  return texts.join(' ');
}

/**
 * Arguments as values of a type; `val(x)` stands for all values of x, and those between two whole numbers are asked of
 * whole ones as if of all numbers. Throws INVALID_VALUE with the position.
 */
export function valuesOf(call: FunctionCall, type: ScalarType, execution: Execution): Value[] {
  return atOnce(valuesInSteps(call, type, execution));
}

/** The same, of lists that may be long. */
export function* valuesInSteps(call: FunctionCall, type: ScalarType, execution: Execution): Steps<Value[]> {
  const values: Value[] = [];
  for (const [at, argument] of call.args.entries()) {
    if (argument.kind === 'value') {
      yield* forEachInSteps(distinctValues(execution.variables.get(argument.variable)), (value) => {
        const whole = type === 'int' ? nearestWhole(value, call.name, at) : value;
        if (whole !== undefined) values.push(converted(whole, type, argument));
      });
    } else values.push(converted({ type: 'default', value: textOf(argument, call) }, type, argument));
    if (at % STEP === STEP - 1) yield;
  }
  return values;
}

/** Whether what the arguments stand for may be a long list. */
export const isLong = ({ args }: FunctionCall): boolean =>
  args.length > STEP || args.some(({ kind }) => kind === 'value');

/** `ge(year, 1990.5)` holds for the years from 1991 on; undefined where no whole number can be equal. */
function nearestWhole(value: Value, name: FunctionCall['name'], at: number): Value | undefined {
  if (value.type !== 'float' && value.type !== 'bigfloat') return value;
  const number = Number(value.value);
  if (Number.isInteger(number)) return value;
  if (name === 'eq') return undefined;
  const up = name === 'ge' || name === 'lt' || (name === 'between' && at === 0);
  return { type: 'float', value: up ? Math.ceil(number) : Math.floor(number) };
}

const converted = (value: Value, type: ScalarType, argument: Argument): Value =>
  readAt(argument, () => convert(value, type));

/** What an argument is read as. A mistake in it is told with its position. */
export function readAt<Read>(argument: Argument, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof GraphsteadError)) throw error;
    throw new GraphsteadError(error.code, error.message, { position: argument.position, fix: error.fix, cause: error });
  }
}

/** The type that values of a predicate are compared in. */
export function scalarType(predicate: Predicate, call: FunctionCall): ScalarType {
  if (predicate.type !== 'uid') return predicate.type;
  throw invalid(
    `${call.name} compares values, and ${predicate.name} leads to nodes`,
    call.position,
    `Compare a value of the nodes, or use uid_in(${predicate.name}, ...) or has(${predicate.name}).`,
  );
}

/** The first ready index of the kinds, in their order. Throws INDEX_BUILDING when the only one is still being built. */
export function pickIndex(predicate: Predicate | undefined, kinds: readonly IndexKind[]): IndexSpec | undefined {
  if (!predicate) return undefined;
  let building: IndexSpec | undefined;
  for (const kind of kinds) {
    const index = predicate.indexes.find((spec) => spec.kind === kind);
    if (index?.ready) return index;
    building ??= index;
  }
  if (building) {
    throw new GraphsteadError(
      'INDEX_BUILDING',
      `the ${building.kind} index of ${predicate.name} is still being built`,
      {
        fix: 'Ask again when the build is done; /health shows how far it is.',
      },
    );
  }
  return undefined;
}

/** The first ready index of the kinds, for filters, which can do without. */
export function readyIndex(predicate: Predicate, kinds: readonly IndexKind[]): IndexSpec | undefined {
  for (const kind of kinds) {
    const index = predicate.indexes.find((spec) => spec.kind === kind && spec.ready);
    if (index) return index;
  }
  return undefined;
}
