import { Yielder, DEFAULT_LIMITS, type Limits, type Names } from '../../base/index.js';
import { type Graph, type GraphReader, type Predicate, printSchema, type UidList } from '../../graph/index.js';
import { decodeValue } from '../../values/index.js';
import { type ExportFormat, PRINT, type Statement } from './statement.js';

interface ExportOptions {
  readonly graph: Graph;
  readonly names: Names;
  /** default: those of a service that is told none */
  readonly limits?: Pick<Limits, 'yieldMs'>;
  /** GraphQL type definitions, when there are any */
  readonly graphql?: string;
  readonly format: ExportFormat;
  /** ends it early, with the signal's reason */
  readonly signal?: AbortSignal;
}

/** Some text of one of the export's files; the texts of one file follow each other. */
export interface ExportPart {
  readonly file: string;
  readonly text: string;
  /** statements in it */
  readonly statements: number;
}

/** nodes whose statements are printed at a time */
const PAGE = 1_000;

/**
 * The graph at one commit timestamp, its schema and its GraphQL types. Importing the files gives the same graph.
 * One snapshot is held until the end.
 */
export async function* exportParts({
  graph,
  names,
  limits = DEFAULT_LIMITS,
  graphql,
  format,
  signal,
}: ExportOptions): AsyncIterable<ExportPart> {
  const transaction = await graph.begin({ bestEffort: true });
  const reader = await transaction.reader();
  // a store that answers at once, and a reader who takes all, would leave nobody else a turn until the end
  const yielder = new Yielder(limits.yieldMs);
  try {
    yield { file: 'graph.schema', text: printSchema(reader.schema, names), statements: 0 };
    if (graphql) yield { file: 'graph.graphql', text: graphql, statements: 0 };
    for await (const part of data(reader, names, format, yielder)) {
      signal?.throwIfAborted();
      yield part;
    }
  } finally {
    reader.release();
    transaction.abort();
  }
}

async function* data(
  reader: GraphReader,
  names: Names,
  format: ExportFormat,
  yielder: Yielder,
): AsyncIterable<ExportPart> {
  const file = `graph.${format}`;
  const print = PRINT[format];
  const [open, between, close] = format === 'json' ? ['[\n', ',\n', '\n]\n'] : ['', '\n', '\n'];
  yield { file, text: open, statements: 0 };
  let isFirst = true;
  for await (const statements of statementsOf(reader, names)) {
    const paused = yielder.due();
    if (paused) await paused;
    if (statements.length === 0) continue;
    yield {
      file,
      text: `${isFirst ? '' : between}${statements.map(print).join(between)}`,
      statements: statements.length,
    };
    isFirst = false;
  }
  yield { file, text: close, statements: 0 };
}

async function* statementsOf(reader: GraphReader, names: Names): AsyncIterable<readonly Statement[]> {
  for (const predicate of reader.schema.predicates) {
    const name = names.shown(predicate.name);
    const read = predicate.type === 'uid' ? edges : values;
    for await (const uids of reader.having(predicate)) {
      for (let at = 0; at < uids.length; at += PAGE) {
        yield await read(reader, predicate, name, uids.subarray(at, at + PAGE));
      }
    }
  }
}

async function edges(reader: GraphReader, predicate: Predicate, name: string, uids: UidList): Promise<Statement[]> {
  const { rows, facets } = await reader.edges(predicate, uids, { facets: true });
  return rows.flatMap((row, i) =>
    Array.from(row, (object, j): Statement => {
      return { op: 'setEdge', uid: uids[i], predicate: name, object, facets: facets?.[i]?.[j] };
    }),
  );
}

async function values(reader: GraphReader, predicate: Predicate, name: string, uids: UidList): Promise<Statement[]> {
  const rows = await reader.allValues(predicate, uids, { facets: true });
  return rows.flatMap((row, i) =>
    row.map(({ value, lang, facets }): Statement => {
      return { op: 'setValue', uid: uids[i], predicate: name, value: decodeValue(value), lang, facets };
    }),
  );
}
