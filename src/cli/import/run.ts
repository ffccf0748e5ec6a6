import { dgraphNames, GraphsteadError, type Names, TYPE_PREDICATE, withSource } from '../../base/index.js';
import type { Triple } from '../../dql/index.js';
import { type BulkLoad, type GraphChange, isInternalName } from '../../graph/index.js';
import { changeOf } from './change.js';
import { definitionsOf } from './definitions.js';
import { type ExternalIds, externalIds } from './external-ids.js';
import type { NameMap } from './name-map.js';
import { oneNamespace } from './one-namespace.js';
import type { ImportProgress } from './progress.js';
import { applySchemas } from './schema-files.js';
import { type SourceFile, wholeText } from './source.js';
import type { Target } from './target.js';
import { type Reading, triplesOf } from './triples.js';
import { Undeclared } from './undeclared.js';

interface ImportOptions {
  readonly files: readonly SourceFile[];
  readonly target: Target;
  /** what the outside names of nodes became */
  readonly nodes: NameMap;
  /** how the files spell the reserved predicates */
  readonly names: Names;
  readonly newUids?: boolean;
  /** the predicate by whose values nodes are found that have no uid in the files, as it is stored */
  readonly upsert?: string;
  readonly progress: ImportProgress;
  /** statements in one transaction */
  readonly batch?: number;
  /** transactions under way at the same time */
  readonly parallel?: number;
}

interface ImportResult {
  readonly statements: number;
  /** of these not taken, since they say what the other service kept for itself: users, groups, namespaces, persisted queries */
  readonly leftOut: number;
  /** names that are in no definition, as people are told of them */
  readonly undeclared: readonly string[];
  /** nodes that were named in the files other than by their uids */
  readonly nodes: number;
}

/** Under the peer's names no statement has this predicate: the stored one stands in its place. */
const PEER_TYPE = dgraphNames.shown(TYPE_PREDICATE);
const BATCH = 2_000;
const PARALLEL = 8;

/** Schemas first, then the data, streaming. Statements of one batch land together; a mistake names file and line. */
export async function runImport(options: ImportOptions): Promise<ImportResult> {
  const schemas = options.files.filter(({ format }) => format === 'schema');
  const onNamespace = oneNamespace();
  await applySchemas(schemas, onNamespace, (text) => options.target.schema(text));
  for (const file of options.files) {
    if (file.format !== 'graphql') continue;
    await inFile(file, async () => {
      const text = definitionsOf(await wholeText(file), onNamespace);
      if (text !== '') await options.target.graphql(text);
    });
  }
  const { target, nodes, progress } = options;
  const reading = { names: options.names, onNamespace };
  const ids = await gathered(options, reading);
  const undeclared = new Undeclared(await target.declared());
  const loader = new Loader(options, undeclared, await target.bulk?.(), ids);
  let read = 0;
  const onRead = (bytes: number) => {
    read += bytes;
  };
  try {
    for (const file of options.files) {
      for await (const triples of triplesOf(file, reading, onRead)) {
        await loader.add(triples);
        progress.update(read, loader.statements);
      }
    }
    await loader.finish();
  } finally {
    await loader.settled();
    progress.finish();
  }
  nodes.finish();
  const { statements, leftOut } = loader;
  return { statements, leftOut, undeclared: undeclared.warnings(), nodes: nodes.size };
}

/** With `upsert`, what the files say of that predicate. */
async function gathered(options: ImportOptions, reading: Reading): Promise<ExternalIds | undefined> {
  const { files, target, nodes, names, newUids = false, upsert } = options;
  if (upsert === undefined) return undefined;
  const ids = await externalIds({ language: await target.language(), predicate: upsert, nodes, newUids });
  for (const file of files) {
    for await (const triples of triplesOf(file, reading, () => undefined)) ids.gather(taken(triples, names));
  }
  return ids;
}

/** Takes what it can in bulk, the rest in transactions. Mistakes name the line. */
class Loader {
  readonly #options: ImportOptions;
  readonly #undeclared: Undeclared;
  readonly #bulk: BulkLoad | undefined;
  readonly #ids: ExternalIds | undefined;
  readonly #writer: BatchWriter;
  statements = 0;
  leftOut = 0;

