import { createRequire } from 'node:module';
import type * as Dgraph from 'dgraph-js';
import { GraphsteadError } from '../base/index.js';
import type { ConnectionConfig } from './config.js';
import { recorded } from './record.js';

export type GraphConfig = Extract<ConnectionConfig, { type: 'graph' | 'dgraph' }>;

export interface GraphMutated {
  readonly uids: Readonly<Record<string, string>>;
  /** results of an upsert's query blocks */
  readonly data: unknown;
}

/** A graph database reached over gRPC. Throws CONNECTION_FAILED naming the connection. */
export interface GraphConnection {
  query<T = unknown>(text: string, variables?: Readonly<Record<string, string>>): Promise<T>;
  /** N-Quads to set and to delete, committed at once. */
  mutate(change: { readonly set?: string; readonly delete?: string }): Promise<GraphMutated>;
  /** A query and mutations that use its variables; `condition` is the text of an @if. */
  upsert(
    query: string,
    changes: readonly { readonly set?: string; readonly delete?: string; readonly condition?: string }[],
  ): Promise<GraphMutated>;
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 30_000;

// dgraph-js is CommonJS and heavy: it loads on the first call, not with every host process.
const load = () => createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;

export function openGraph(name: string, config: GraphConfig): GraphConnection {
  const timeoutMs = config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let opened: { client: Dgraph.DgraphClient; stub: Dgraph.DgraphClientStub; library: typeof Dgraph } | undefined;

  function open() {
    if (opened) return opened;
    const library = load();
    const target = (config.grpcTarget ?? config.connStr ?? config.connString ?? '')
      .replace(/^[a-z]+:\/\//, '')
      .split(/[/?]/)[0];
    const stub = new library.DgraphClientStub(target, undefined, {
      'grpc.max_receive_message_length': 64 * 1024 * 1024,
    });
    opened = { client: new library.DgraphClient(stub), stub, library };
    return opened;
  }

  async function run<T>(what: string, work: () => Promise<T>): Promise<T> {
    return recorded({ connection: name, kind: 'graph', what: what.trim().slice(0, 80) }, async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      });
      try {
        return await Promise.race([work(), late]);
      } catch (error) {
        throw new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${(error as Error).message}`, {
          details: { connection: name },
        });
      } finally {
        clearTimeout(timer);
      }
    });
  }

  function mutationOf(library: typeof Dgraph, change: { set?: string; delete?: string; condition?: string }) {
    const mutation = new library.Mutation();
    if (change.set) mutation.setSetNquads(change.set);
    if (change.delete) mutation.setDelNquads(change.delete);
    if (change.condition) mutation.setCond(change.condition);
    return mutation;
  }

  async function request(
    query: string,
    changes: readonly { set?: string; delete?: string; condition?: string }[],
  ): Promise<GraphMutated> {
    const { client, library } = open();
    const transaction = client.newTxn();
    try {
      const message = new library.Request();
      if (query) message.setQuery(query);
      message.setMutationsList(changes.map((change) => mutationOf(library, change)));
      message.setCommitNow(true);
      const response = await transaction.doRequest(message);
      const uids = Object.fromEntries([...response.getUidsMap().entries()] as [string, string][]);
      return { uids, data: query ? response.getJson() : undefined };
    } finally {
      await transaction.discard().catch(() => undefined);
    }
  }

  return {
    query: <T>(text: string, variables?: Readonly<Record<string, string>>) =>
      run(text, async () => {
        const transaction = open().client.newTxn({ readOnly: true });
        try {
          const response = variables
            ? await transaction.queryWithVars(text, { ...variables })
            : await transaction.query(text);
          return response.getJson() as T;
        } finally {
          await transaction.discard().catch(() => undefined);
        }
      }),
    mutate: (change) => run('mutate', () => request('', [change])),
    upsert: (query, changes) => run(query, () => request(query, changes)),
    close: () => opened?.stub.close(),
  };
}
