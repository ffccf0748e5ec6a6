import { GraphsteadError, GraphsteadErrors } from '../base/index.js';
import type { AppConfig, ConnectionConfig, ModelConfig } from './config.js';
import type { Environment } from './environment.js';
import { placeholdersIn, substitute, variableName } from './placeholder.js';

/** A connection with its placeholders filled in. Holds secrets: it goes to host processes and is printed nowhere. */
export interface ResolvedConnections {
  readonly connections: Readonly<Record<string, ConnectionConfig>>;
  /** optional connections that were left out: the variables they lack */
  readonly missing: Readonly<Record<string, readonly string[]>>;
  readonly models: Readonly<Record<string, ModelConfig>>;
}

/** Throws GraphsteadErrors (MISSING_VARIABLE) naming every variable that a non-optional connection lacks. */
export function resolveConnections(config: AppConfig, environment: Environment): ResolvedConnections {
  const connections: Record<string, ConnectionConfig> = {};
  const missing: Record<string, readonly string[]> = {};
  const errors: GraphsteadError[] = [];
  for (const [name, entry] of Object.entries(config.connections)) {
    const absent = placeholdersIn(entry)
      .map((placeholder) => variableName(name, placeholder))
      .filter((variable) => !environment[variable]);
    if (absent.length === 0) {
      connections[name] = substitute(entry, (placeholder) => environment[variableName(name, placeholder)] ?? '');
    } else if (entry.optional) missing[name] = absent;
    else errors.push(...absent.map((variable) => missingVariable(name, variable)));
  }
  if (errors.length > 0) throw new GraphsteadErrors(errors);
  return { connections, missing, models: config.models };
}

function missingVariable(connection: string, variable: string): GraphsteadError {
  return new GraphsteadError('MISSING_VARIABLE', `the connection "${connection}" needs the variable ${variable}`, {
    fix: `set ${variable} in the environment, or in .env.dev.local for development: ${variable}=...; or mark the connection "optional": true`,
    details: { variable, connection },
  });
}
