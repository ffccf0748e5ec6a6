import type { CountPredicateSelection } from '../syntax/index.js';
import { readColumn } from './batch.js';
import { branch, type ResultBranch } from './branch.js';
import { readEdges } from './edge.js';
import type { Execution } from './execution.js';
import { facetTest } from './facet.js';
import { checkLanguages, chooseValues, readAll } from './language.js';
import { checkReverse } from './missing.js';

/** `count(friend)`, with filters, for every uid of the source. */
export async function readCounts(
  into: ResultBranch,
  selection: CountPredicateSelection,
  execution: Execution,
): Promise<void> {
  await execution.checkpoint();
  const predicate = execution.predicate(selection.name);
  into.predicate = predicate;
  checkLanguages(predicate, selection.langs, selection.position, execution);
  const narrowed = selection.filter || selection.facetFilter || selection.page;
  if (!predicate) {
    execution.countUids(selection.name, into.source.length);
    into.counts = new Array<number>(into.source.length).fill(0);
  } else if (predicate.type === 'uid' && narrowed) {
    const edges = branch(into.syntax, into.source, predicate);
    await readEdges(edges, { ...selection, order: [], page: selection.page ?? {} }, predicate, execution);
    into.counts = edges.rows?.map((row) => row.length);
  } else {
    if (selection.reverse) checkReverse(predicate, selection.position, execution);
    execution.countUids(selection.name, into.source.length);
    into.counts = await countValues(into, selection, execution);
  }
}

async function countValues(
  into: ResultBranch,
  selection: CountPredicateSelection,
  execution: Execution,
): Promise<readonly number[]> {
  const predicate = into.predicate;
  if (!predicate) return [];
  const passes = selection.facetFilter && facetTest(selection.facetFilter);
  const oneLang = predicate.lang && !selection.langs.includes('*');
  if (predicate.type === 'uid' || (!passes && !oneLang)) {
    const options = selection.reverse ? { reverse: true } : {};
    return await readColumn(into.source, execution, (batch) => execution.reader.counts(predicate, batch, options));
  }
  if (predicate.list && passes) {
    const all = await readAll(execution, predicate, into.source, true);
    return all.map((values) => values.filter((value) => passes(value.facets)).length);
  }
  const { values, facets } = await chooseValues(
    execution,
    predicate,
    into.source,
    selection.langs,
    passes !== undefined,
  );
  return values.map((value, i) => (value && (!passes || passes(facets?.[i])) ? 1 : 0));
}
