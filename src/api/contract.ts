import type { GraphQLSchema } from 'graphql';
import type { Clock, GraphsteadError, Limits, MaybePromise, Names, Trace } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import type { Graph, Transaction } from '../graph/index.js';
import type { HttpClient } from '../outbound/index.js';
import type { Variables } from '../sdl/index.js';
import type { CustomLogic } from './execute/custom-logic.js';
import type { Operation, RequestContext } from './operation.js';

/** A GraphQL request as it came over HTTP; nothing of it has been checked. */
export interface GraphqlRequest {
  readonly query?: string;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  /** `persistedQuery: { sha256Hash }` is understood */
  readonly extensions?: Readonly<Record<string, unknown>> | null;
}

export interface ExecuteOptions {
  /** false where a mutation may not be sent (GET) */
  readonly allowMutation?: boolean;
  /**
   * Belongs to the caller, who commits it: queries see what it has staged, and mutations are staged into it. It does not
   * reach what operations and remotes do.
   */
  readonly transaction?: Transaction;
}

/** What the server sends back. */
export interface GraphqlAnswer {
  /** `{"errors":[..],"data":{..},"extensions":{..}}` */
  readonly body: Buffer;
  /**
   * Status under application/graphql-response+json: 400 when the request could not be executed (there is no `data`),
   * 200 otherwise. Under application/json the server answers 200 either way.
   */
  readonly status: number;
  /** `cache-control`, `graphql-toucheduids` ...; lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly kind: 'query' | 'mutation' | 'subscription' | undefined;
}

/** One event of a subscription: an execution result as JSON bytes, and the SSE id where the source has one. */
export interface SubscriptionEvent {
  readonly body: Buffer;
  readonly id?: string;
}

export interface ApiOptions {
  readonly graph: Graph;
  /** needed for subscriptions and idempotency keys */
  readonly committer?: Pick<Committer, 'onCommit' | 'idempotentReply'>;
  readonly names: Names;
  readonly clock: Clock;
  readonly limits: Limits;
  /** calls the remotes of @custom fields, and asks them at upload what they offer; without it they answer null. Fetches key sets */
  readonly client?: HttpClient;
  /**
   * Variables that placeholders of a text's secrets may name, asked for whenever it is read. Without it the placeholders stay
   * as they stand: for tools that call no remote and verify no token.
   */
  readonly variables?: (text: string) => Variables;
  /** hears what requests spend their time with */
  readonly trace?: Trace;
  /** runs @custom fields in place of what is made from `client` */
  readonly custom?: CustomLogic;
  /** what GET /health tells, for the admin API */
  readonly health?: () => HealthReport;
  /** what the admin API lets operators do with the process */
  readonly operator?: Operator;
  /** writes exports of the graph, for the admin API */
  readonly exports?: Exports;
}

/** Exports that the admin API asks for. */
export interface Exports {
  /**
   * Begins one, behind those that run.
   * @param destination a folder inside that of exports. Throws INVALID_REQUEST for another one, and OVERLOADED.
   */
  start(format: 'rdf' | 'json', destination: string | undefined): ExportTask;
  /** One of the last that were begun. */
  task(id: string): ExportTask | undefined;
}

export interface ExportTask {
  readonly id: string;
  readonly status: 'Queued' | 'Running' | 'Failed' | 'Success';
  /** milliseconds since 1970 when the status became what it is */
  readonly lastUpdated: number;
  /** names of its files, once they are written; nobody has to wait for it */
  readonly done: Promise<readonly string[]>;
}

/** For the admin API's `health`. */
interface HealthReport {
  readonly version: string;
  /** seconds since the start */
  readonly uptime: number;
  readonly address: string;
  readonly status: 'healthy' | 'draining';
}

/** For the admin API's `draining` and `shutdown`. */
interface Operator {
  /** Takes the service out of use, or back into it. */
  drain(enable: boolean): void;
  /** Throws DRAINING while it is out of use. */
  refuse(): void;
  /** Ends the process in order, behind the answer; absent where it is not the service's to end. */
  readonly shutdown?: () => void;
}

/** Type definitions as they were uploaded. */
export interface StoredDefinitions {
  /** they hold secrets, and never leave the service */
  readonly text: string;
  /** as they may be shown */
  readonly shown: string;
  /** `# Service.Allow-Origin` lines; empty allows every origin */
  readonly allowedOrigins: readonly string[];
}

/** The schema that is served. */
export interface ServedSchema extends StoredDefinitions {
  /** the API generated from them */
  readonly generated: string;
  /** header that carries the JWT, lower case; undefined without `# Service.Authorization` */
  readonly authHeader?: string;
  /** headers that custom logic forwards, lower case */
  readonly forwardedHeaders: readonly string[];
}

/** Stored data that no operation reaches any more; it is kept, and reached again by definitions that name it. */
export interface Unreachable {
  readonly type: string;
  /** absent where a whole type is gone */
  readonly field?: string;
  readonly message: string;
}

/** A query in the graph language that reads types past their rules. */
export interface Unguarded {
  /** of Query */
  readonly field: string;
  readonly types: readonly string[];
  readonly message: string;
}

/** What stands against no upload, and may not be meant. */
export interface Remarks {
  /** what was reached before */
  readonly unreachable: readonly Unreachable[];
  readonly unguarded: readonly Unguarded[];
}

export interface SchemaUpdate extends Remarks {
  readonly served: ServedSchema;
}

/** The GraphQL API as the server offers it. */
export interface Api {
  /**
   * Reads the schema stored in the graph; call once before the first request. Answers its mistakes where a newer
   * version refuses what an older one took, or the environment lacks a variable: GraphQL waits for a corrected upload.
   */
  load(): Promise<readonly GraphsteadError[]>;
  /** The same once another process may have stored another one: what is served stays where it has not. */
  follow(): Promise<readonly GraphsteadError[]>;
  /**
   * Runs a query or a mutation; never throws for user mistakes. Inside a transaction it throws TXN_ABORTED, TXN_FINISHED
   * and TXN_EXPIRED: only its owner can begin anew.
   */
  execute(request: GraphqlRequest, context: RequestContext, options?: ExecuteOptions): Promise<GraphqlAnswer>;
  /**
   * Whether all that it takes is served here: a query or a subscription that is understood, and does not ask what the API offers.
   * For a service beside which another one knows more. Never throws.
   */
  knows(request: GraphqlRequest, context: RequestContext): Promise<boolean>;
  /**
   * In batches of what came together. Ends when the source ends or `context.signal` aborts. A query or a mutation gives one
   * event.
   */
  subscribe(
    request: GraphqlRequest,
    context: RequestContext,
    options?: Pick<ExecuteOptions, 'allowMutation'>,
  ): AsyncIterable<readonly SubscriptionEvent[]>;
  /** /admin: getGQLSchema, updateGQLSchema, health, state, export, draining, shutdown. */
  admin(
    request: GraphqlRequest,
    context: RequestContext,
    options?: Pick<ExecuteOptions, 'allowMutation'>,
  ): Promise<GraphqlAnswer>;
  /**
   * Claims of the JWT in these headers (lower-case names), undefined when there is none or nothing verifies it.
   * Throws UNAUTHENTICATED when a token is present in the configured header and does not verify.
   */
  claims(
    headers: Readonly<Record<string, string | undefined>>,
  ): MaybePromise<Readonly<Record<string, unknown>> | undefined>;
  /** Checks type definitions, against what is stored too, without changing anything. Empty when an upload would take them. */
  validate(text: string): Promise<readonly GraphsteadError[]>;
  /** What data these definitions would not reach that those served now do, and what no rule guards. Empty for definitions with mistakes. */
  remarks(text: string): Promise<Remarks>;
  /** What stored nodes do not have as the definitions that are served say it; empty where none are. */
  misfits(): Promise<readonly Unreachable[]>;
  /** Checks all, alters the graph's schema, stores the text and swaps. Throws GraphsteadErrors; what was served stays. */
  updateSchema(text: string): Promise<SchemaUpdate>;
  /** undefined before the first upload */
  current(): ServedSchema | undefined;
  /** Also those that are refused, of which nothing is served; undefined before the first upload. */
  stored(): StoredDefinitions | undefined;
  /** Why those that are stored are refused: another version, or the other mode, may have taken them. Empty for those that are served. */
  mistakes(): readonly GraphsteadError[];
  /** A uid for the definitions as such, which stays over their updates and goes with all data; leased when first asked for. */
  schemaId(): Promise<string>;
  /** How often what is served was exchanged since the start. */
  schemaUpdates(): number;
  /** The API that these definitions generate with no operations beside it; undefined for definitions with mistakes. */
  generatedAlone(text: string): string | undefined;
  /** What stands beside the generated operations; see `setOperations`. */
  operations(): readonly Operation[];
  /** The whole API, operations included; undefined where nothing is served. Another object with each change. */
  schema(): GraphQLSchema | undefined;
  /** Replaces the operations (an app was loaded or reloaded). Throws GraphsteadErrors on name clashes. */
  setOperations(operations: readonly Operation[]): void;
  /** Reads the secrets of what is served from the environment again. Throws GraphsteadErrors; what was served stays. */
  renewSecrets(): void;
  /** Called by the server after /alter dropped everything: forgets the schema. */
  dropped(): Promise<void>;
  close(): Promise<void>;
}
