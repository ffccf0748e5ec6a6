import { DEFAULT_LIMITS, GraphsteadError, type Hide, hiding } from '../base/index.js';
import type { ConnectionConfig } from './config.js';
import { type GraphConnection, openGraph } from './graph-connection.js';
import { type BareHttp, type HttpConnection, openHttp } from './http-connection.js';
import { type ChatModel, openModel } from './model.js';
import { openRelational, type RelationalConnection } from './relational-connection.js';
import type { ResolvedConnections } from './resolve.js';
import { notSet } from './told.js';

export { endCallsBy } from './call-options.js';
export type { GraphConnection } from './graph-connection.js';
export type { HttpConnection } from './http-connection.js';
export type { ChatMessage, ChatOptions, ChatReply, ContentPart, SentMessage, Tool, ToolCall } from './chat.js';
export type { ChatModel } from './model.js';
export type { CallRecord } from './info.js';
export { onCall, traceHeaders } from './record.js';
export type { RelationalConnection } from './relational-connection.js';
export type { ResolvedConnections } from './resolve.js';

/** The app's connections, by the names of app.json. Throws CONNECTION_UNKNOWN, MISSING_VARIABLE. */
export interface Connections {
  http(name: string): HttpConnection;
  relational(name: string): RelationalConnection;
  graph(name: string): GraphConnection;
  /** false for an optional connection whose variables are not set */
  has(name: string): boolean;
}

/** The app's models, by the names of app.json. Throws MODEL_UNKNOWN, and what the model's connection throws. */
export interface Models {
  get(name: string): ChatModel;
  /** false too when the model's connection is left out */
  has(name: string): boolean;
}

export interface OpenConnections {
  readonly connections: Connections;
  readonly models: Models;
  close(): Promise<void>;
}

const NONE: ResolvedConnections = { connections: {}, missing: {}, models: {} };

type AnyConnection = HttpConnection | RelationalConnection | GraphConnection;
type Kind = keyof Omit<Connections, 'has'>;

/** Clients open on first use and are kept; `close` ends them all. @param replyBytes limits.outboundReplyBytes */
export function openConnections(
  resolved: ResolvedConnections = NONE,
  replyBytes: number = DEFAULT_LIMITS.outboundReplyBytes,
): OpenConnections {
  const open = new Map<string, AnyConnection>();
  const hideOf = (name: string) => hiding(resolved.values?.[name]);

  function use<C extends AnyConnection>(
    name: string,
    kind: Kind,
    make: (config: ConnectionConfig, hide: Hide) => C,
  ): C {
    const config = own(resolved.connections, name);
    if (!config) throw absent(name, resolved);
    if (kindOf(config) !== kind) {
      throw new GraphsteadError('CONNECTION_UNKNOWN', `connection "${name}" is of type ${config.type}, not ${kind}`, {
        fix: `use connections.${kindOf(config)}("${name}")`,
      });
    }
    const client = (open.get(name) as C | undefined) ?? make(config, hideOf(name));
    open.set(name, client);
    return client;
  }

  const http = (name: string): BareHttp =>
    use(name, 'http', (config, hide) => openHttp(name, config as Parameters<typeof openHttp>[1], hide, replyBytes));
  const connections: Connections = {
    http,
    relational: (name) =>
      use(name, 'relational', (config, hide) =>
        openRelational(name, config as Parameters<typeof openRelational>[1], hide, replyBytes),
      ),
    graph: (name) =>
      use(name, 'graph', (config, hide) => openGraph(name, config as Parameters<typeof openGraph>[1], hide)),
    has: (name) => own(resolved.connections, name) !== undefined,
  };
  const models: Models = {
    get(name) {
      const config = own(resolved.models, name);
      if (!config) {
        throw new GraphsteadError('MODEL_UNKNOWN', `there is no model "${name}"`, {
          fix: `add it under models in app.json; known are: ${Object.keys(resolved.models).join(', ') || 'none'}`,
        });
      }
      return openModel(name, config, http(config.connection), hideOf(config.connection), replyBytes);
    },
    has(name) {
      const config = own(resolved.models, name);
      return config !== undefined && connections.has(config.connection);
    },
  };
  return {
    connections,
    models,
    async close() {
      const closing = [...open.values()].map(async (client) => client.close());
      open.clear();
      await Promise.allSettled(closing);
    },
  };
}

/** `constructor` is the name of nothing in app.json, and of something in every object. */
function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function kindOf({ type }: ConnectionConfig): Kind {
  if (type === 'http') return 'http';
  return type === 'graph' || type === 'dgraph' ? 'graph' : 'relational';
}

function absent(name: string, resolved: ResolvedConnections): GraphsteadError {
  const variables = own(resolved.missing, name);
  if (variables) {
    return new GraphsteadError('MISSING_VARIABLE', `connection "${name}" was left out: ${notSet(variables)}`, {
      fix: `set ${variables.join(' and ')}`,
      details: { connection: name },
    });
  }
  return new GraphsteadError('CONNECTION_UNKNOWN', `there is no connection "${name}"`, {
    fix: `add it under connections in app.json; known are: ${Object.keys(resolved.connections).join(', ') || 'none'}`,
  });
}
