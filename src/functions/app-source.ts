import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { GraphsteadError } from '../base/index.js';

/** Where an app's code begins. */
export interface AppSource {
  readonly appDir: string;
  /** files whose exported functions become operations */
  readonly functions: readonly string[];
  /** files that are loaded for what they register */
  readonly agents: readonly string[];
}

const ENTRIES = ['index.ts', 'src/index.ts'];

/**
 * `index.ts` or `src/index.ts` when there is one: what it exports counts. Otherwise all .ts files of `functions/`, and
 * those of `agents/`, which only register. Throws APP_LOAD when there is neither.
 */
export function findSource(appDir: string): AppSource {
  const entry = ENTRIES.map((name) => join(appDir, name)).find((path) => existsSync(path));
  if (entry !== undefined) return { appDir, functions: [entry], agents: [] };
  const functions = sourcesIn(join(appDir, 'functions'));
  const agents = sourcesIn(join(appDir, 'agents'));
  if (functions.length + agents.length > 0) return { appDir, functions, agents };
  throw new GraphsteadError('APP_LOAD', `${appDir} holds no app`, {
    fix: 'write index.ts, src/index.ts, or files in functions/ and agents/',
  });
}

/** Whether the folder holds code at all; an app may consist of type definitions and app.json only. */
export function hasSource(appDir: string): boolean {
  try {
    findSource(appDir);
    return true;
  } catch {
    return false;
  }
}

function sourcesIn(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(test|spec|d)\.ts$/.test(name))
    .map((name) => join(dir, name))
    .sort();
}

/** A path as messages show it. */
export function shownPath(appDir: string, file: string): string {
  const path = relative(appDir, file);
  return path.startsWith('..') ? file : path.replaceAll('\\', '/');
}
