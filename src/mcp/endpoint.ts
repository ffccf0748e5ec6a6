import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Operation, RequestContext } from '../api/index.js';
import type { McpEndpoint, McpOptions, Run, Tool, ToolAnswer } from './contract.js';
import { functionTool } from './function-tool.js';
import { graphqlTools } from './graphql-tools.js';

const INSTRUCTIONS =
  'Tools named after functions of the app do what their descriptions say. graphql_schema, graphql_query and graphql_mutation reach everything that is stored.';

/** The protocol itself is the library's, in its stateless form and in the one before it. */
export function createMcp(options: McpOptions): McpEndpoint {
  const { limits, version, onError } = options;
  const toolsNow = toolsOf(options);
  const contexts = new WeakMap<Request, RequestContext>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const context = requestInfo && contexts.get(requestInfo);
      if (!context) throw new Error('a request without its caller');
      return serverFor({
        version,
        tools: toolsNow(),
        limit: limits.mcpAnswerChars,
        onError,
        run: (request, how) => options.api.execute(request, context, how),
      });
    },
    { maxSubscriptions: limits.streams, keepAliveMs: limits.heartbeatMs },
  );
  return {
    answer(request, body, context) {
      contexts.set(request, context);
      return handler.fetch(request, { parsedBody: body });
    },
    toolsChanged: () => handler.notify.toolsChanged(),
    close: () => handler.close(),
  };
}

/** The tools of what is served, made once for each schema. */
function toolsOf({ api }: McpOptions): () => ReadonlyMap<string, Tool> {
  let made: { readonly of: unknown; readonly tools: ReadonlyMap<string, Tool> } | undefined;
  return () => {
    const schema = api.schema();
    if (made?.of === schema && made) return made.tools;
    const functions = api.operations().flatMap((operation) => {
      const field = fieldOf(schema, operation);
      return operation.run && field ? [functionTool(operation, field)] : [];
    });
    const all = [...(schema ? graphqlTools(schema) : []), ...functions];
    const tools = new Map(all.map((tool) => [tool.name, tool]));
    made = { of: schema, tools };
    return tools;
  };
}

function fieldOf(schema: ReturnType<McpOptions['api']['schema']>, { name, kind }: Operation) {
  const root = kind === 'query' ? schema?.getQueryType() : schema?.getMutationType();
  return root?.getFields()[name];
}

interface Served {
  readonly version: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly run: Run;
  /** characters of an answer */
  readonly limit: number;
  readonly onError: McpOptions['onError'];
}

/** One for each request: the protocol has no sessions. */
function serverFor({ version, tools, run, limit, onError }: Served): Server {
  const info = { name: 'graphstead', version };
  const server = new Server(info, { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS });
  server.setRequestHandler('tools/list', () => ({ tools: [...tools.values()].map(listed) }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }) => {
    const tool = tools.get(name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}`);
    const answering = tool.call(given, run).catch((error: Error) => {
      onError(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, `${name} failed; the log says why`);
    });
    return resultOf(shortened(await answering, limit));
  });
  return server;
}

function listed({ name, description, inputSchema, readOnly }: Tool) {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' as const },
    annotations: { readOnlyHint: readOnly },
  };
}

/** A model reads all that it is given: what is too long for it is cut, and says so. */
function shortened(answer: ToolAnswer, limit: number): ToolAnswer {
  const { data, text, ...rest } = answer;
  if (text.length <= limit) return answer;
  const told = `[cut: ${limit} of ${text.length} characters, limits.mcpAnswerChars; ask for less]`;
  return { ...rest, text: `${text.slice(0, limit)}\n${told}` };
}

function resultOf({ text, data, isError }: ToolAnswer) {
  return {
    content: [{ type: 'text' as const, text }],
    ...(data ? { structuredContent: data } : {}),
    ...(isError ? { isError } : {}),
  };
}
