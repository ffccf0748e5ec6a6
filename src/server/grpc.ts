import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import { asError, type ErrorCode, GraphsteadError, type Names } from '../base/index.js';
import type { Latency, TransactionInfo } from '../dql/index.js';
import type { AlterRequest } from '../graph/index.js';
import type { Core } from './core.js';
import type { GrpcConnections } from './grpc-port.js';
import { keyMissing } from './authenticate.js';
import { type ApiKeys, isLoopback, keyOf } from './keys.js';
import type { ServedTls, Tls } from './tls.js';
import { schemaLines } from './route/graph-language.js';

// The published client carries the service definition of the protocol; both are CommonJS.
const require = createRequire(import.meta.url);
const messages = require('dgraph-js') as typeof Dgraph;
const { DgraphService } = require('dgraph-js/generated/api_grpc_pb.js') as { DgraphService: grpc.ServiceDefinition };
const { Version } = require('dgraph-js/generated/api_pb.js') as { Version: new () => { setTag(tag: string): void } };

const STATUS: Partial<Record<ErrorCode, grpc.status>> = {
  TXN_ABORTED: grpc.status.ABORTED,
  UNAUTHENTICATED: grpc.status.UNAUTHENTICATED,
  FORBIDDEN: grpc.status.PERMISSION_DENIED,
  TIMEOUT: grpc.status.DEADLINE_EXCEEDED,
  CANCELLED: grpc.status.CANCELLED,
  DISK_FULL: grpc.status.RESOURCE_EXHAUSTED,
  TOO_MANY_TRANSACTIONS: grpc.status.RESOURCE_EXHAUSTED,
  NOT_READY: grpc.status.UNAVAILABLE,
  INTERNAL: grpc.status.INTERNAL,
};

interface GrpcOptions {
  /** the address that is listened on: keys are asked for unless it is this machine's own */
  readonly host: string;
  readonly keys: ApiKeys;
  readonly version: string;
  readonly tls?: ServedTls;
}

