import type { GraphQLSchema } from 'graphql';
import type { ExecuteOptions, GraphqlAnswer, GraphqlRequest, Operation, RequestContext } from '../api/index.js';
import type { Limits } from '../base/index.js';

/** What the endpoint needs of the API that it stands beside. */
export interface McpOptions {
  readonly api: {
    execute(request: GraphqlRequest, context: RequestContext, options?: ExecuteOptions): Promise<GraphqlAnswer>;
    operations(): readonly Operation[];
    schema(): GraphQLSchema | undefined;
  };
  readonly limits: Pick<Limits, 'mcpAnswerChars' | 'streams' | 'heartbeatMs'>;
  readonly version: string;
  /** hears of what a tool threw: a mistake of ours, since those of callers are answers */
  readonly onError: (error: Error) => void;
}

/** Model Context Protocol over HTTP: one request in, one response out, nothing kept between them. */
export interface McpEndpoint {
  /** `body` is the request's JSON, already read. `context` says who asks: tools do what GraphQL would let it do. */
  answer(request: Request, body: unknown, context: RequestContext): Promise<Response>;
  /** Tells listening clients that there are other tools now. */
  toolsChanged(): void;
  close(): Promise<void>;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What a call of a tool answers: a text for the model, and the same as JSON. */
export interface ToolAnswer {
  readonly text: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** Runs a GraphQL document for whoever calls the tool. */
export type Run = (request: GraphqlRequest, options?: ExecuteOptions) => Promise<GraphqlAnswer>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** asks for data alone; otherwise it may change some */
  readonly readOnly: boolean;
  call(given: Readonly<Record<string, unknown>>, run: Run): Promise<ToolAnswer>;
}
