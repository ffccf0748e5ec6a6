import { GraphsteadError, type Names } from '../../base/index.js';
import type { Triple } from '../../dql/index.js';
import type { GraphChange } from '../../graph/index.js';
import { withSource } from '../report.js';
import { changeOf } from './change.js';
import type { NameMap } from './name-map.js';
import type { Progress } from './progress.js';
import { type SourceFile, wholeText } from './source.js';
import type { Target } from './target.js';
import { triplesOf } from './triples.js';

export interface ImportOptions {
  readonly files: readonly SourceFile[];
  readonly target: Target;
  /** what the outside names of nodes became */
  readonly nodes: NameMap;
  /** how the files spell the reserved predicates */
  readonly names: Names;
  readonly newUids?: boolean;
  readonly progress: Progress;
  /** statements in one transaction */
  readonly batch?: number;
  /** transactions under way at the same time */
  readonly parallel?: number;
}

export interface ImportResult {
  readonly statements: number;
  /** nodes that were named in the files other than by their uids */
  readonly nodes: number;
}

const BATCH = 2_000;
const PARALLEL = 8;

/** Schemas first, then the data, streaming. Statements of one batch land together; a mistake names file and line. */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  for (const file of options.files) {
    if (file.format === 'schema') await inFile(file, async () => options.target.schema(await wholeText(file)));
    if (file.format === 'graphql') await inFile(file, async () => options.target.graphql(await wholeText(file)));
  }
  const writer = new BatchWriter(options);
  let read = 0;
  const onRead = (bytes: number) => {
    read += bytes;
  };
  try {
    for (const file of options.files) {
      for await (const triples of triplesOf(file, options.names, onRead)) {
        await writer.add(triples);
        options.progress.update(read, writer.statements);
      }
    }
    await writer.finish();
  } finally {
    await writer.settled();
    options.progress.finish();
  }
  options.nodes.finish();
  return { statements: writer.statements, nodes: options.nodes.size };
}

/** Cuts the stream into transactions and keeps a bounded number of them under way. */
class BatchWriter {
  readonly #options: ImportOptions;
  readonly #size: number;
  readonly #underway = new Set<Promise<void>>();
  #batch: Triple[] = [];
  #failure: unknown;
  statements = 0;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#size = options.batch ?? BATCH;
  }

  async add(triples: readonly Triple[]): Promise<void> {
    for (const triple of triples) {
      this.#batch.push(triple);
      if (this.#batch.length >= this.#size) await this.#send();
    }
  }

  async #send(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length === 0) return;
    const { nodes, parallel } = this.#options;
    await nodes.reserve(batch.length * 2);
    const changes: GraphChange[] = batch.map((triple) => changeOf(triple, { ...this.#options, names: nodes }));
    nodes.flush();
    this.statements += batch.length;
    const done = this.#write(changes, batch).finally(() => this.#underway.delete(done));
    this.#underway.add(done);
    if (this.#underway.size >= (parallel ?? PARALLEL)) await Promise.race(this.#underway);
  }

  async #write(changes: readonly GraphChange[], batch: readonly Triple[]): Promise<void> {
    const { target } = this.#options;
    try {
      await target.write(changes);
    } catch (error) {
      const at = await target.refused(changes).catch(() => undefined);
      this.#failure ??= named(error, at === undefined ? batch : [batch[at]]);
    }
  }

  async finish(): Promise<void> {
    await this.#send();
    await this.settled();
    if (this.#failure) throw this.#failure;
  }

  /** Nothing is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#underway);
  }
}

/** A batch that is refused says which lines it held. */
function named(error: unknown, batch: readonly Triple[]): unknown {
  if (!(error instanceof GraphsteadError)) return error;
  const [first, last] = [batch[0].position, batch[batch.length - 1].position];
  const { code, message, fix, details } = error;
  const options = { fix, details, position: first, cause: error };
  if (batch.length === 1) return new GraphsteadError(code, message, options);
  const where = first.source === last.source ? `line ${last.line}` : `${last.source}, line ${last.line}`;
  return new GraphsteadError(code, `in the statements from here to ${where}: ${message}`, options);
}

/** Mistakes in a schema or in type definitions, with the name of their file. */
async function inFile(file: SourceFile, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw withSource(error, file.path);
  }
}
