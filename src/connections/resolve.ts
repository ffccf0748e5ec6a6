import {
  type Environment,
  GraphsteadError,
  GraphsteadErrors,
  isHeaderValue,
  placeholdersIn,
  substitute,
  variableName,
} from '../base/index.js';
import type { AppConfig, ConnectionConfig, ModelConfig } from './config.js';
import { type GraphConfig, graphTarget } from './graph-target.js';
import { isHttpAddress } from './http-address.js';
import { misnamedVariables } from './misnamed.js';

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
 * that is none, or none to build on, and every header that is none, once its variables are filled in (CONFIG).
 */
export function resolveConnections(config: AppConfig, environment: Environment): ResolvedConnections {
  const connections: Record<string, ConnectionConfig> = {};
  const missing: Record<string, readonly string[]> = {};
  const values: Record<string, Readonly<Record<string, string>>> = {};
  const errors: GraphsteadError[] = [];
  const misnamed = () => misnamedVariables(config, environment);
  for (const [name, entry] of Object.entries(config.connections)) {
    const placeholders = placeholdersIn(entry);
    const valueFor = (placeholder: string) => environment[variableName(name, placeholder)] ?? '';
    const absent = placeholders.filter((placeholder) => valueFor(placeholder) === '');
    const variables = [...new Set(absent.map((placeholder) => variableName(name, placeholder)))];
    if (absent.length === 0) {
      connections[name] = substitute(entry, valueFor);
      values[name] = Object.fromEntries(placeholders.map((placeholder) => [placeholder, valueFor(placeholder)]));
      const wrong = wrongAddress(name, entry, connections[name]) ?? lostQuery(name, entry, connections[name]);
      const all = [...(wrong ? [wrong] : []), ...wrongHeaders(name, entry, connections[name])];
      errors.push(...all.map((one) => placed(one, config, name)));
    } else if (entry.optional) missing[name] = variables;
    else {
      const lacking = variables.map((variable) => missingVariable(name, entry.type, variable, misnamed()));
      errors.push(...lacking.map((one) => placed(one, config, name)));
    }
  }
  if (errors.length > 0) throw new GraphsteadErrors(errors);
  return { connections, missing, models: config.models, values };
}

function placed({ code, message, fix, details }: GraphsteadError, { placeOf }: AppConfig, connection: string) {
  return new GraphsteadError(code, message, { fix, details, position: placeOf?.(connection) });
}

/** Where a connection says where it goes: the key, whether that is an address, and how one begins. */
function addressIn(connection: ConnectionConfig): { key: string; isAddress: boolean; example: string } {
  switch (connection.type) {
    case 'http': {
      const isAddress = isHttpAddress(connection.baseUrl);
      return { key: 'baseUrl', isAddress, example: 'it starts with http:// or https://' };
    }
    case 'relational':
    case 'postgresql': {
      const text = connection.connStr ?? connection.connString ?? '';
      const isAddress = /^postgres(ql)?:\/\//i.test(text) ? URL.canParse(text) : text.startsWith('/');
      return {
        key: connection.connStr === undefined ? 'connString' : 'connStr',
        isAddress,
        example: 'it is written postgres://user:password@host/database',
      };
    }
    default:
      return { key: keyOfGraph(connection), isAddress: isGraphTarget(connection), example: 'it is written host:port' };
  }
}

function keyOfGraph({ grpcTarget, connStr }: GraphConfig): string {
  if (grpcTarget !== undefined) return 'grpcTarget';
  return connStr === undefined ? 'connString' : 'connStr';
}

function isGraphTarget(connection: GraphConfig): boolean {
  try {
    graphTarget(connection);
    return true;
  } catch {
    return false;
  }
}

/** An address with a user in front of its host. */
const USER = /^[^/?#]*\/\/[^/?#]*@/;
const ESCAPED = '; what is no letter or digit in a user or a password is escaped, / as %2F, # as %23';

/** The variables that an address is made of are named, never what they hold. */
function wrongAddress(name: string, entry: ConnectionConfig, resolved: ConnectionConfig): GraphsteadError | undefined {
  const { key, isAddress, example } = addressIn(resolved);
  const textOf = (connection: ConnectionConfig) => String((connection as Readonly<Record<string, unknown>>)[key]);
  const [text, filled] = [textOf(entry), textOf(resolved)];
  // a password with a slash in it may leave an address, of another host
  if (isAddress && (!USER.test(text) || USER.test(filled))) return undefined;
  const variables = variablesIn(name, text);
  const holding = variables === '' ? '' : ` with ${variables}`;
  return new GraphsteadError('CONFIG', `the ${key} of the connection "${name}" is no address${holding}`, {
    fix: `correct ${variables || 'it'}: ${example}${filled.includes('@') ? ESCAPED : ''}`,
    details: { connection: name },
  });
}

/** Calls are relative to baseUrl, so that a query in it would go with none of them. */
function lostQuery(name: string, entry: ConnectionConfig, resolved: ConnectionConfig): GraphsteadError | undefined {
  if (entry.type !== 'http' || resolved.type !== 'http' || !/[?#]/.test(resolved.baseUrl)) return undefined;
  const variables = variablesIn(name, entry.baseUrl);
  const problem = `the baseUrl of the connection "${name}" has a query with ${variables}, which calls would lose`;
  return new GraphsteadError('CONFIG', problem, {
    fix: `leave ? and what follows out of ${variables}: it belongs to the path of each call`,
    details: { connection: name },
  });
}

/** With them every call would fail, or go without what the other side asks for. */
function wrongHeaders(name: string, entry: ConnectionConfig, resolved: ConnectionConfig): GraphsteadError[] {
  if (entry.type !== 'http' || resolved.type !== 'http') return [];
  return Object.entries(resolved.headers ?? {}).flatMap(([header, value]) => {
    // white space around it is not sent
    const sent = value.trim();
    const wrong = sent === '' ? 'is empty' : isHeaderValue(sent) ? undefined : 'holds what no header can carry';
    if (wrong === undefined) return [];
    const variables = variablesIn(name, entry.headers?.[header]);
    const holding = variables === '' ? '' : ` with ${variables}`;
    const problem = `the header ${header} of the connection "${name}" ${wrong}${holding}`;
    const fix = `correct ${variables || 'it, or leave it out'}: one line, of characters of Latin-1`;
    return [new GraphsteadError('CONFIG', problem, { fix, details: { connection: name } })];
  });
}

function variablesIn(name: string, text: unknown): string {
  return placeholdersIn(text)
    .map((placeholder) => variableName(name, placeholder))
    .join(' and ');
}

function missingVariable(
  connection: string,
  type: ConnectionConfig['type'],
  variable: string,
  misnamed: ReturnType<typeof misnamedVariables>,
): GraphsteadError {
  const other = misnamed.find(({ nearest }) => nearest === variable)?.name;
  const meant = other === undefined ? '' : `${other} is set, which no connection reads: is it the one? Else `;
  return new GraphsteadError('MISSING_VARIABLE', `the connection "${connection}" needs the variable ${variable}`, {
    fix: `${meant}set ${variable} in the environment, or in .env.dev.local for development: ${variable}=...; or mark the connection "optional": true`,
    details: { variable, connection, type },
  });
}
