import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { asError, type ErrorCode, GraphsteadError, type Limits, type Names } from '../base/index.js';
import {
  isMutationText,
  type MutateAnswer,
  type MutateRequest,
  type QueryAnswer,
  type QueryRequest,
  type TransactionInfo,
} from '../dql/index.js';
import type { AlterRequest } from '../graph/index.js';
import type { Core } from './core.js';
import type { LargeAnswers } from './answers.js';
import type { LargeBodies } from './bodies.js';
import type { GrpcConnections } from './grpc-port.js';
import { keyMissing } from './authenticate.js';
import { type ApiKeys, isLoopback, keyOf } from './keys.js';
import { handshakeMs, type ServedTls, type Tls } from './tls.js';
import { type GrpcForwarder, RefusedThere, wasSentOn } from './grpc/forwarder.js';
import { boundCalls } from './grpc/bound.js';
import { mutationParts } from './grpc/mutation.js';
import { handedOn, type Received } from './grpc/received.js';
import { type Allocated, type AllocateRequest, newerMethods, type RunDqlRequest } from './grpc/newer.js';
import { leasedUids } from './route/assign.js';
import { assertOneThing, dropValue, noDropValue, schemaLines } from './route/graph-language.js';

// The published client carries the service definition of the protocol; both are CommonJS.
const require = createRequire(import.meta.url);
const messages = require('dgraph-js') as typeof Dgraph;
const { DgraphService } = require('dgraph-js/generated/api_grpc_pb.js') as { DgraphService: grpc.ServiceDefinition };
const { Metrics, Version } = require('dgraph-js/generated/api_pb.js') as {
  Metrics: new () => Metrics;
  Version: new () => { setTag(tag: string): void };
};
type Metrics = NonNullable<ReturnType<Dgraph.Response['getMetrics']>>;

const STATUS: Partial<Record<ErrorCode, grpc.status>> = {
  TXN_ABORTED: grpc.status.ABORTED,
  TXN_EXPIRED: grpc.status.ABORTED,
  UNAUTHENTICATED: grpc.status.UNAUTHENTICATED,
  FORBIDDEN: grpc.status.PERMISSION_DENIED,
  TIMEOUT: grpc.status.DEADLINE_EXCEEDED,
  CANCELLED: grpc.status.CANCELLED,
  DISK_FULL: grpc.status.RESOURCE_EXHAUSTED,
  TOO_MANY_TRANSACTIONS: grpc.status.RESOURCE_EXHAUSTED,
  NOT_READY: grpc.status.UNAVAILABLE,
  DRAINING: grpc.status.UNAVAILABLE,
  READ_ONLY_STORE: grpc.status.UNAVAILABLE,
  OVERLOADED: grpc.status.UNAVAILABLE,
  INDEX_BUILDING: grpc.status.UNAVAILABLE,
  STORE_FENCED: grpc.status.UNAVAILABLE,
  STORE_CORRUPT: grpc.status.DATA_LOSS,
  // whatever says that nothing was done, or that it may be sent again, would be untrue
  OUTCOME_UNKNOWN: grpc.status.UNKNOWN,
  INTERNAL: grpc.status.INTERNAL,
};

/** milliseconds after which a connection is asked whether anybody is there, and in which that is answered */
const SILENT_MS = 60_000;
const PING_MS = 20_000;

export { GrpcForwarder } from './grpc/forwarder.js';

interface GrpcOptions {
  /** the address that is listened on: keys are asked for unless it is this machine's own */
  readonly host: string;
  readonly keys: ApiKeys;
  readonly version: string;
  readonly answers: LargeAnswers;
  readonly bodies: LargeBodies;
  readonly tls?: ServedTls;
  /** in a service that only reads and knows where the one that writes speaks gRPC */
  readonly forwarder?: GrpcForwarder;
}

/**
 * The graph language over gRPC, as the published clients speak it: query, mutate, upsert, alter, commit or discard, version, and the
 * newer single requests: RunDQL, and AllocateIDs for uids. A method that it does not serve answers UNIMPLEMENTED.
 */
