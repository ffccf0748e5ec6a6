import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { printChange } from '../../dql/index.js';
import {
  type Graph,
  type GraphChange,
  type GraphReader,
  type LangValue,
  type Predicate,
  printSchema,
  type UidList,
} from '../../graph/index.js';
import { decodeValue, valueText } from '../../values/index.js';
import type { Names } from '../../base/index.js';

export type ExportFormat = 'rdf' | 'json';

export interface ExportOptions {
  readonly graph: Graph;
  readonly names: Names;
  /** GraphQL type definitions, when there are any */
  readonly graphql?: string;
  readonly directory: string;
  readonly format: ExportFormat;
  readonly onStatement?: (count: number) => void;
}

export interface ExportResult {
  readonly files: readonly string[];
  readonly statements: number;
}

/** Writes the graph at one commit timestamp, its schema and its GraphQL types; importing the files gives the same graph. */
export async function runExport(options: ExportOptions): Promise<ExportResult> {
  mkdirSync(options.directory, { recursive: true });
  const transaction = await options.graph.begin({ readOnly: true });
  let statements = 0;
  const count = (more: number) => {
    statements += more;
    options.onStatement?.(statements);
  };
  const reader = await transaction.reader();
  try {
    const files = [
      await writeGzip(join(options.directory, 'graph.schema.gz'), [printSchema(reader.schema, options.names)]),
      await writeGzip(join(options.directory, `graph.${options.format}.gz`), body(reader, options.format, count)),
    ];
    if (options.graphql) files.push(await writeGzip(join(options.directory, 'graph.graphql.gz'), [options.graphql]));
    return { files, statements };
  } finally {
    reader.release();
    transaction.abort();
  }
}

async function writeGzip(path: string, source: Iterable<string> | AsyncIterable<string>): Promise<string> {
  await pipeline(source, createGzip({ level: 5 }), createWriteStream(path));
  return path;
}

async function* body(reader: GraphReader, format: ExportFormat, count: (more: number) => void): AsyncIterable<string> {
  if (format === 'json') yield '[\n';
  let first = true;
  for (const predicate of reader.schema.predicates) {
    for await (const uids of reader.having(predicate)) {
      for await (const changes of changesOf(reader, predicate, uids)) {
        count(changes.length);
        if (format === 'rdf') yield changes.map((change) => `${printChange(change)}\n`).join('');
        else if (changes.length > 0) {
          yield `${first ? '' : ',\n'}${changes.map(jsonOf).join(',\n')}`;
          first = false;
        }
      }
    }
  }
  if (format === 'json') yield '\n]\n';
}

const PAGE = 1_000;

async function* changesOf(reader: GraphReader, predicate: Predicate, uids: UidList): AsyncIterable<GraphChange[]> {
  for (let at = 0; at < uids.length; at += PAGE) {
    const page = uids.subarray(at, at + PAGE);
    yield predicate.type === 'uid' ? await edges(reader, predicate, page) : await values(reader, predicate, page);
  }
}

async function edges(reader: GraphReader, predicate: Predicate, uids: UidList): Promise<GraphChange[]> {
  const matrix = await reader.edges(predicate, uids, { facets: true });
  return matrix.rows.flatMap((row, i) =>
    Array.from(row, (object, j): GraphChange => {
      const facets = matrix.facets?.[i]?.[j];
      return { op: 'setEdge', uid: uids[i], predicate: predicate.name, object, ...(facets ? { facets } : {}) };
    }),
  );
}

async function values(reader: GraphReader, predicate: Predicate, uids: UidList): Promise<GraphChange[]> {
  const rows = await reader.allValues(predicate, uids, { facets: true });
  return rows.flatMap((row, i) =>
    row.map(
      (entry: LangValue): GraphChange => ({
        op: 'setValue',
        uid: uids[i],
        predicate: predicate.name,
        value: decodeValue(entry.value),
        lang: entry.lang,
        ...(entry.facets ? { facets: entry.facets } : {}),
      }),
    ),
  );
}

/** One statement as an object of a JSON mutation. */
function jsonOf(change: GraphChange): string {
  if (change.op !== 'setEdge' && change.op !== 'setValue') throw new TypeError(`a ${change.op} is not exported`);
  const object: Record<string, unknown> = { uid: `0x${change.uid.toString(16)}` };
  const facets = (change.facets ?? []).map(
    ({ key, value }) => [`${change.predicate}|${key}`, facetJson(value)] as const,
  );
  if (change.op === 'setEdge') {
    object[change.predicate] = { uid: `0x${change.object.toString(16)}`, ...Object.fromEntries(facets) };
    return JSON.stringify(object);
  }
  const key = change.lang === '' ? change.predicate : `${change.predicate}@${change.lang}`;
  Object.assign(object, Object.fromEntries(facets));
  const { type, value } = change.value;
  // A bigint and a bigfloat are numbers that JavaScript would round: they go as text, and the schema says what they are.
  object[key] = type === 'geo' ? value : type === 'bool' || typeof value === 'number' ? value : valueText(change.value);
  return JSON.stringify(object);
}

function facetJson(value: LangFacet): unknown {
  return value.type === 'int' || value.type === 'float' || value.type === 'bool' ? value.value : valueText(value);
}

type LangFacet = NonNullable<LangValue['facets']>[number]['value'];
