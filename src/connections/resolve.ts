import { GraphsteadError, GraphsteadErrors } from '../base/index.js';
import type { AppConfig, ConnectionConfig, ModelConfig } from './config.js';
import type { Environment } from './environment.js';
import { isHttpAddress, placeholdersIn, substitute, variableName } from './placeholder.js';

/** A connection with its placeholders filled in. Holds secrets: it goes to host processes and is printed nowhere. */
export interface ResolvedConnections {
  readonly connections: Readonly<Record<string, ConnectionConfig>>;
  /** optional connections that were left out: the variables they lack */
  readonly missing: Readonly<Record<string, readonly string[]>>;
  readonly models: Readonly<Record<string, ModelConfig>>;
  /** connection -> placeholder -> value: what errors must not show */
  readonly values?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * Throws GraphsteadErrors naming every variable that a non-optional connection lacks (MISSING_VARIABLE), and every address
 * that is none once its variables are filled in (CONFIG).
 */
export function resolveConnections(config: AppConfig, environment: Environment): ResolvedConnections {
  const connections: Record<string, ConnectionConfig> = {};
  const missing: Record<string, readonly string[]> = {};
  const values: Record<string, Readonly<Record<string, string>>> = {};
  const errors: GraphsteadError[] = [];
  for (const [name, entry] of Object.entries(config.connections)) {
    const placeholders = placeholdersIn(entry);
    const valueFor = (placeholder: string) => environment[variableName(name, placeholder)] ?? '';
    const absent = placeholders.filter((placeholder) => valueFor(placeholder) === '');
    const variables = [...new Set(absent.map((placeholder) => variableName(name, placeholder)))];
    if (absent.length === 0) {
      connections[name] = substitute(entry, valueFor);
      values[name] = Object.fromEntries(placeholders.map((placeholder) => [placeholder, valueFor(placeholder)]));
      if (!isAddress(connections[name])) errors.push(noAddress(name, entry));
    } else if (entry.optional) missing[name] = variables;
    else errors.push(...variables.map((variable) => missingVariable(name, variable)));
  }
  if (errors.length > 0) throw new GraphsteadErrors(errors);
  return { connections, missing, models: config.models, values };
}

function isAddress(connection: ConnectionConfig): boolean {
  return connection.type !== 'http' || isHttpAddress(connection.baseUrl);
}

function noAddress(name: string, entry: ConnectionConfig): GraphsteadError {
  const placeholders = placeholdersIn((entry as { baseUrl?: string }).baseUrl);
  const variables = placeholders.map((placeholder) => variableName(name, placeholder)).join(' and ');
  return new GraphsteadError('CONFIG', `the baseUrl of the connection "${name}" is no address with ${variables}`, {
    fix: `correct ${variables}: the address starts with http:// or https://`,
    details: { connection: name },
  });
}

function missingVariable(connection: string, variable: string): GraphsteadError {
  return new GraphsteadError('MISSING_VARIABLE', `the connection "${connection}" needs the variable ${variable}`, {
    fix: `set ${variable} in the environment, or in .env.dev.local for development: ${variable}=...; or mark the connection "optional": true`,
    details: { variable, connection },
  });
}
