import { connect } from 'node:net';
import { type Environment, placeholdersIn, substitute, variableName } from '../base/index.js';
import type { AppConfig, ConnectionConfig } from './config.js';
import type { ConnectionReport, ModelReport, Reachable } from './info.js';

/** What app.json names and what of it is configured. */
export function reportConnections(
  config: AppConfig,
  environment: Environment,
): { readonly connections: readonly ConnectionReport[]; readonly models: readonly ModelReport[] } {
  return {
    connections: Object.entries(config.connections).map(([name, entry]) => report(name, entry, environment)),
    models: Object.entries(config.models).map(([name, model]) => {
      const { sourceModel, connection, path, inputPrice, outputPrice } = model;
      return { name, sourceModel, connection, path, inputPrice, outputPrice };
    }),
  };
}

function report(name: string, entry: ConnectionConfig, environment: Environment): ConnectionReport {
  const variables = placeholdersIn(entry).map((placeholder) => {
    const variable = variableName(name, placeholder);
    return { name: variable, set: Boolean(environment[variable]) };
  });
  const address = addressOf(name, entry, environment);
  return {
    name,
    kind: entry.type === 'http' ? 'http' : entry.type === 'graph' || entry.type === 'dgraph' ? 'graph' : 'relational',
    optional: entry.optional ?? false,
    ...(address === undefined ? {} : { address: `${address.host}:${address.port}` }),
    variables,
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'postgres:': 5432 };

/** Host and port alone: user, password, path and parameters may be secrets. */
function addressOf(name: string, entry: ConnectionConfig, environment: Environment): Address | undefined {
  const { baseUrl, connStr, connString, grpcTarget } = entry as Partial<Record<string, unknown>>;
  const written = baseUrl ?? grpcTarget ?? connStr ?? connString;
  if (typeof written !== 'string') return undefined;
  const complete = placeholdersIn(written).every((placeholder) => environment[variableName(name, placeholder)]);
  if (!complete) return undefined;
  const text = substitute(written, (placeholder) => environment[variableName(name, placeholder)] ?? '');
  const isGraph = entry.type === 'graph' || entry.type === 'dgraph';
  try {
    // a graph's client reads its address as https, whatever it begins with
    const url = new URL(isGraph ? text.replace(/^([a-z]+:\/\/)?/i, 'https://') : text);
    const port = Number(url.port) || (DEFAULT_PORT[url.protocol] ?? 5432);
    return url.hostname === '' ? undefined : { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port };
  } catch {
    return undefined;
  }
}

const REACH_MS = 3_000;

/** Whether the connection's address takes a TCP connection. Sends nothing over it, so no secret leaves. */
export function reach(name: string, config: AppConfig, environment: Environment): Promise<Reachable> {
  const entry = config.connections[name];
  const address = entry && addressOf(name, entry, environment);
  if (address === undefined) {
    return Promise.resolve({ reachable: false, ms: 0, reason: 'its address is not known: a variable is missing' });
  }
  const from = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: REACH_MS });
    const end = (reason?: string) => {
      socket.destroy();
      const ms = performance.now() - from;
      resolve(reason === undefined ? { reachable: true, ms } : { reachable: false, ms, reason });
    };
    socket.once('connect', () => end());
    socket.once('timeout', () => end(`no answer within ${REACH_MS / 1000} s`));
    socket.once('error', (error: NodeJS.ErrnoException) => end(reasonOf(error, address)));
  });
}

function reasonOf(error: NodeJS.ErrnoException, { host, port }: Address): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return `nothing listens on ${host}:${port}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${host} is not known`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no way leads to ${host}`;
    default:
      return error.code ?? 'the connection failed';
  }
}
