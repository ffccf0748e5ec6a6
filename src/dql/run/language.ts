import { chain, GraphsteadError, type MaybePromise, type Position } from '../../base/index.js';
import {
  type Facets,
  type LangValue,
  mayHaveLanguages,
  type Predicate,
  StoredColumn,
  type UidList,
} from '../../graph/index.js';
import type { StoredValue } from '../../values/index.js';
import { readColumn, readValues } from './batch.js';
import type { Execution } from './execution.js';
import { languageRank, memberRank } from './fingerprint.js';

/** One value a uid, chosen by a language preference list; facets when they were asked for. */
interface ChosenValues {
  readonly values: StoredColumn;
  readonly facets?: readonly (Facets | undefined)[];
}

/**
 * Languages can be asked of predicates with @lang only. `@*` asks for whatever there is, also where there are none.
 * Throws INVALID_QUERY.
 */
export function checkLanguages(
  predicate: Predicate | undefined,
  langs: readonly string[],
  position: Position,
  { names }: Execution,
): void {
  if (!predicate || predicate.lang || langs.length === 0 || langs[0] === '*') return;
  const name = names.shown(predicate.name);
  const can = mayHaveLanguages(predicate);
  throw new GraphsteadError('INVALID_QUERY', `${name}@${langs.join(':')}: ${name} has no languages in the schema`, {
    position,
    fix: `Leave the tag out${can ? `, or add @lang to ${name} in the schema` : ''}.`,
  });
}

/**
 * The value of each uid in the first language of the list that has one. No list: the untagged value. "." is the
 * untagged value, then any.
 */
export function chooseValues(
  execution: Execution,
  predicate: Predicate,
  uids: UidList,
  langs: readonly string[],
  facets = false,
): MaybePromise<ChosenValues> {
  if (!facets && (langs.length === 0 || (langs.length === 1 && langs[0] !== '.'))) {
    return chain(readValues(predicate, uids, langs[0] ?? '', execution), (values) => ({ values }));
  }
  return chain(readAll(execution, predicate, uids, facets), (all) => {
    const chosen = all.map((values) => choose(values, langs));
    return {
      values: StoredColumn.of(chosen.map((value) => value?.value)),
      ...(facets ? { facets: chosen.map((value) => value?.facets) } : {}),
    };
  });
}

function choose(values: readonly LangValue[], langs: readonly string[]): LangValue | undefined {
  if (langs.length === 0) return values.find((value) => value.lang === '');
  for (const lang of langs) {
    const found = values.find((value) => value.lang === (lang === '.' ? '' : lang));
    if (found) return found;
    if (lang === '.' && values.length > 0) return values[0];
  }
  return undefined;
}

/**
 * Every value that a function on the predicate may match: all members of a list, all languages for "@.", otherwise
 * the one value that the language list chooses.
 */
export function candidateValues(
  execution: Execution,
  predicate: Predicate,
  uids: UidList,
  langs: readonly string[],
): MaybePromise<readonly (readonly StoredValue[])[]> {
  if (predicate.list || (predicate.lang && langs.includes('.'))) {
    const reading = execution.reader.allValues(predicate, uids);
    return chain(reading, (all) => all.map((values) => values.map((value) => value.value)));
  }
  return chain(chooseValues(execution, predicate, uids, langs), ({ values }) =>
    values.map((value) => (value ? [value] : NONE)),
  );
}

const NONE: readonly StoredValue[] = [];

/** All values of each uid, in the order that clients see: under `--compat dgraph` that of Dgraph. */
export async function readAll(
  execution: Execution,
  predicate: Predicate,
  uids: UidList,
  facets: boolean,
): Promise<readonly (readonly LangValue[])[]> {
  const options = facets ? { facets } : {};
  const all = await readColumn(uids, execution, (batch) => execution.reader.allValues(predicate, batch, options));
  if (!execution.names.dgraph) return all;
  const rank = predicate.list ? (one: LangValue) => memberRank(one.value) : (one: LangValue) => languageRank(one.lang);
  return all.map((values) => (values.length > 1 ? sortByRank(values, rank) : values));
}

function sortByRank(values: readonly LangValue[], rank: (value: LangValue) => bigint): readonly LangValue[] {
  const ranked = values.map((value) => ({ value, rank: rank(value) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0));
  return ranked.map((one) => one.value);
}
