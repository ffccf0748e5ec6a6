import { forEachInSteps, type GraphsteadError, inSteps, type MaybePromise, STEP } from '../../../base/index.js';
import type { IndexSpec, Predicate, TokenRange, UidList } from '../../../graph/index.js';
import {
  compareStored,
  compareValues,
  encodeValue,
  type IndexKind,
  isHashedToken,
  queryTokens,
  type ScalarType,
  type StoredValue,
  tokenizer,
  tokensOf,
  type Value,
} from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { missingIndex, withIndex } from '../missing.js';
import { sortInSteps } from '../sort-in-steps.js';
import { EMPTY, intersect, union, unionOfRows } from '../uid-set.js';
import { invalid, isLong, pickIndex, readyIndex, scalarType, subjectOf, valuesInSteps, valuesOf } from './argument.js';
import { filterByValue } from './by-value.js';
import type { CallOperator } from './contract.js';
import { intersectPostings } from './intersection.js';
import { countsUnder } from './lookup.js';

/** Indexes that answer an equality, the exact ones first. */
const EQUALITY: readonly IndexKind[] = [
  'exact',
  'hash',
  'int',
  'bool',
  'bigfloat',
  'float',
  'hour',
  'day',
  'month',
  'year',
  'term',
  'fulltext',
];
/** Indexes whose tokens follow the order of the values, the finest first. */
const ORDERED: readonly IndexKind[] = ['exact', 'int', 'bigfloat', 'float', 'hour', 'day', 'month', 'year'];

/** Up to so many candidates it is cheaper to read their values than the index. */
const FEW_FOR_EQUALITY = 256;
const FEW_FOR_RANGE = 20_000;

/** What a comparison asks of a value. */
interface Comparison {
  readonly equal?: readonly Value[];
  readonly from?: Value;
  readonly to?: Value;
  readonly fromExclusive?: boolean;
  readonly toExclusive?: boolean;
}

/** eq, le, lt, ge, gt and between on a predicate. */
export const compareCall: CallOperator = {
  async root(call, execution) {
    const subject = subjectOf(call);
    const predicate = execution.predicate(subject.name);
    // Nothing has a predicate that the schema does not know.
    if (!predicate) return EMPTY;
    const type = scalarType(predicate, call);
    const index = pickIndex(predicate, kindsFor(call));
    if (!index) throw notIndexed(call, predicate, execution);
    const reading = comparisonOf(call, type, execution);
    const comparison = reading instanceof Promise ? await reading : reading;
    return comparison ? await lookup(call, predicate, index, comparison, execution) : EMPTY;
  },

  async first(call, execution, page) {
    const predicate = execution.predicate(subjectOf(call).name);
    const index = predicate && readyIndex(predicate, kindsFor(call));
    if (!index || predicate.lang || tokenizer(index.kind).lossy || call.args.length !== 1) return undefined;
    const equal = (await comparisonOf(call, scalarType(predicate, call), execution))?.equal;
    if (equal?.length !== 1) return undefined;
    const [token] = queryTokens(index.kind, equal[0]);
    if (!token || isHashedToken(token)) return undefined;
    return execution.reader.firstPostings(predicate, index.kind, token, page);
  },

  async size(call, execution) {
    const { name } = subjectOf(call);
    const predicate = execution.predicate(name);
    if (!predicate) return 0;
    const index = readyIndex(predicate, kindsFor(call));
    if (!index) return undefined;
    const reading = comparisonOf(call, scalarType(predicate, call), execution);
    const comparison = reading instanceof Promise ? await reading : reading;
    if (!comparison) return 0;
    return comparison.equal
      ? await countEqual(call, predicate, index, comparison.equal, execution)
      : Number.POSITIVE_INFINITY;
  },

  async filter(call, candidates, execution) {
    const subject = subjectOf(call);
    const predicate = execution.predicate(subject.name);
    if (!predicate) return EMPTY;
    const reading = comparisonOf(call, scalarType(predicate, call), execution);
    const comparison = reading instanceof Promise ? await reading : reading;
    if (!comparison) return EMPTY;
    const few = comparison.equal ? FEW_FOR_EQUALITY : FEW_FOR_RANGE;
    const index = candidates.length > few ? readyIndex(predicate, kindsFor(call)) : undefined;
    if (index) return intersect(candidates, await lookup(call, predicate, index, comparison, execution));
    const test = testOf(comparison, execution);
    return await filterByValue(
      execution,
      predicate,
      candidates,
      subject.langs,
      test instanceof Promise ? await test : test,
    );
  },
};

function kindsFor(call: FunctionCall): readonly IndexKind[] {
  return call.name === 'eq' ? EQUALITY : ORDERED;
}

