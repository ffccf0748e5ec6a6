import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphsteadError } from '../../base/index.js';
import type { McpEndpoint } from '../../mcp/index.js';
import { LARGE_ANSWERS } from '../answers.js';
import { bodyText, mediaType, parseJsonObject } from '../body.js';
import type { Core } from '../core.js';
import { contextOf } from './request-context.js';

/** POST /mcp: the Model Context Protocol, with tools that do what GraphQL would let the same caller do. */
export function mcpRoutes(app: FastifyInstance, core: Core, version: string): McpRoutes {
  const onError = (error: Error) => core.log.error({ err: error }, 'a tool of /mcp failed');
  // its library is read with the first request: most starts are not for it
  let made: Promise<McpEndpoint> | undefined;
  const endpoint = () =>
    (made ??= load(core, version, onError).catch((error: unknown) => {
      made = undefined; // too few open files, say: the next request tries again
      throw error;
    }));
  const options = { bodyLimit: core.limits.graphqlBodyBytes, config: LARGE_ANSWERS };
  app.post('/mcp', options, async (request, reply) => {
    const body = bodyOf(request);
    const context = await contextOf(core, request, reply.raw);
    const mcp = await endpoint();
    return send(reply, await mcp.answer(webRequest(core, request, reply), body, context));
  });
  return {
    // one that could not be loaded has told whoever asked for it
    toolsChanged: () => void made?.then((mcp) => mcp.toolsChanged()).catch(() => undefined),
    close: async () => (await made?.catch(() => undefined))?.close(),
  };
}

interface McpRoutes {
  toolsChanged(): void;
  close(): Promise<void>;
}

async function load({ api, limits }: Core, version: string, onError: (error: Error) => void): Promise<McpEndpoint> {
  const { createMcp } = await import('../../mcp/index.js');
  return createMcp({ api, limits, version, onError });
}

/** Throws UNSUPPORTED_MEDIA_TYPE: what a page may send to another site without asking is none of it. */
function bodyOf(request: FastifyRequest): unknown {
  const type = mediaType(request);
  if (type === 'application/json') return parseJsonObject(bodyText(request), 'the MCP request');
  throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `an MCP request cannot be sent as "${type}"`, {
    fix: 'use Content-Type: application/json with one JSON-RPC request',
  });
}

/** What the protocol looks at: the headers, and whether the client is still there. */
function webRequest(core: Core, request: FastifyRequest, reply: FastifyReply): Request {
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  return new Request(`http://localhost${request.url}`, { method: 'POST', headers, signal: core.signalOf(reply.raw) });
}

function send(reply: FastifyReply, { status, headers, body }: Response): FastifyReply {
  for (const [name, value] of headers) reply.header(name, value);
  return reply.code(status).send(body === null ? '' : Readable.fromWeb(body as ReadableStream));
}
