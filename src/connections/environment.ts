import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from '../base/index.js';

/** Files read in development, first wins; the process environment comes before all of them. */
const ENV_FILES = ['.env.dev.local', '.env.dev', '.env.local', '.env'] as const;

/** The variables an app sees. Outside development only those of the process. */
export function readEnvironment(appDir: string, development: boolean, processEnv: Environment): Environment {
  if (!development) return processEnv;
  const merged: Record<string, string | undefined> = {};
  for (const file of [...ENV_FILES].reverse()) {
    const path = join(appDir, file);
    if (existsSync(path)) Object.assign(merged, parseEnv(readFileSync(path, 'utf8').replace(/^\uFEFF/, '')));
  }
  return { ...merged, ...processEnv };
}
