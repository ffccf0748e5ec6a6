import { GraphsteadError } from '../../base/index.js';
import { type Predicate, StoredColumn } from '../../graph/index.js';
import { checkPassword, decodeValue, type Value } from '../../values/index.js';
import type { CheckPasswordSelection, PredicateSelection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import type { Execution } from './execution.js';
import { facetTest } from './facet.js';
import { chooseValues, readAll } from './language.js';

/** Reads the values of a selection into its branch: all of a list or of "@*", otherwise one a uid. */
export async function readValues(
  into: ResultBranch,
  selection: PredicateSelection,
  predicate: Predicate,
  execution: Execution,
): Promise<void> {
  const paused = execution.checkpoint();
  if (paused) await paused;
  execution.countUids(selection.name, into.source.length);
  // A stored password is never shown.
  if (predicate.type === 'password') return;
  const facets = selection.facets !== undefined || selection.facetFilter !== undefined;
  const everyLang = selection.langs.includes('*');
  if (predicate.list || everyLang) return await readLists(into, selection, predicate, facets, everyLang, execution);
  const choosing = chooseValues(execution, predicate, into.source, selection.langs, facets);
  const chosen = choosing instanceof Promise ? await choosing : choosing;
  const passes = selection.facetFilter && facetTest(selection.facetFilter);
  into.values = passes
    ? StoredColumn.of(chosen.values.map((value, i) => (passes(chosen.facets?.[i]) ? value : undefined)))
    : chosen.values;
  if (facets) into.valueFacets = chosen.facets;
}

async function readLists(
  into: ResultBranch,
  selection: PredicateSelection,
  predicate: Predicate,
  facets: boolean,
  everyLang: boolean,
  execution: Execution,
): Promise<void> {
  const passes = selection.facetFilter && facetTest(selection.facetFilter);
  const all = await readAll(execution, predicate, into.source, facets);
  const kept = passes ? all.map((values) => values.filter((value) => passes(value.facets))) : all;
  into.valueLists = kept.map((values) => values.map((value) => value.value));
  if (everyLang) into.valueLangs = kept.map((values) => values.map((value) => value.lang));
  if (facets) into.listFacets = kept.map((values) => values.map((value) => value.facets));
}

/** `checkpwd(password, "secret")`: true or false for every uid, false where there is no password. */
export async function readPassword(
  into: ResultBranch,
  selection: CheckPasswordSelection,
  execution: Execution,
): Promise<void> {
  await execution.checkpoint();
  execution.countUids(selection.name, into.source.length);
  const predicate = execution.predicate(selection.name);
  if (predicate && predicate.type !== 'password') throw notPassword(selection, predicate);
  const stored = predicate && (await execution.reader.values(predicate, into.source, ''));
  const values: Value[] = [];
  for (let i = 0; i < into.source.length; i++) {
    // One check takes some 40 ms by design.
    await execution.checkpoint();
    const bytes = stored?.at(i);
    const value = bytes && decodeValue(bytes);
    const right = value?.type === 'password' && (await checkPassword(value.value, selection.password));
    values.push({ type: 'bool', value: right });
  }
  into.computed = { uids: into.source, values };
}

function notPassword(selection: CheckPasswordSelection, predicate: Predicate): GraphsteadError {
  return new GraphsteadError(
    'INVALID_QUERY',
    `checkpwd needs a predicate of type password, ${selection.name} is of type ${predicate.type}`,
    { position: selection.position, fix: `Declare it: ${selection.name}: password .` },
  );
}
