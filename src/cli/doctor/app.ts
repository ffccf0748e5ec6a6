import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, GraphsteadError, GraphsteadErrors } from '../../base/index.js';
import {
  type AppConfig,
  type ConnectionReport,
  notSet,
  reach,
  readConfig,
  readEnvironment,
  reportConnections,
} from '../../connections/index.js';
import { bad, type Finding, good, warning } from './finding.js';

/** app.json, the variables that its connections need, and whether their addresses take a connection. */
export async function checkApp(appDir: string): Promise<readonly Finding[]> {
  if (!existsSync(appDir)) return [bad('app', `${appDir} is no folder`, 'name the folder of an app')];
  const path = join(appDir, 'app.json');
  if (!existsSync(path)) return [];
  let config: AppConfig;
  try {
    config = readConfig(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map((one) => bad('app.json', one.message, one.fix));
  }
  const environment = readEnvironment(appDir, true, process.env);
  const { connections, models } = reportConnections(config, environment);
  const found = await Promise.all(connections.map((connection) => checkConnection(connection, config, environment)));
  return [good('app.json', `${connections.length} connection(s), ${models.length} model(s)`), ...found];
}

async function checkConnection(
  { name, optional, variables, address }: ConnectionReport,
  config: AppConfig,
  environment: Environment,
): Promise<Finding> {
  const check = `connection ${name}`;
  const missing = variables.filter((variable) => !variable.set).map((variable) => variable.name);
  if (missing.length > 0) {
    const fix = `set ${missing.join(' and ')} in the environment, or in .env.dev.local for development`;
    const found = optional ? warning : bad;
    return found(check, `${notSet(missing)}${optional ? '; the connection is left out' : ''}`, fix);
  }
  const { reachable, ms, reason } = await reach(name, config, environment);
  if (reachable) return good(check, `${address} answers in ${Math.round(ms)} ms`);
  return warning(check, reason ?? 'it does not answer', 'start what it names, or correct the address');
}

/** What a mistake of ours or of the store comes to. */
export function findingOf(check: string, error: unknown): Finding {
  if (error instanceof GraphsteadError) return bad(check, `${error.code}: ${error.message}`, error.fix);
  return bad(check, error instanceof Error ? error.message : String(error));
}
