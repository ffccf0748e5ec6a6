import {
  buildSchema,
  execute,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { asError, GraphsteadError, GraphsteadErrors, toWire, type WireError } from '../../base/index.js';
import type {
  Api,
  ApiOptions,
  ExecuteOptions,
  Exports,
  GraphqlAnswer,
  GraphqlRequest,
  ServedSchema,
  Remarks,
} from '../contract.js';
import { graphqlWire, isGraphqlError } from '../execute/answer.js';
import { DocumentCache, operationNamed, PersistedQueries } from '../execute/document.js';
import { refused } from '../execute/engine.js';
import { shownRemarks } from '../remarks.js';
import { withElsewhere } from './elsewhere.js';
import { memberOf, tabletOf } from './member.js';
import { ADMIN_SDL } from './schema.js';
import { selectedNames } from './selected.js';

type AdminTarget = Pick<Api, 'current' | 'stored' | 'schemaId' | 'updateSchema'>;

type Args<T> = { readonly input: T };

interface ExportInput {
  readonly format?: string | null;
  readonly destination?: string | null;
}

/** /admin. */
export class AdminApi {
  readonly #schema: GraphQLSchema = buildSchema(ADMIN_SDL);
  readonly #documents: DocumentCache;
  readonly #persisted: PersistedQueries;
  readonly #api: AdminTarget;
  readonly #options: ApiOptions;

  constructor(api: AdminTarget, options: ApiOptions) {
    this.#api = api;
    this.#options = options;
    this.#documents = new DocumentCache(this.#schema, options.limits);
    this.#persisted = new PersistedQueries(options.limits);
  }

  async execute(request: GraphqlRequest, { allowMutation = true }: ExecuteOptions): Promise<GraphqlAnswer> {
    try {
      const text = this.#persisted.resolve(request.query, request.extensions);
      const prepared = this.#documents.prepare(text);
      const operation = operationNamed(prepared, request.operationName);
      if (operation.operation === 'mutation' && !allowMutation) {
        throw new GraphsteadError('METHOD_NOT_ALLOWED', 'a mutation cannot be sent to /admin with GET', {
          fix: 'Use POST.',
        });
      }
      const remarks: Remarks[] = [];
      const result = await execute({
        schema: this.#schema,
        document: prepared.document,
        rootValue: operation.operation === 'mutation' ? this.#mutations(remarks) : this.#queries(),
        variableValues: request.variables ?? {},
        operationName: request.operationName || undefined,
      });
      return { body: bodyOf(result, remarks), status: 200, headers: {}, kind: operation.operation };
    } catch (error) {
      return refused(withElsewhere(error));
    }
  }

  #queries() {
    return {
      getGQLSchema: () => this.#stored(),
      health: () => this.#health(),
      state: () => this.#state(),
      task: ({ input }: Args<{ readonly id: string }>) => this.#task(input.id),
    };
  }

  #mutations(remarks: Remarks[]) {
    return {
      updateGQLSchema: async ({ input }: Args<{ readonly set: { readonly schema: string } }>) => {
        this.#options.operator?.refuse();
        const { served, ...told } = await this.#api.updateSchema(input.set.schema);
        remarks.push(told);
        return { gqlSchema: this.#shown(served) };
      },
      export: async (args: Partial<Args<ExportInput>>, _: unknown, info: GraphQLResolveInfo) =>
        await this.#export(args.input ?? {}, info),
      draining: ({ enable }: { readonly enable?: boolean | null }) => this.#drain(enable ?? undefined),
      shutdown: () => this.#shutdown(),
    };
  }

  #shown({ shown, generated }: Pick<ServedSchema, 'shown' | 'generated'>) {
    return { id: () => this.#api.schemaId(), schema: shown, generatedSchema: generated };
  }

  /** What is refused is shown too, for whoever is to correct it. */
  #stored() {
    const stored = this.#api.stored();
    return stored ? this.#shown({ shown: stored.shown, generated: this.#api.current()?.generated ?? '' }) : null;
  }

  #health() {
    const { graph, health, clock, names } = this.#options;
    const report = health?.();
    const indexing = graph.indexing().map(({ predicate }) => predicate);
    const node = (instance: string, group: string) => ({
      instance,
      group,
      status: report?.status ?? 'healthy',
      address: report?.address ?? null,
      version: report?.version ?? null,
      uptime: report ? Math.floor(report.uptime) : null,
      lastEcho: Math.floor(clock.wall() / 1000),
      ongoing: indexing.length > 0 ? ['opIndexing'] : [],
      indexing,
      ee_features: [],
    });
    // clients of the peer look for both of its processes
    return names.dgraph ? [node('zero', '0'), node('alpha', '1')] : [node('graphstead', '1')];
  }

  #state() {
    const { graph, names, health } = this.#options;
    const schema = graph.schema();
    const tablets = schema.predicates.map(({ name }) => tabletOf(names.shown(name)));
    const member = memberOf(health?.().address ?? null);
    return {
      counter: schema.version,
      maxTxnTs: schema.version,
      groups: [{ id: '1', members: [member], tablets }],
      zeros: [],
      removed: [],
      namespaces: [0],
    };
  }

  #drain(enable: boolean | undefined) {
    const { operator } = this.#options;
    if (!operator) throw notHere('draining');
    if (enable === undefined) {
      throw new GraphsteadError('INVALID_REQUEST', 'draining does not say whether it begins or ends', {
        fix: 'send draining(enable: true) or draining(enable: false)',
      });
    }
    operator.drain(enable);
    return success(enable ? 'New requests are refused.' : 'Requests are taken again.');
  }

  #shutdown() {
    const shutdown = this.#options.operator?.shutdown;
    if (!shutdown) throw notHere('shutdown');
    shutdown();
    return success('The service stops.');
  }

  async #export({ format, destination }: ExportInput, info: GraphQLResolveInfo) {
    if (format && format !== 'rdf' && format !== 'json') {
      throw new GraphsteadError('INVALID_REQUEST', `there is no export format "${format}"`, {
        fix: 'Use rdf or json.',
      });
    }
    const task = this.#exports().start(format === 'json' ? 'json' : 'rdf', destination ?? undefined);
    const asked = selectedNames(info);
    if (asked.has('taskId') && !asked.has('exportedFiles')) {
      return { ...success(`Export queued with ID ${task.id}`), taskId: task.id };
    }
    const exportedFiles = await task.done;
    return { ...success('Export completed.'), taskId: task.id, exportedFiles };
  }

  #task(id: string) {
    const task = this.#exports().task(id);
    if (!task) {
      throw new GraphsteadError('NOT_FOUND', `there is no task ${JSON.stringify(id)}`, {
        fix: 'Give the taskId of an export; the last ones since the start of the service are known.',
      });
    }
    return { kind: 'Export', status: task.status, lastUpdated: new Date(task.lastUpdated).toISOString() };
  }

  #exports(): Exports {
    if (this.#options.exports) return this.#options.exports;
    throw new GraphsteadError('INVALID_REQUEST', 'this server was started without a place for exports', {
      fix: 'Use the command "graphstead export".',
    });
  }
}

function success(message: string) {
  return { response: { code: 'Success', message } };
}

function notHere(name: string): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', `the process that this service runs in takes no ${name}`, {
    fix: 'start the service with the command graphstead',
  });
}

function bodyOf({ data, errors }: ExecutionResult, remarks: readonly Remarks[]): Buffer {
  const list = errors?.flatMap(wireErrors) ?? [];
  const extensions = shownRemarks({
    unreachable: remarks.flatMap(({ unreachable }) => unreachable),
    unguarded: remarks.flatMap(({ unguarded }) => unguarded),
  });
  return Buffer.from(JSON.stringify({ ...(list.length > 0 ? { errors: list } : {}), data: data ?? null, extensions }));
}

/** One thrown GraphsteadErrors is many errors of the answer. */
function wireErrors(error: GraphQLError): WireError[] {
  const { originalError, path } = error;
  const at = path ? [...path] : undefined;
  if (originalError instanceof GraphsteadErrors) return originalError.errors.map((each) => toWire(each, at));
  // a variable that does not fit is told by an error of GraphQL's own, which holds another one
  if (originalError && !isGraphqlError(originalError)) return [toWire(asError(originalError), at)];
  return [graphqlWire(error)];
}
