import { GraphsteadError } from '../../base/index.js';
import { nquadLineParser, parseJsonTriples, type Triple } from '../../dql/index.js';
import type { GraphChange } from '../../graph/index.js';
import { changeOf } from './change.js';
import type { NameMap } from './name-map.js';
import type { Progress } from './progress.js';
import { jsonObjects, lineBatches, type SourceFile, wholeText } from './source.js';
import type { Target } from './target.js';

export interface ImportOptions {
  readonly files: readonly SourceFile[];
  readonly target: Target;
  readonly names: NameMap;
  readonly progress: Progress;
  /** statements in one transaction */
  readonly batch?: number;
  /** transactions under way at the same time */
  readonly parallel?: number;
}

export interface ImportResult {
  readonly statements: number;
  readonly nodes: number;
}

const BATCH = 2_000;
const PARALLEL = 8;

/** Schemas first, then the data, streaming. Statements of one batch land together; a mistake names file and line. */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  for (const file of options.files) {
    if (file.format === 'schema') await options.target.schema(await wholeText(file));
    if (file.format === 'graphql') await options.target.graphql(await wholeText(file));
  }
  const writer = new BatchWriter(options);
  let read = 0;
  const onRead = (bytes: number) => {
    read += bytes;
  };
  for (const file of options.files) {
    for await (const triples of triplesOf(file, onRead)) {
      await writer.add(triples);
      options.progress.update(read, writer.statements);
    }
  }
  await writer.finish();
  options.progress.finish();
  options.names.finish();
  return { statements: writer.statements, nodes: options.names.size };
}

async function* triplesOf(file: SourceFile, onRead: (bytes: number) => void): AsyncIterable<readonly Triple[]> {
  if (file.format === 'rdf') {
    const parse = nquadLineParser({ source: file.path });
    let number = 0;
    for await (const lines of lineBatches(file, onRead)) {
      const triples: Triple[] = [];
      for (const line of lines) {
        const triple = parse(line, ++number);
        if (triple) triples.push(triple);
      }
      yield triples;
    }
  }
  if (file.format === 'json') {
    for await (const text of jsonObjects(file, onRead)) yield parseJsonTriples(text, { source: file.path });
  }
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
    const { names, target, parallel } = this.#options;
    await names.reserve(batch.length * 2);
    const changes: GraphChange[] = batch.map((triple) => changeOf(triple, names));
    names.flush();
    this.statements += batch.length;
    const sending = target.write(changes).catch((error: unknown) => {
      this.#failure ??= named(error, batch);
    });
    const done = sending.finally(() => this.#underway.delete(done));
    this.#underway.add(done);
    if (this.#underway.size >= (parallel ?? PARALLEL)) await Promise.race(this.#underway);
  }

  async finish(): Promise<void> {
    await this.#send();
    await Promise.all(this.#underway);
    if (this.#failure) throw this.#failure;
  }
}

/** A batch that is refused says which lines it held. */
function named(error: unknown, batch: readonly Triple[]): unknown {
  if (!(error instanceof GraphsteadError) || error.position) return error;
  const [first, last] = [batch[0].position, batch[batch.length - 1].position];
  return new GraphsteadError(
    error.code,
    `${first.source ?? 'input'}, lines ${first.line} to ${last.line}: ${error.message}`,
    {
      fix: error.fix,
      position: first,
      cause: error,
    },
  );
}
