import { expandNode } from '../query/expand';
import { addAnswer, emptyPicture, nameNodes, type PictureData } from '../query/nodes';
import { query } from '../query/run';
import { type GraphSchema, isReserved, labelPredicates, type Predicate, written } from '../query/schema';

export const PAGE = 50;
/** a schema without types may have thousands of predicates */
const MOST_COUNTS = 200;
/** kinds of values that say nothing in a cell */
const UNREADABLE = ['password', 'float32vector'];

/** What can be browsed: the nodes of a type, or those with a predicate that no type has. */
export interface Source {
  readonly name: string;
  /** the function that finds its nodes, as it is written in a query */
  readonly func: string;
  readonly columns: readonly Predicate[];
}

export interface Row {
  readonly uid: string;
  /** one a column of the source */
  readonly cells: readonly unknown[];
}

interface RowsPage {
  readonly rows: readonly Row[];
  /** the uid after which the next page begins */
  readonly next?: string;
}

/** Types first, then predicates outside of every type. */
export function sourcesOf({ predicates, types }: GraphSchema): Source[] {
  const readable = predicates.filter(({ predicate, type }) => !isReserved(predicate) && !UNREADABLE.includes(type));
  const byName = new Map(readable.map((one) => [one.predicate, one]));
  const typed = new Set(types.flatMap(({ fields = [] }) => fields.map(({ name }) => name)));
  return [
    ...types.map(({ name, fields = [] }) => ({
      name,
      func: `type(${written(name)})`,
      columns: fields.flatMap((field) => byName.get(field.name) ?? []),
    })),
    ...readable
      .filter(({ predicate }) => !typed.has(predicate))
      .map((one) => ({ name: one.predicate, func: `has(${written(one.predicate)})`, columns: [one] })),
  ];
}

/** How many nodes each of the first has, in their order. */
export async function countNodes(sources: readonly Source[]): Promise<number[]> {
  const counted = sources.slice(0, MOST_COUNTS);
  const blocks = counted.map(({ func }, i) => `n${i}(func: ${func}) { total: count(uid) }`);
  const { data } = await query(`{ ${blocks.join('\n')} }`, {}, '?ro=true');
  return counted.map((_, i) => (data[`n${i}`] as { total: number }[] | undefined)?.[0]?.total ?? 0);
}

/** The query of one page: a column a value, a count an edge; one node more than is shown tells whether more follow. */
export function pageQuery({ func, columns }: Source, after: string, filter: string): string {
  const lines = columns.map(({ predicate, type, lang }, i) =>
    type === 'uid' ? `c${i}: count(${written(predicate)})` : `c${i}: ${written(predicate)}${lang ? '@.' : ''}`,
  );
  const from = after === '' ? '' : `, after: ${after}`;
  const only = filter.trim() === '' ? '' : ` @filter(${filter})`;
  return `{\n  nodes(func: ${func}, first: ${PAGE + 1}${from})${only} {\n    ${['uid', ...lines].join('\n    ')}\n  }\n}`;
}

export async function readPage(source: Source, after: string, filter: string): Promise<RowsPage> {
  const { data } = await query(pageQuery(source, after, filter), {}, '?ro=true');
  const found = (data['nodes'] ?? []) as Readonly<Record<string, unknown>>[];
  const rows = found.slice(0, PAGE).map((node) => ({
    uid: String(node['uid']),
    cells: source.columns.map((_, i) => node[`c${i}`]),
  }));
  return { rows, ...(found.length > PAGE && { next: rows[PAGE - 1].uid }) };
}

/** A node and what stands around it. */
export async function readNode(uid: string, schema: GraphSchema, typePredicate: string): Promise<PictureData> {
  const { data } = await query(`{ node(func: uid(${uid})) { ${typePredicate} } }`, {}, '?ro=true');
  const types = (data['node'] as Readonly<Record<string, string[]>>[] | undefined)?.[0]?.[typePredicate] ?? [];
  const around = emptyPicture();
  addAnswer(around, await expandNode(uid, types, schema, typePredicate), typePredicate);
  nameNodes(around, labelPredicates(schema));
  return around;
}
