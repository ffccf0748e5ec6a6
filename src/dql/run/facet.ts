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

/** Whether facets of one edge or value pass. A facet that is absent passes no test. */
export function passesFacets(filter: FacetFilter, facets: Facets | undefined): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.children.every((child) => passesFacets(child, facets));
    case 'or':
      return filter.children.some((child) => passesFacets(child, facets));
    case 'not':
      return !passesFacets(filter.child, facets);
    case 'test': {
      const value = facetOf(facets, filter.key);
      return value !== undefined && test(filter, value);
    }
  }
}

function test(filter: Extract<FacetFilter, { kind: 'test' }>, value: Value): boolean {
  if (filter.fn === 'allofterms' || filter.fn === 'anyofterms') {
    const terms = new Set(termsOf(valueText(value)));
    const wanted = termsOf(filter.args.join(' '));
    if (wanted.length === 0) return false;
    return filter.fn === 'allofterms'
      ? wanted.every((term) => terms.has(term))
      : wanted.some((term) => terms.has(term));
  }
  return filter.args.some((arg) => {
    const order = compareWith(value, arg);
    return order !== undefined && accepts(filter.fn, order);
  });
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
function compareWith(value: Value, text: string): number | undefined {
  try {
    if (value.type === 'int' && /^[-+]?\d*\.\d+$/.test(text)) return Number(value.value) - Number(text);
    return compareValues(value, convert({ type: 'default', value: text }, value.type));
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
