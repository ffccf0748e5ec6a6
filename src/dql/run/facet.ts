import { GraphsteadError, type MaybePromise, STEP } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import { compareValues, convert, termsOf, type Value, valueText } from '../../values/index.js';
import type { FacetFilter, FacetRequest } from '../syntax/index.js';
import type { Execution } from './execution.js';
import { sortInSteps } from './sort-in-steps.js';

/** Facets of the rows of an edge, aligned with them. */
export type RowFacets = readonly (readonly (Facets | undefined)[])[];

export function facetOf(facets: Facets | undefined, key: string): Value | undefined {
  return facets?.find((facet) => facet.key === key)?.value;
}

/** Whether facets of one edge or value pass. */
type FacetTest = (facets: Facets | undefined) => boolean;

/** A facet that is absent passes no test. What the filter says is read once: there may be millions of edges. */
export function facetTest(filter: FacetFilter): FacetTest {
  switch (filter.kind) {
    case 'and': {
      const tests = filter.children.map(facetTest);
      return (facets) => tests.every((test) => test(facets));
    }
    case 'or': {
      const tests = filter.children.map(facetTest);
      return (facets) => tests.some((test) => test(facets));
    }
    case 'not': {
      const test = facetTest(filter.child);
      return (facets) => !test(facets);
    }
    case 'test': {
      const test = valueTest(filter);
      return (facets) => {
        const value = facetOf(facets, filter.key);
        return value !== undefined && test(value);
      };
    }
  }
}

function valueTest({ fn, args }: Extract<FacetFilter, { kind: 'test' }>): (value: Value) => boolean {
  if (fn === 'allofterms' || fn === 'anyofterms') return termTest(fn, termsOf(args.join(' ')));
  const compares = args.map(comparison);
  return (value) =>
    compares.some((compare) => {
      const order = compare(value);
      return order !== undefined && accepts(fn, order);
    });
}

function termTest(fn: string, wanted: readonly string[]): (value: Value) => boolean {
  return (value) => {
    const terms = new Set(termsOf(valueText(value)));
    if (wanted.length === 0) return false;
    return fn === 'allofterms' ? wanted.every((term) => terms.has(term)) : wanted.some((term) => terms.has(term));
  };
}

function accepts(fn: string, order: number): boolean {
  switch (fn) {
    case 'eq':
      return order === 0;
    case 'le':
      return order <= 0;
    case 'lt':
      return order < 0;
    case 'ge':
      return order >= 0;
    default:
      return order > 0;
  }
}

/** Facets have no schema: the text is read in the type of each value, and what cannot be read so does not match. */
function comparison(text: string): (value: Value) => number | undefined {
  const isFraction = /^[-+]?\d*\.\d+$/.test(text);
  /** the text in each type that a value had; undefined: it cannot be read so */
  const read = new Map<Value['type'], Value | undefined>();
  return (value) => {
    if (value.type === 'int' && isFraction) return Number(value.value) - Number(text);
    if (!read.has(value.type)) read.set(value.type, readAs(value.type, text));
    const own = read.get(value.type);
    return own && compareValues(value, own);
  };
}

function readAs(type: Value['type'], text: string): Value | undefined {
  try {
    return convert({ type: 'default', value: text }, type);
  } catch (error) {
    if (error instanceof GraphsteadError) return undefined;
    throw error;
  }
}

/** Rows in the order of facets: edges without the facet come last, ties stay as they were. */
export async function orderByFacets(
  rows: readonly UidList[],
  facets: RowFacets,
  order: FacetRequest['order'],
  execution: Execution,
): Promise<{ rows: UidList[]; facets: RowFacets }> {
  const ordered: UidList[] = [];
  const orderedFacets: (readonly (Facets | undefined)[])[] = [];
  let count = 0;
  for (const [i, row] of rows.entries()) {
    count += row.length + 1;
    if (count >= STEP) {
      await execution.checkpoint();
      count = 0;
    }
    const sorting = inFacetOrder(row, facets[i], order, execution);
    const positions = sorting instanceof Promise ? await sorting : sorting;
    // a row whose edges have no facets at all has none to walk, but keeps its edges
    ordered.push(Float64Array.from(positions, (at) => row[at]));
    orderedFacets.push(Array.from(positions, (at) => facets[i][at]));
  }
  return { rows: ordered, facets: orderedFacets };
}

function inFacetOrder(
  row: UidList,
  facets: RowFacets[number],
  order: FacetRequest['order'],
  execution: Execution,
): MaybePromise<ArrayLike<number>> {
  const columns = order.map(({ key }) => Array.from(row, (_, at) => facetOf(facets[at], key)));
  const compare = (a: number, b: number): number => {
    for (let i = 0; i < order.length; i++) {
      const result = compareFacets(columns[i][a], columns[i][b], order[i].descending);
      if (result !== 0) return result;
    }
    return a - b;
  };
  return row.length <= STEP ? Array.from(row.keys()).sort(compare) : sortInSteps(row.length, compare, execution);
}

function compareFacets(a: Value | undefined, b: Value | undefined, descending: boolean): number {
  if (a === undefined) return b === undefined ? 0 : 1;
  if (b === undefined) return -1;
  return descending ? compareValues(b, a) : compareValues(a, b);
}
