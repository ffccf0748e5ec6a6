import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { GraphsteadError, type Hide } from '../base/index.js';
import { type GraphConfig, type GraphTarget, graphTarget } from './graph-target.js';
import { recorded } from './record.js';
import { TOO_SLOW } from './told.js';

interface GraphMutated {
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

/** between two tries to reach a peer that is away */
const RECONNECT_MS = { first: 100, most: 1_000 };

const UNAUTHENTICATED = 'the other side wants another API key than "key" of the connection gives';

/** gRPC's status of a call that its deadline ended, and of one that did not get through. */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const ADVICE: ReadonlyMap<number | undefined, string> = new Map([
  [DEADLINE_EXCEEDED, TOO_SLOW],
  [UNAVAILABLE, 'check that the server runs and that grpcTarget of the connection is its address'],
]);

// They are CommonJS and heavy: they load on the first call, not with every host process.
const load = () => createRequire(import.meta.url)('dgraph-js') as typeof Dgraph;
const loadGrpc = () => createRequire(import.meta.url)('@grpc/grpc-js') as typeof Grpc;

interface Opened {
  readonly library: typeof Dgraph;
  readonly client: Dgraph.DgraphClient;
  readonly stub: Dgraph.DgraphClientStub;
  /** goes with each call */
  readonly metadata: Grpc.Metadata;
  readonly signedIn: Promise<unknown>;
}

export function openGraph(name: string, config: GraphConfig, hide: Hide): GraphConnection {
  const timeoutMs = config.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  let opened: Opened | undefined;

  function open(): Opened {
    opened ??= connect(graphTarget(config));
    return opened;
  }

  function connect({ address, tls, metadata: given, user, password }: GraphTarget): Opened {
    const library = load();
    const grpc = loadGrpc();
    const stub = new library.DgraphClientStub(address, credentials(grpc, tls), {
      'grpc.max_receive_message_length': 64 * 1024 * 1024,
      // the library's own pauses grow to two minutes, in which a peer that is back would still be told as gone
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.first,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.most,
    });
    // the library would sign in anew, and tell that there is nobody to sign in as
    if (user === undefined) stub.retryLogin = () => Promise.reject(new Error(UNAUTHENTICATED));
    const metadata = new grpc.Metadata();
    for (const [key, value] of Object.entries(given)) metadata.set(key, value);
    const signedIn = user === undefined ? Promise.resolve() : stub.login(user, password, undefined, metadata, inTime());
    signedIn.catch(() => {
      opened = undefined; // the next call tries again, over a connection of its own
      stub.close();
    });
    return { library, client: new library.DgraphClient(stub), stub, metadata, signedIn };
  }

  /** The deadline ends the call on both sides. */
  function inTime(): Grpc.CallOptions {
    return { deadline: Date.now() + timeoutMs };
  }

  async function run<T>(what: string, work: (opened: Opened) => Promise<T>): Promise<T> {
    return recorded({ connection: name, kind: 'graph', what: what.trim().slice(0, 80) }, async () => {
      try {
        const ready = open();
        await ready.signedIn;
        return await work(ready);
      } catch (error) {
        const { code, message } = error as Error & { code?: number };
        const reason = code === DEADLINE_EXCEEDED ? `no answer within ${timeoutMs} ms` : hide(message);
        throw new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${reason}`, {
          fix: ADVICE.get(code),
          details: { connection: name },
        });
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
    { client, library, metadata }: Opened,
    query: string,
    changes: readonly { set?: string; delete?: string; condition?: string }[],
  ): Promise<GraphMutated> {
    const transaction = client.newTxn();
    try {
      const message = new library.Request();
      if (query) message.setQuery(query);
      message.setMutationsList(changes.map((change) => mutationOf(library, change)));
      message.setCommitNow(true);
      const response = await transaction.doRequest(message, metadata, inTime());
      const uids = Object.fromEntries([...response.getUidsMap().entries()] as [string, string][]);
      return { uids, data: query ? response.getJson() : undefined };
    } finally {
      await transaction.discard(metadata, inTime()).catch(() => undefined);
    }
  }

  return {
    query: <T>(text: string, variables?: Readonly<Record<string, string>>) =>
      run(text, async ({ client, metadata }) => {
        const transaction = client.newTxn({ readOnly: true });
        try {
          const response = variables
            ? await transaction.queryWithVars(text, { ...variables }, metadata, inTime())
            : await transaction.query(text, metadata, inTime());
          return response.getJson() as T;
        } finally {
          await transaction.discard(metadata, inTime()).catch(() => undefined);
        }
      }),
    mutate: (change) => run('mutate', (ready) => request(ready, '', [change])),
    upsert: (query, changes) => run(query, (ready) => request(ready, query, changes)),
    close: () => opened?.stub.close(),
  };
}

function credentials(grpc: typeof Grpc, tls: GraphTarget['tls']): Grpc.ChannelCredentials {
  if (tls === 'none') return grpc.credentials.createInsecure();
  const unchecked = { checkServerIdentity: () => undefined, rejectUnauthorized: false };
  return grpc.credentials.createSsl(null, null, null, tls === 'verified' ? {} : unchecked);
}