export function createGrpc(core: Core, options: GrpcOptions): GrpcConnections {
  const { limits, names } = core;
  const bound = boundCalls({ limits, ...options, statusOf: (error) => statusOf(error, names) });
  const server = new grpc.Server({
    'grpc.max_receive_message_length': limits.graphBodyBytes,
    // whoever is gone without a word, or never says one, answers no ping
    'grpc.keepalive_time_ms': Math.min(SILENT_MS, limits.requestMs),
    'grpc.keepalive_timeout_ms': Math.min(PING_MS, limits.requestMs),
    interceptors: [bound, ...(isLoopback(options.host) ? [] : [requireKey(options.keys, names)])],
  });
  const unary = answering(core, options);
  const newer = newerMethods((answer: Dgraph.Response) => Buffer.from(answer.serializeBinary()));
  server.addService(handedOn({ ...DgraphService, ...newer }), {
    query: unary('Query', (request: Dgraph.Request, asking) => query(core, request, asking), mayWrite),
    alter: unary(
      'Alter',
      async (operation: Dgraph.Operation) => {
        await core.alter(alterOf(operation), { runInBackground: operation.getRunInBackground() });
        return new messages.Payload();
      },
      always,
    ),
    commitOrAbort: unary('CommitOrAbort', (context: Dgraph.TxnContext) => commitOrAbort(core, context), always),
    checkVersion: unary('CheckVersion', async () => {
      const answer = new Version();
      answer.setTag(options.version);
      return answer;
    }),
    login: unary('Login', async () => {
      throw new GraphsteadError('INVALID_REQUEST', 'there are no users to log in as', {
        fix: 'send an API key as the metadata "authorization: Bearer <key>"',
      });
    }),
    runDQL: unary(
      'RunDQL',
      (request: RunDqlRequest, asking) => runDql(core, request, asking),
      ({ text, readOnly }) => !readOnly && isMutationText(text),
    ),
    allocateIDs: unary('AllocateIDs', (request: AllocateRequest) => allocate(core, request), always),
  });
  let connections = server.createConnectionInjector(credentials(options.tls?.current, limits));
  // one that served before is left to its connections
  options.tls?.onRenewed((tls) => {
    connections = server.createConnectionInjector(credentials(tls, limits));
  });
  return {
    take: (socket) => connections.injectConnection(socket),
    close: () =>
      new Promise((resolve) => {
        const force = setTimeout(() => server.forceShutdown(), 1_000);
        server.tryShutdown(() => {
          clearTimeout(force);
          resolve();
        });
      }),
  };
}

function credentials(tls: Tls | undefined, limits: Limits): grpc.ServerCredentials {
  if (!tls) return grpc.ServerCredentials.createInsecure();
  const secure = grpc.ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
  // the library offers no option for it: these are those that it makes its server with
  Object.assign(secure._getConstructorOptions() ?? {}, { handshakeTimeout: handshakeMs(limits) });
  return secure;
}

/** Who asks, and whether he still does. */
interface Asking {
  readonly client: string;
  readonly signal: AbortSignal;
}

type Unary<Request, Answer> = (request: Request, asking: Asking) => Promise<Answer>;

const always = () => true;
const never = () => false;

/** A query that does not say that it only reads may begin a transaction, or belong to one, and only one service knows that. */
function mayWrite(request: Dgraph.Request): boolean {
  return !request.getReadOnly() && (!request.getBestEffort() || request.getMutationsList().length > 0);
}

/** Refuses calls without a key before any of their messages is read: whoever has none must not fill the memory with them. */
function requireKey(keys: ApiKeys, names: Names): grpc.ServerInterceptor {
  return (_method, call) => {
    const onReceiveMetadata: grpc.ServerListener['onReceiveMetadata'] = (given, next) => {
      const metadata = given.getMap() as Record<string, string>;
      if (keyCarriers(metadata).some((headers) => keys.open(undefined, { headers }))) return next(given);
      const isOther = keyOf(metadata) !== undefined || metadata['authorization'] !== undefined;
      call.sendStatus(statusOf(keyMissing(isOther), names));
    };
    return new grpc.ServerInterceptingCall(call, { start: (next) => next({ onReceiveMetadata }) });
  };
}