  constructor(
    options: ImportOptions,
    undeclared: Undeclared,
    bulk: BulkLoad | undefined,
    ids: ExternalIds | undefined,
  ) {
    this.#options = options;
    this.#undeclared = undeclared;
    this.#bulk = bulk;
    this.#ids = ids;
    this.#writer = new BatchWriter(options);
  }

  async add(triples: readonly Triple[]): Promise<void> {
    const { nodes, newUids } = this.#options;
    const own = taken(triples, this.#options.names);
    this.leftOut += triples.length - own.length;
    if (this.#ids) await this.#ids.settle(own);
    else await nodes.reserve(own.length * 2);
    const context = { names: nodes, newUids };
    for (const triple of own) {
      if (triple.predicate === PEER_TYPE) await this.#demandTypes(triple);
      else this.#undeclared.note(triple);
      const change = changeOf(triple, context);
      if (this.#take(triple, change)) continue;
      const sent = this.#writer.add(triple, change);
      if (sent) await sent;
    }
    this.statements += triples.length;
  }

  /** The peer's name of a node's type would give it none. */
  async #demandTypes({ position }: Triple): Promise<void> {
    if (await this.#options.target.takesPeerType?.()) return;
    const message = `${PEER_TYPE} would give the node no type: it is called ${TYPE_PREDICATE} here`;
    throw new GraphsteadError('INVALID_MUTATION', message, {
      position,
      fix: `import it with --compat dgraph, or name it ${TYPE_PREDICATE}`,
    });
  }

  #take(triple: Triple, change: GraphChange): boolean {
    // where nodes are looked for and made meanwhile, there is nothing empty to be filled
    if (!this.#bulk || triple.predicate === this.#options.upsert) return false;
    try {
      return this.#bulk.add(change);
    } catch (error) {
      throw named(error, [triple]);
    }
  }

  async finish(): Promise<void> {
    await this.#writer.finish();
    // once the load is published, an import that is started again must give the same names to its nodes
    this.#options.nodes.flush();
    await this.#bulk?.finish((at) => this.#options.progress.writing(at));
  }

  /** Nothing is under way any more, and nothing is left of what was not finished. */
  async settled(): Promise<void> {
    await this.#writer.settled();
    this.#bulk?.abandon();
  }
}

/** The statements without those about what the service that exported them kept for itself. */
function taken(triples: readonly Triple[], names: Names): readonly Triple[] {
  return triples.filter((triple) => !isInternal(triple, names));
}

/** True for a statement about what the service that exported it kept for itself. */
function isInternal({ predicate, object }: Triple, names: Names): boolean {
  const isType = predicate === TYPE_PREDICATE && object.kind === 'literal';
  const name = isType ? String(object.value.value) : predicate;
  // without the peer's names a name of theirs is one like any other
  return isInternalName(name) && (names.dgraph || name.startsWith('service.'));
}

/** Cuts the stream into transactions and keeps a bounded number of them under way. */
class BatchWriter {
  readonly #options: ImportOptions;
  readonly #size: number;
  readonly #underway = new Set<Promise<void>>();
  #batch: Triple[] = [];
  #changes: GraphChange[] = [];
  #failure: unknown;

  constructor(options: ImportOptions) {
    this.#options = options;
    this.#size = options.batch ?? BATCH;
  }

  /** Waits only when a batch is full. */
  add(triple: Triple, change: GraphChange): Promise<void> | undefined {
    this.#batch.push(triple);
    this.#changes.push(change);
    return this.#batch.length >= this.#size ? this.#send() : undefined;
  }

  async #send(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const [batch, changes] = [this.#batch, this.#changes];
    this.#batch = [];
    this.#changes = [];
    if (batch.length === 0) return;
    const { nodes, parallel } = this.#options;
    nodes.flush();
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

/** Mistakes in type definitions, with the name of their file. */
async function inFile(file: SourceFile, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw withSource(error, file.path);
  }
}