/** What a call at root lacks: the index to add, or another way to ask where there is none. */
function notIndexed(call: FunctionCall, predicate: Predicate, execution: Execution): GraphsteadError {
  const { name, type, indexes } = predicate;
  const kind = kindsFor(call).find((one) => tokenizer(one).types.includes(type));
  if (!kind) {
    const order = call.name === 'eq' ? '' : ' in order';
    return invalid(`no index keeps values of type ${type}${order}, as ${name} has`, call.position, insteadOf(type));
  }
  const message =
    indexes.length === 0
      ? `${call.name} at root reads an index, and ${name} has none`
      : call.name === 'eq'
        ? `none of the indexes of ${name} can answer eq`
        : `none of the indexes of ${name} keeps its values in order, which ${call.name} needs`;
  return missingIndex(message, predicate, { indexes: withIndex(predicate, kind) }, call.position, execution);
}

/** How values that no index compares are asked for. */
function insteadOf(type: Predicate['type']): string {
  if (type === 'bool') return 'Use eq.';
  if (type === 'geo') return 'Use near, within, contains or intersects.';
  return type === 'password' ? 'Use checkpwd in a filter.' : 'Use similar_to.';
}

/** undefined: nothing can match, because a variable in the arguments is empty. A promise where there may be many values */
function comparisonOf(
  call: FunctionCall,
  type: ScalarType,
  execution: Execution,
): MaybePromise<Comparison | undefined> {
  if (type === 'password') {
    throw invalid(`${subjectOf(call).name} is a password: it cannot be compared`, call.position, 'Use checkpwd.');
  }
  if (!isLong(call)) return comparisonBy(call, valuesOf(call, type, execution));
  return inSteps(valuesInSteps(call, type, execution), () => execution.checkpoint()).then((values) =>
    comparisonBy(call, values),
  );
}

function comparisonBy(call: FunctionCall, values: readonly Value[]): Comparison | undefined {
  if (call.name === 'eq') return values.length === 0 ? undefined : { equal: values };
  const written = call.args.length;
  const wanted = call.name === 'between' ? 2 : 1;
  if (written !== wanted) {
    const fix =
      call.name === 'between' ? 'Write between(predicate, from, to).' : `Write ${call.name}(predicate, value).`;
    throw invalid(
      `${call.name} takes ${wanted === 1 ? 'one value' : 'two values'}, found ${written}`,
      call.position,
      fix,
    );
  }
  if (values.length < wanted) return undefined;
  const [first, second] = values;
  switch (call.name) {
    case 'le':
      return { to: values[values.length - 1] };
    case 'lt':
      return { to: values[values.length - 1], toExclusive: true };
    case 'ge':
      return { from: first };
    case 'gt':
      return { from: first, fromExclusive: true };
    case 'between':
      return { from: first, to: second };
    default:
      throw invalid(`${call.name} is not a comparison`, call.position, 'Use eq, le, lt, ge, gt or between.');
  }
}

type Test = (value: StoredValue) => boolean;

/** The comparison as a test of a stored value; a promise where it is one of many. */
function testOf(comparison: Comparison, execution: Execution): MaybePromise<Test> {
  const { equal } = comparison;
  if (equal && equal.length > STEP) return testOfMany(equal, execution);
  if (equal) {
    const wanted = equal.map(encodeValue).sort(compareStored);
    return (value) => holds(wanted, value);
  }
  const from = comparison.from && encodeValue(comparison.from);
  const to = comparison.to && encodeValue(comparison.to);
  const least = comparison.fromExclusive ? 1 : 0;
  const most = comparison.toExclusive ? -1 : 0;
  return (value) => (!from || compareStored(value, from) >= least) && (!to || compareStored(value, to) <= most);
}

async function testOfMany(equal: readonly Value[], execution: Execution): Promise<Test> {
  const wanted: StoredValue[] = [];
  const encoding = forEachInSteps(equal, (value) => wanted.push(encodeValue(value)));
  await inSteps(encoding, () => execution.checkpoint());
  const order = await sortInSteps(wanted.length, (a, b) => compareStored(wanted[a], wanted[b]), execution);
  const sorted = Array.from(order, (at) => wanted[at]);
  return (value) => holds(sorted, value);
}

/** Whether a sorted list holds a value: an upsert by key may ask for thousands. */
function holds(sorted: readonly StoredValue[], value: StoredValue): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareStored(sorted[middle], value);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

function lookup(
  call: FunctionCall,
  predicate: Predicate,
  index: IndexSpec,
  comparison: Comparison,
  execution: Execution,
): Promise<UidList> {
  const { langs } = subjectOf(call);
  const verify = async (uids: UidList) =>
    filterByValue(execution, predicate, uids, langs, await testOf(comparison, execution));
  return comparison.equal
    ? lookupEqual(predicate, index, comparison.equal, langs, verify, execution)
    : lookupRange(predicate, index, comparison, verify, execution);
}

type Verify = (uids: UidList) => Promise<UidList>;

