import { type MaybePromise, type Names, TYPE_PREDICATE } from '../../../base/index.js';
import type { UidList } from '../../../graph/index.js';
import type { Argument, FunctionCall, FunctionName } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { checkLanguages } from '../language.js';
import { compareCall } from './compare.js';
import type { CallOperator } from './contract.js';
import { countCall } from './count.js';
import { geoCall } from './geo.js';
import { hasCall } from './has.js';
import { lengthCall } from './length.js';
import { matchCall } from './match.js';
import { ngramCall } from './ngram.js';
import { passwordCall } from './password.js';
import { regexpCall } from './regexp.js';
import { similarCall } from './similar.js';
import { termsCall } from './terms.js';
import { uidCall } from './uid.js';
import { uidInCall } from './uid-in.js';
import { valueCall } from './value.js';

/** `type(Person)` is an equality on the type predicate. */
const typeCall: CallOperator = {
  root: (call, execution) => compareCall.root(asEquality(call, execution), execution),
  first: async (call, execution, page) => compareCall.first?.(asEquality(call, execution), execution, page),
  size: (call, execution) => compareCall.size?.(asEquality(call, execution), execution),
  filter: (call, candidates, execution) => compareCall.filter(asEquality(call, execution), candidates, execution),
};

const TYPES: FunctionCall['subject'] = Object.freeze({
  kind: 'predicate',
  name: TYPE_PREDICATE,
  shown: TYPE_PREDICATE,
  langs: [],
  reverse: false,
});

function asEquality({ args, position, listed }: FunctionCall, { names }: Execution): FunctionCall {
  const stored = names.dgraph ? args.map((argument) => storedType(argument, names)) : args;
  return { name: 'eq', subject: TYPES, args: stored, position, ...(listed ? { listed } : {}) };
}

function storedType(argument: Argument, names: Names): Argument {
  return argument.kind === 'literal' ? { ...argument, text: names.stored(argument.text) } : argument;
}

const OPERATORS: Readonly<Record<FunctionName, CallOperator>> = {
  uid: uidCall,
  has: hasCall,
  eq: compareCall,
  le: compareCall,
  lt: compareCall,
  ge: compareCall,
  gt: compareCall,
  between: compareCall,
  type: typeCall,
  allofterms: termsCall,
  anyofterms: termsCall,
  alloftext: termsCall,
  anyoftext: termsCall,
  regexp: regexpCall,
  match: matchCall,
  ngram: ngramCall,
  uid_in: uidInCall,
  near: geoCall,
  within: geoCall,
  contains: geoCall,
  intersects: geoCall,
  similar_to: similarCall,
  checkpwd: passwordCall,
};

function operatorOf(call: FunctionCall, execution: Execution): CallOperator {
  const { subject, position } = call;
  if (subject?.kind === 'predicate' && subject.langs.length > 0) {
    checkLanguages(execution.predicate(subject.name), subject.langs, position, execution);
  }
  switch (subject?.kind) {
    case 'count':
      return countCall;
    case 'value':
      return valueCall;
    case 'length':
      return lengthCall;
    default:
      return OPERATORS[call.name];
  }
}

/** Every uid for which a root function holds, ascending. */
export async function callRoot(call: FunctionCall, execution: Execution): Promise<UidList> {
  const paused = execution.checkpoint();
  if (paused) await paused;
  return await operatorOf(call, execution).root(call, execution);
}

/** The first of what `callRoot` gives; see CallOperator. */
export async function callFirst(
  call: FunctionCall,
  execution: Execution,
  page: { readonly after: number; readonly count: number },
): Promise<UidList | undefined> {
  const paused = execution.checkpoint();
  if (paused) await paused;
  return operatorOf(call, execution).first?.(call, execution, page);
}

/** How many uids `callRoot` gives at most; see CallOperator. */
export function sizeOf(call: FunctionCall, execution: Execution): MaybePromise<number | undefined> {
  return operatorOf(call, execution).size?.(call, execution);
}

/** Those of the candidates for which a filter's call holds. */
export async function callFilter(call: FunctionCall, candidates: UidList, execution: Execution): Promise<UidList> {
  const paused = execution.checkpoint();
  if (paused) await paused;
  return await operatorOf(call, execution).filter(call, candidates, execution);
}