/** The graph language over gRPC, as the published clients speak it: query, mutate, upsert, alter, commit or discard, version. */
export function createGrpc(core: Core, options: GrpcOptions): GrpcConnections {
  const server = new grpc.Server({ 'grpc.max_receive_message_length': core.limits.graphBodyBytes });
  const guarded = guard(options, core);
  server.addService(DgraphService, {
    query: guarded('Query', (request: Dgraph.Request, signal) => query(core, request, signal)),
    alter: guarded('Alter', async (operation: Dgraph.Operation) => {
      await core.alter(alterOf(operation), { runInBackground: operation.getRunInBackground() });
      return new messages.Payload();
    }),
    commitOrAbort: guarded('CommitOrAbort', (context: Dgraph.TxnContext) => commitOrAbort(core, context)),
    checkVersion: guarded('CheckVersion', async () => {
      const answer = new Version();
      answer.setTag(options.version);
      return answer;
    }),
    login: guarded('Login', async () => {
      throw new GraphsteadError('INVALID_REQUEST', 'there are no users to log in as', {
        fix: 'send an API key as the metadata "authorization: Bearer <key>"',
      });
    }),
  });
  let connections = server.createConnectionInjector(credentials(options.tls?.current));
  // one that served before is left to its connections
  options.tls?.onRenewed((tls) => {
    connections = server.createConnectionInjector(credentials(tls));
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

function credentials(tls: Tls | undefined): grpc.ServerCredentials {
  if (!tls) return grpc.ServerCredentials.createInsecure();
  return grpc.ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
}

type Unary<Request, Answer> = (request: Request, signal: AbortSignal) => Promise<Answer>;

/** Checks the key and turns failures into gRPC statuses with our code and fix in the message. */
function guard(options: GrpcOptions, { trace, names }: Core) {
  const open = isLoopback(options.host);
  return <Request, Answer>(method: string, work: Unary<Request, Answer>): grpc.handleUnaryCall<Request, Answer> =>
    (call, callback) => {
      const controller = new AbortController();
      call.on('cancelled', () => controller.abort());
      const metadata = call.metadata.getMap() as Record<string, string>;
      // clients of this protocol also send the key alone, without "Bearer"
      const bare = { 'x-api-key': metadata['authorization'] };
      const allowed = open || [metadata, bare].some((headers) => options.keys.open(undefined, { headers }));
      const answer = async () => {
        if (!allowed) throw keyMissing(keyOf(metadata) !== undefined || metadata['authorization'] !== undefined);
        return work(call.request, controller.signal);
      };
      const facts = { 'rpc.system': 'grpc', 'rpc.service': 'api.Dgraph', 'rpc.method': method };
      const step = { kind: 'server', facts, headers: metadata } as const;
      trace.step(`api.Dgraph/${method}`, step, answer).then(
        (answer) => callback(null, answer),
        (thrown: unknown) => callback(statusOf(thrown, names)),
      );
    };
}

function statusOf(thrown: unknown, names: Names): grpc.ServiceError {
  const error = asError(thrown);
  const text = error.fix && error.code !== 'TXN_ABORTED' ? `${error.message} (${error.fix})` : error.message;
  const details = names.told(text);
  const metadata = new grpc.Metadata();
  metadata.set('graphstead-code', error.code);
  return Object.assign(new Error(details), {
    code: STATUS[error.code] ?? grpc.status.INVALID_ARGUMENT,
    details,
    metadata,
  });
}

async function query(core: Core, request: Dgraph.Request, signal: AbortSignal): Promise<Dgraph.Response> {
  return request.getMutationsList().length > 0 ? mutate(core, request, signal) : read(core, request, signal);
}

async function read(core: Core, request: Dgraph.Request, signal: AbortSignal): Promise<Dgraph.Response> {
  const rdf = request.getRespFormat() === 1;
  const answer = await core.dql.query({
    text: request.getQuery(),
    variables: Object.fromEntries([...request.getVarsMap().entries()] as [string, string][]),
    startTs: request.getStartTs() || undefined,
    hash: request.getHash() || undefined,
    readOnly: request.getReadOnly(),
    bestEffort: request.getBestEffort(),
    format: rdf ? 'rdf' : 'json',
    signal,
  });
  const response = new messages.Response();
  if (rdf) response.setRdf(answer.data);
  else response.setJson(answer.data);
  return describe(response, answer.txn, answer.latency);
}

async function mutate(core: Core, request: Dgraph.Request, signal: AbortSignal): Promise<Dgraph.Response> {
  const { body, contentType } = mutationText(request);
  const answer = await core.dql.mutate({
    body,
    contentType,
    commitNow: request.getCommitNow() || request.getMutationsList().some((mutation) => mutation.getCommitNow()),
    startTs: request.getStartTs() || undefined,
    hash: request.getHash() || undefined,
    signal,
  });
  const response = new messages.Response();
  response.setJson(answer.queries ?? Buffer.from('{}'));
  const uids = response.getUidsMap();
  for (const [name, uid] of Object.entries(answer.uids)) uids.set(name, uid);
  return describe(response, answer.txn, answer.latency);
}

/** The request as one body of the HTTP API: an RDF upsert, or JSON with a list of mutations. */
function mutationText(request: Dgraph.Request): { body: string; contentType: 'rdf' | 'json' } {
  const list = request.getMutationsList();
  const text = (bytes: Uint8Array | string) =>
    typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8');
  const parts = list.map((mutation) => ({
    set: text(mutation.getSetNquads_asU8()),
    delete: text(mutation.getDelNquads_asU8()),
    setJson: text(mutation.getSetJson_asU8()),
    deleteJson: text(mutation.getDeleteJson_asU8()),
    condition: mutation.getCond(),
  }));
  const json = parts.some((part) => part.setJson || part.deleteJson);
  if (json && parts.some((part) => part.set || part.delete)) {
    throw new GraphsteadError('INVALID_MUTATION', 'one request mixes N-Quads and JSON', {
      fix: 'send them in two requests',
    });
  }
  if (json) {
    const fields = (part: (typeof parts)[number]) =>
      [
        part.setJson ? `"set":${part.setJson}` : '',
        part.deleteJson ? `"delete":${part.deleteJson}` : '',
        part.condition ? `"cond":${JSON.stringify(part.condition)}` : '',
      ].filter(Boolean);
    const query = request.getQuery() ? `"query":${JSON.stringify(request.getQuery())},` : '';
    return {
      contentType: 'json',
      body: `{${query}"mutations":[${parts.map((part) => `{${fields(part).join(',')}}`).join(',')}]}`,
    };
  }
  const block = (part: (typeof parts)[number]) =>
    `{${part.set ? `\nset {\n${part.set}\n}` : ''}${part.delete ? `\ndelete {\n${part.delete}\n}` : ''}\n}`;
  if (!request.getQuery() && parts.length === 1 && !parts[0].condition)
    return { contentType: 'rdf', body: block(parts[0]) };
  const query = request
    .getQuery()
    .trim()
    .replace(/^query(\s+\w+)?\s*(?=\{)/, '');
  const mutations = parts.map((part) => `mutation ${part.condition} ${block(part)}`).join('\n');
  return { contentType: 'rdf', body: `upsert {\nquery ${query || '{ }'}\n${mutations}\n}` };
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
  if (operation.getDropAll()) return { kind: 'dropAll' };
  if (operation.getDropAttr()) return { kind: 'dropAttr', name: operation.getDropAttr() };
  const value = operation.getDropValue();
  switch (operation.getDropOp()) {
    case 1:
      return { kind: 'dropAll' };
    case 2:
      return { kind: 'dropData' };
    case 3:
      return { kind: 'dropAttr', name: value };
    case 4:
      return { kind: 'dropType', name: value };
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

function describe(response: Dgraph.Response, info: TransactionInfo, latency: Latency): Dgraph.Response {
  response.setTxn(contextOf(info));
  const message = new messages.Latency();
  message.setParsingNs(latency.parsing_ns);
  message.setProcessingNs(latency.processing_ns);
  message.setEncodingNs(latency.encoding_ns);
  message.setTotalNs(latency.total_ns);
  response.setLatency(message);
  return response;
}
