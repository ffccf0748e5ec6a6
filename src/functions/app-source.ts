import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GraphsteadError, packageRoot } from '../base/index.js';

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

/** Code that nobody reads: no .ts file, so that it gives no operations, and imported by none of `files`, which went into the app. */
export function passedOver(appDir: string, files: readonly string[]): readonly string[] {
  if (ENTRIES.some((name) => existsSync(join(appDir, name)))) return [];
  const read = new Set(files);
  const code = ['functions', 'agents'].flatMap((folder) => filesIn(join(appDir, folder), OTHER_CODE));
  return code.filter((file) => !read.has(realpathSync(file))).map((file) => shownPath(appDir, file));
}

const OWN = ['src', 'dist'].map((name) => fileURLToPath(new URL(`${name}/`, packageRoot)));

/** Folders of files that lie outside the app, and are none of this package. */
export function foldersOutside(appDir: string, files: readonly string[]): readonly string[] {
  const app = realpathSync(appDir);
  const others = files.filter((file) => !OWN.some((own) => file.startsWith(own)));
  return [...new Set(others.map((file) => dirname(file)))].filter((folder) => {
    const path = relative(app, folder);
    return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  });
}

const OTHER_CODE = /\.([cm]?js|[cm]ts|[jt]sx)$/;

function sourcesIn(dir: string): string[] {
  return filesIn(dir, /\.ts$/);
}

function filesIn(dir: string, kind: RegExp): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name) && !/\.(test|spec|d)\.[^.]+$/.test(name))
    .map((name) => join(dir, name))
    .sort();
}

/** A path as messages show it. */
export function shownPath(appDir: string, file: string): string {
  const path = relative(appDir, file);
  return path.startsWith('..') ? file : path.replaceAll('\\', '/');
}
