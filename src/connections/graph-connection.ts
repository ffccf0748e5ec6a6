import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { givenText, GraphsteadError, type Hide, variableTexts } from '../base/index.js';
import { type CallOptions, underWay, until } from './call-options.js';
import { type GraphConfig, type GraphTarget, graphTarget } from './graph-target.js';
import { recorded } from './record.js';
import { callEnded, MAYBE_DONE, TOO_SLOW } from './told.js';

interface GraphMutated {
  readonly uids: Readonly<Record<string, string>>;
  /** results of an upsert's query blocks */
  readonly data: unknown;
}

interface Change {
  readonly set?: string;
  readonly delete?: string;
}

interface ConditionalChange extends Change {
  readonly condition?: string;
}

/** A graph database reached over gRPC. Throws CONNECTION_FAILED naming the connection. */
export interface GraphConnection {
  /** A variable that is undefined is not given. Throws INVALID_VALUE for one that is no text. */
  query<T = unknown>(text: string, variables?: Readonly<Record<string, string>>, options?: CallOptions): Promise<T>;
  /** N-Quads to set and to delete, committed at once. */
  mutate(change: Change, options?: CallOptions): Promise<GraphMutated>;
  /** A query and mutations that use its variables; `condition` is the text of an @if. */
  upsert(query: string, changes: readonly ConditionalChange[], options?: CallOptions): Promise<GraphMutated>;
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** between two tries to reach a peer that is away */
const RECONNECT_MS = { first: 100, most: 1_000 };

const UNAUTHENTICATED = 'the other side wants another API key than "key" of the connection gives';

/** gRPC's status of a call that its caller ended, of one that its deadline did, and of one that did not get through. */
const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;
const ADVICE: ReadonlyMap<number | undefined, string> = new Map([
  [DEADLINE_EXCEEDED, TOO_SLOW],
  [CANCELLED, MAYBE_DONE],
  [UNAVAILABLE, 'check that the server runs and that grpcTarget of the connection is its address'],
]);
/** The server answered, and not with success. */
const REFUSED = 'correct what is sent, by what the server says of it; one that fails by itself has more in its log';

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

  /** The deadline ends the call on both sides, and so does the signal. */
  function inTime(signal?: AbortSignal): Grpc.CallOptions {
    const deadline = Date.now() + timeoutMs;
    return signal === undefined ? { deadline } : { deadline, interceptors: [endedBy(signal)] };
  }

  const endedBy =
    (signal: AbortSignal): Grpc.Interceptor =>
    (options, next) => {
      const { InterceptingCall } = loadGrpc();
      const call = new InterceptingCall(next(options), {
        start(metadata, _, go) {
          const stop = () => call.cancelWithStatus(CANCELLED, callEnded(signal.reason));
          signal.addEventListener('abort', stop);
          go(metadata, {
            onReceiveStatus(status, tell) {
              signal.removeEventListener('abort', stop);
              tell(status);
            },
          });
          if (signal.aborted) stop();
        },
      });
      return call;
    };

  const failed = (code: number | undefined, reason: string) =>
    new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${hide(reason)}`, {
      fix: ADVICE.get(code) ?? REFUSED,
      details: { connection: name },
    });

  type Work<T> = (opened: Opened, signal: AbortSignal | undefined) => Promise<T>;

  async function run<T>(what: string, options: CallOptions | undefined, work: Work<T>): Promise<T> {
    return recorded({ connection: name, kind: 'graph', what: what.trim().slice(0, 80) }, () =>
      underWay(`a call of connection "${name}"`, options, async (signal) => {
        const stopped = (reason: unknown) => failed(CANCELLED, callEnded(reason));
        try {
          return await until(signal, stopped, async () => {
            const ready = open();
            await ready.signedIn;
            return work(ready, signal);
          });
        } catch (error) {
          if (error instanceof GraphsteadError) throw error;
          const { code, message } = error as Error & { code?: number };
          throw failed(code, code === DEADLINE_EXCEEDED ? `no answer within ${timeoutMs} ms` : message);
        }
      }),
    );
  }

  function mutationOf(library: typeof Dgraph, change: ConditionalChange) {
    const mutation = new library.Mutation();
    if (change.set) mutation.setSetNquads(change.set);
    if (change.delete) mutation.setDelNquads(change.delete);
    if (change.condition) mutation.setCond(change.condition);
    return mutation;
  }

  async function request(
    { client, library, metadata }: Opened,
    query: string,
    changes: readonly ConditionalChange[],
    signal: AbortSignal | undefined,
  ): Promise<GraphMutated> {
    const transaction = client.newTxn();
    try {
      const message = new library.Request();
      if (query) message.setQuery(query);
      message.setMutationsList(changes.map((change) => mutationOf(library, change)));
      message.setCommitNow(true);
      const response = await transaction.doRequest(message, metadata, inTime(signal));
      const uids = Object.fromEntries([...response.getUidsMap().entries()] as [string, string][]);
      return { uids, data: query ? response.getJson() : undefined };
    } finally {
      await transaction.discard(metadata, inTime()).catch(() => undefined);
    }
  }

  const queryOf = (what: string, text: unknown) =>
    givenText(`${what} of connection "${name}"`, text, `${what}('{ people(func: has(name)) { name } }')`);

  return {
    query: async <T>(text: string, variables?: Readonly<Record<string, string>>, options?: CallOptions) =>
      run(queryOf('query', text), options, async ({ client, metadata }, signal) => {
        const texts = variableTexts(`query of connection "${name}"`, variables ?? {});
        const transaction = client.newTxn({ readOnly: true });
        try {
          const response = await transaction.queryWithVars(text, texts, metadata, inTime(signal));
          return response.getJson() as T;
        } finally {
          await transaction.discard(metadata, inTime()).catch(() => undefined);
        }
      }),
    async mutate(change, options) {
      const changes = [changeOf(`mutate of connection "${name}"`, change)];
      return run('mutate', options, (ready, signal) => request(ready, '', changes, signal));
    },
    async upsert(query, given, options) {
      const changes = changesOf(`upsert of connection "${name}"`, given);
      return run(queryOf('upsert', query), options, (ready, signal) => request(ready, query, changes, signal));
    },
    close: () => opened?.stub.close(),
  };
}

const CHANGE = `{ set: '_:new <name> "tea" .' }`;

function changesOf(call: string, changes: readonly ConditionalChange[]): readonly ConditionalChange[] {
  if (Array.isArray(changes)) return changes.map((change) => changeOf(call, change));
  throw noChange(`${call} takes a list of changes`, `[${CHANGE}]`);
}

/** Throws INVALID_VALUE for what is no object of texts. */
function changeOf(call: string, change: ConditionalChange): ConditionalChange {
  const isText = (key: keyof ConditionalChange) => typeof (change[key] ?? '') === 'string';
  if (typeof change === 'object' && change !== null && isText('set') && isText('delete') && isText('condition'))
    return change;
  throw noChange(`${call} takes what to set and to delete, each as the text of N-Quads`, CHANGE);
}

function noChange(message: string, example: string): GraphsteadError {
  return new GraphsteadError('INVALID_VALUE', message, { fix: `write ${example}` });
}

function credentials(grpc: typeof Grpc, tls: GraphTarget['tls']): Grpc.ChannelCredentials {
  if (tls === 'none') return grpc.credentials.createInsecure();
  const unchecked = { checkServerIdentity: () => undefined, rejectUnauthorized: false };
  return grpc.credentials.createSsl(null, null, null, tls === 'verified' ? {} : unchecked);
}