/** How many uids stand under the tokens of the values. */
async function countEqual(
  call: FunctionCall,
  predicate: Predicate,
  index: IndexSpec,
  values: readonly Value[],
  execution: Execution,
): Promise<number> {
  let total = 0;
  for (const value of values) {
    const paused = execution.checkpoint();
    if (paused) await paused;
    const tokens = equalTokens(index, value, subjectOf(call).langs);
    if (tokens.length === 0) return Number.POSITIVE_INFINITY;
    const counts = await countsUnder(predicate, index.kind, tokens, execution);
    total += counts.reduce((least, count) => Math.min(least, count));
  }
  return total;
}

/** None where an equal value may stand under any: a text without words, or one in any language of an index of stems. */
function equalTokens(index: IndexSpec, value: Value, langs: readonly string[]): readonly Uint8Array[] {
  if (index.kind === 'fulltext' && langs.includes('.')) return [];
  return queryTokens(index.kind, value, langs[0] ?? '');
}

async function lookupEqual(
  predicate: Predicate,
  index: IndexSpec,
  values: readonly Value[],
  langs: readonly string[],
  verify: Verify,
  execution: Execution,
): Promise<UidList> {
  const found: UidList[] = [];
  let exact = !tokenizer(index.kind).lossy && !predicate.lang;
  for (const value of values) {
    const paused = execution.checkpoint();
    if (paused) await paused;
    const tokens = equalTokens(index, value, langs);
    // Nothing to look up: whoever has the predicate may have the value.
    if (tokens.length === 0) {
      exact = false;
      for await (const page of execution.reader.having(predicate)) found.push(page);
      continue;
    }
    if (tokens.some((token) => isHashedToken(token))) exact = false;
    const intersecting = intersectPostings(predicate, index.kind, tokens, execution);
    const { uids, complete } = intersecting instanceof Promise ? await intersecting : intersecting;
    if (!complete) exact = false;
    found.push(uids);
  }
  const candidates = union(found);
  return exact ? candidates : await verify(candidates);
}

/** The part of an index in the order of values that a comparison asks for. */
interface ComparedRange {
  readonly range: TokenRange;
  /** whatever lies in the range matches */
  readonly exact: boolean;
  /** whatever lies under this token of the range matches */
  readonly holds: (token: Uint8Array) => boolean;
}

/**
 * Where an index in the order of values holds what a comparison of a predicate's own values asks for. undefined: nothing
 * can match.
 */
export async function comparedRange(
  call: FunctionCall,
  predicate: Predicate,
  kind: IndexKind,
  execution: Execution,
): Promise<ComparedRange | undefined> {
  const comparison = await comparisonOf(call, scalarType(predicate, call), execution);
  if (!comparison?.equal) return comparison && rangeOf(comparison, kind, predicate.lang);
  const sorted = [...comparison.equal].sort(compareValues);
  return rangeOf({ from: sorted[0], to: sorted[sorted.length - 1] }, kind, true);
}

/** @param doubtful values under the tokens may be others than those that are compared */
function rangeOf(comparison: Comparison, kind: IndexKind, doubtful: boolean): ComparedRange {
  const bound = (value: Value | undefined) => value && tokensOf(kind, value)[0];
  const from = bound(comparison.from);
  const to = bound(comparison.to);
  // A token that was cut no longer says where its value stands: then every value is checked.
  if ([from, to].some((token) => token && isHashedToken(token))) return { range: {}, exact: false, holds: () => false };
  const { lossy } = tokenizer(kind);
  const range = {
    ...(from ? { from, fromExclusive: !lossy && comparison.fromExclusive } : {}),
    ...(to ? { to, toExclusive: !lossy && comparison.toExclusive } : {}),
  };
  const atBound = (token: Uint8Array) => same(token, from) || same(token, to);
  return {
    range,
    exact: !lossy && !doubtful,
    holds: (token) => !doubtful && !isHashedToken(token) && !(lossy && atBound(token)),
  };
}

async function lookupRange(
  predicate: Predicate,
  index: IndexSpec,
  comparison: Comparison,
  verify: Verify,
  execution: Execution,
): Promise<UidList> {
  const { range, holds } = rangeOf(comparison, index.kind, predicate.lang);
  const sure: UidList[] = [];
  const doubtful: UidList[] = [];
  for await (const page of execution.reader.tokens(predicate, index.kind, range)) {
    await execution.checkpoint();
    for (const { token, uids } of page) (holds(token) ? sure : doubtful).push(uids);
  }
  const checked = doubtful.length > 0 ? await verify(union(doubtful)) : EMPTY;
  sure.push(checked);
  // nearly each node may have a value of its own: so many lists take a while
  return sure.length <= STEP ? union(sure) : await inSteps(unionOfRows(sure), () => execution.checkpoint());
}

function same(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);
}
