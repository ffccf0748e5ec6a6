import { createRequire } from 'node:module';
import type * as Grpc from '@grpc/grpc-js';
import type * as Dgraph from 'dgraph-js';
import type { ResolvedConnections } from '../resolve.js';
import { Replies, type Script, type Scripted } from './script.js';

/**
 * What a scripted graph answers: of a query its data; of changes `{ uids, data }`, either of which may be left out; or an
 * error, whose `code` is a status of gRPC.
 */
export type GraphReply = object | Error;

/** Replies one after the other, or a function of what was asked. */
export type GraphScript = Script<GraphCall, GraphReply>;

/** One query, mutation or upsert that reached a scripted graph. */
export interface GraphCall {
  readonly connection: string;
  /** empty where a mutation has none */
  readonly query: string;
  /** of a query */
  readonly variables: Readonly<Record<string, string>>;
  /** none of a query */
  readonly changes: readonly GraphChange[];
}

/** N-Quads, and the text of an @if; what is not given is left out. */
interface GraphChange {
  readonly set?: string;
  readonly delete?: string;
  readonly condition?: string;
}

// as in the client: with the first that is scripted, not with every test
const require = createRequire(import.meta.url);
const load = () => ({
  grpc: require('@grpc/grpc-js') as typeof Grpc,
  messages: require('dgraph-js') as typeof Dgraph,
  service: (require('dgraph-js/generated/api_grpc_pb.js') as { DgraphService: Grpc.ServiceDefinition }).DgraphService,
});
type Library = ReturnType<typeof load>;

/**
 * Graph connections that answer from scripts, over gRPC: a server each, for a call names no connection.
 * @param scripts by the connection's name in app.json
 */
export async function openScriptedGraphs(scripts: Readonly<Record<string, GraphScript>>): Promise<Scripted<GraphCall>> {
  const replies = new Replies('connection', scripts);
  const names = Object.keys(scripts);
  const library = names.length > 0 ? load() : undefined;
  const opened = await Promise.all(
    names.map(async (name) => [name, await listen(library as Library, name, replies)] as const),
  );
  const servers = new Map(opened);
  return {
    calls: replies.calls,
    redirect(resolved) {
      const connections = Object.entries(resolved.connections).map(([name, connection]) => {
        const server = servers.get(name);
        const isGraph = connection.type === 'graph' || connection.type === 'dgraph';
        if (!isGraph || !server) return [name, connection];
        const { connString: _text, connStr: _address, ...rest } = connection;
        return [name, { ...rest, grpcTarget: `127.0.0.1:${server.port}` }];
      });
      return { ...resolved, connections: Object.fromEntries(connections) as ResolvedConnections['connections'] };
    },
    async close() {
      for (const { server } of servers.values()) server.forceShutdown();
    },
  };
}

interface Listening {
  readonly server: Grpc.Server;
  readonly port: number;
}

async function listen(library: Library, name: string, replies: Replies<GraphCall, GraphReply>): Promise<Listening> {
  const { grpc, messages, service } = library;
  const server = new grpc.Server();
  server.addService(service, {
    query: ({ request }: { request: Dgraph.Request }, tell: Grpc.sendUnaryData<Dgraph.Response>) => {
      answer(library, callOf(name, request), replies).then(
        (response) => tell(null, response),
        (error: unknown) => tell(failure(grpc, error)),
      );
    },
    // that of a call which failed is given up
    commitOrAbort: (_: unknown, tell: Grpc.sendUnaryData<Dgraph.TxnContext>) => tell(null, new messages.TxnContext()),
  });
  const bound = new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
  return { server, port: await bound };
}

function callOf(connection: string, request: Dgraph.Request): GraphCall {
  return {
    connection,
    query: request.getQuery(),
    variables: Object.fromEntries([...request.getVarsMap().entries()] as [string, string][]),
    changes: request.getMutationsList().map(changeOf),
  };
}

function changeOf(mutation: Dgraph.Mutation): GraphChange {
  const set = Buffer.from(mutation.getSetNquads_asU8()).toString('utf8');
  const gone = Buffer.from(mutation.getDelNquads_asU8()).toString('utf8');
  const condition = mutation.getCond();
  return { ...(set && { set }), ...(gone && { delete: gone }), ...(condition && { condition }) };
}

async function answer(
  { messages }: Library,
  call: GraphCall,
  replies: Replies<GraphCall, GraphReply>,
): Promise<Dgraph.Response> {
  const reply: unknown = await replies.to(call.connection, call);
  if (reply instanceof Error) throw reply;
  // tests need not be typed
  if (typeof reply !== 'object' || reply === null) {
    throw new Error(`the script of connection "${call.connection}" gave ${String(reply)}: give an object or an Error`);
  }
  const { uids = {}, data = {} } = call.changes.length > 0 ? (reply as Changed) : { data: reply };
  const response = new messages.Response();
  response.setJson(Buffer.from(JSON.stringify(data)));
  for (const [name, uid] of Object.entries(uids)) response.getUidsMap().set(name, uid);
  return response;
}

interface Changed {
  readonly uids?: Readonly<Record<string, string>>;
  readonly data?: unknown;
}

function failure(grpc: typeof Grpc, error: unknown): Partial<Grpc.StatusObject> {
  const { message, code } = error as { readonly message?: string; readonly code?: unknown };
  return {
    code: typeof code === 'number' && code in grpc.status ? code : grpc.status.UNKNOWN,
    details: message ?? String(error),
  };
}
