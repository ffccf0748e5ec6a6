import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dgraphNames, GraphsteadErrors } from '../../base/index.js';
import { readEnvironment } from '../../connections/index.js';
import { readModel } from '../../sdl/index.js';
import { bad, type Finding, good } from './finding.js';

/** The variables that secrets of an app's type definitions need; nothing where it has none. */
export function checkSecrets(appDir: string): readonly Finding[] {
  const path = join(appDir, 'schema.graphql');
  if (!existsSync(path)) return [];
  const environment = readEnvironment(appDir, true, process.env);
  try {
    // with Dgraph's names both spellings of a declaration are read
    const { errors, model } = readModel(readFileSync(path, 'utf8'), { names: dgraphNames, variables: { environment } });
    const missing = errors.filter(({ code }) => code === 'MISSING_VARIABLE');
    if (missing.length > 0) return missing.map(({ message, fix }) => bad('secrets', message, fix));
    return model && model.secrets.size > 0 ? [good('secrets', `${model.secrets.size} secret(s)`)] : [];
  } catch (error) {
    // what is wrong with the definitions themselves is told where they are loaded
    if (error instanceof GraphsteadErrors) return [];
    throw error;
  }
}