/** Clients of this protocol also send the key alone, without "Bearer". */
function keyCarriers(metadata: Record<string, string>): readonly Record<string, string | undefined>[] {
  return [metadata, { 'x-api-key': metadata['authorization'] }];
}

/** Whoever shows a key that counts, or the address that the call came from. */
function clientOf(call: { getPeer(): string }, metadata: Record<string, string>, keys: ApiKeys): string {
  for (const headers of keyCarriers(metadata)) {
    const name = keys.nameOf(headers);
    if (name !== undefined) return name;
  }
  // each connection has a port of its own
  return call.getPeer().replace(/:\d+$/, '');
}

/** What ends something that is under way, or asks for no data: answered while the service drains, or is full, too. */
const GOES_ON = new Set(['CommitOrAbort', 'CheckVersion']);

/** Turns failures into gRPC statuses with our code and fix in the message. */
function answering({ trace, names, draining }: Core, { keys, forwarder, answers }: GrpcOptions) {
  return <Request, Answer>(
    method: string,
    work: Unary<Request, Answer>,
    isOfWriter: (request: Request) => boolean = never,
  ): grpc.handleUnaryCall<Received<Request>, Answer | Buffer> =>
    (call, callback) => {
      const { message, bytes } = call.request;
      const controller = new AbortController();
      call.on('cancelled', () => controller.abort());
      const headers = call.metadata.getMap() as Record<string, string>;
      const facts = { 'rpc.system': 'grpc', 'rpc.service': 'api.Dgraph', 'rpc.method': method };
      const step = { kind: 'server', facts, headers } as const;
      const asking = { client: clientOf(call, headers, keys), signal: controller.signal };
      trace
        .step(`api.Dgraph/${method}`, step, async () => {
          if (!GOES_ON.has(method)) {
            draining.refuse();
            answers.refuse();
          }
          if (!forwarder || !isOfWriter(message) || wasSentOn(call.metadata)) return work(message, asking);
          const { metadata } = call;
          const path = `/api.Dgraph/${method}`;
          return forwarder.ask({ path, request: bytes, metadata, deadline: call.getDeadline(), signal: asking.signal });
        })
        .then(
          (answer) => callback(null, answer),
          (thrown: unknown) => callback(thrown instanceof RefusedThere ? thrown.status : statusOf(thrown, names)),
        );
    };
}

function statusOf(thrown: unknown, names: Names): grpc.ServiceError {
  const error = asError(thrown);
  const details = names.told(error.code === 'TXN_ABORTED' ? error.message : told(error));
  const metadata = new grpc.Metadata();
  metadata.set('graphstead-code', error.code);
  return Object.assign(new Error(details), {
    code: STATUS[error.code] ?? grpc.status.INVALID_ARGUMENT,
    details,
    metadata,
  });
}

/** A status has room for one text: the place first, the fix behind. */
function told({ position, message, fix }: GraphsteadError): string {
  const source = position?.source === undefined ? '' : `${position.source} `;
  const place = position === undefined ? '' : `${source}line ${position.line} column ${position.column}: `;
  return `${place}${message}${fix ? ` (${fix})` : ''}`;
}

async function query(core: Core, request: Dgraph.Request, asking: Asking): Promise<Dgraph.Response> {
  const variables = Object.fromEntries([...request.getVarsMap().entries()] as [string, string][]);
  const place = { startTs: request.getStartTs() || undefined, hash: request.getHash() || undefined, ...asking };
  const mutations = request.getMutationsList();
  if (mutations.length > 0) {
    if (request.getReadOnly()) throw onlyReads();
    const commitNow = request.getCommitNow() || mutations.some((mutation) => mutation.getCommitNow());
    return mutate(core, { contentType: 'parts', body: mutationParts(request), variables, commitNow, ...place });
  }
  return read(core, {
    text: request.getQuery(),
    variables,
    readOnly: request.getReadOnly(),
    bestEffort: request.getBestEffort(),
    format: request.getRespFormat() === 1 ? 'rdf' : 'json',
    ...place,
  });
}

/** One text of any kind, in a transaction of its own. */
async function runDql(core: Core, request: RunDqlRequest, asking: Asking): Promise<Dgraph.Response> {
  const { text, variables, readOnly, bestEffort, rdf } = request;
  if (!isMutationText(text)) {
    return read(core, { text, variables, readOnly, bestEffort, format: rdf ? 'rdf' : 'json', ...asking });
  }
  if (readOnly) throw onlyReads();
  return mutate(core, { contentType: 'rdf', body: text, variables, commitNow: true, ...asking });
}

function onlyReads(): GraphsteadError {
  return new GraphsteadError('TXN_READ_ONLY', 'a mutation in a request that says it only reads', {
    fix: 'send it without read_only',
  });
}

async function allocate(core: Core, { count, what }: AllocateRequest): Promise<Allocated> {
  if (what === 'uids') return leasedUids(core, count);
  throw new GraphsteadError('INVALID_REQUEST', `${what} are not leased`, {
    fix: 'ask for uids; timestamps come with transactions, and there are no namespaces',
  });
}

async function read(core: Core, request: QueryRequest): Promise<Dgraph.Response> {
  if (core.caughtUp && !request.bestEffort) await core.caughtUp();
  const answer = await core.dql.query(request);
  const response = new messages.Response();
  if (request.format === 'rdf') response.setRdf(answer.data);
  else response.setJson(answer.data);
  return describe(response, answer);
}

async function mutate(core: Core, request: MutateRequest): Promise<Dgraph.Response> {
  const answer = await core.dql.mutate(request);
  const response = new messages.Response();
  response.setJson(answer.queries ?? Buffer.from('{}'));
  const uids = response.getUidsMap();
  for (const [name, uid] of answer.uids) uids.set(name, uid);
  return describe(response, answer);
}

async function commitOrAbort(core: Core, context: Dgraph.TxnContext): Promise<Dgraph.TxnContext> {
  const startTs = context.getStartTs();
  const hash = context.getHash() || undefined;
  if (context.getAborted()) {
    await core.dql.abort(startTs, hash);
    const answer = new messages.TxnContext();
    answer.setStartTs(startTs);
    answer.setAborted(true);
    return answer;
  }
  return contextOf(await core.dql.commit(startTs, hash));
}

function alterOf(operation: Dgraph.Operation): AlterRequest {
  assertOneThing({
    drop_all: operation.getDropAll(),
    drop_attr: operation.getDropAttr(),
    drop_op: operation.getDropOp(),
    schema: operation.getSchema(),
  });
  if (operation.getDropAll()) return { kind: 'dropAll' };
  if (operation.getDropAttr()) return { kind: 'dropAttr', name: operation.getDropAttr() };
  switch (operation.getDropOp()) {
    case 1:
      noDropValue('ALL', operation.getDropValue());
      return { kind: 'dropAll' };
    case 2:
      noDropValue('DATA', operation.getDropValue());
      return { kind: 'dropData' };
    case 3:
      return { kind: 'dropAttr', name: dropValue(operation.getDropValue()) };
    case 4:
      return { kind: 'dropType', name: dropValue(operation.getDropValue()) };
    default:
      return { kind: 'schema', text: schemaLines(operation.getSchema()) };
  }
}

function contextOf(info: TransactionInfo): Dgraph.TxnContext {
  const context = new messages.TxnContext();
  context.setStartTs(info.startTs);
  context.setHash(info.hash);
  if (info.commitTs !== undefined) context.setCommitTs(info.commitTs);
  context.setKeysList([...info.keys]);
  context.setPredsList([...info.preds]);
  return context;
}

function describe(response: Dgraph.Response, { txn, latency, metrics }: QueryAnswer | MutateAnswer): Dgraph.Response {
  response.setTxn(contextOf(txn));
  const times = new messages.Latency();
  times.setParsingNs(latency.parsing_ns);
  times.setProcessingNs(latency.processing_ns);
  times.setEncodingNs(latency.encoding_ns);
  times.setAssignTimestampNs(latency.assign_timestamp_ns);
  times.setTotalNs(latency.total_ns);
  response.setLatency(times);
  const counts = new Metrics();
  for (const [predicate, uids] of Object.entries(metrics)) counts.getNumUidsMap().set(predicate, uids);
  response.setMetrics(counts);
  return response;
}
