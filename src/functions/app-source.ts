import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
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

/** What to say of code that nobody reads, a line each. `files`: what went into the app, whatever its kind. */
export function passedOver(appDir: string, files: readonly string[]): readonly string[] {
  if (ENTRIES.some((name) => existsSync(join(appDir, name)))) return [];
  const read = new Set(files);
  const code = ['functions', 'agents'].flatMap((folder) => filesIn(join(appDir, folder), OTHER_CODE));
  const unread = code.filter((file) => !read.has(realpathSync(file)));
  const stray = hasSource(appDir) ? [] : strayCode(appDir);
  const told = (why: string) => (file: string) => `${shownPath(appDir, file)} is not read: ${why}`;
  return [...unread.map(told(LANGUAGE)), ...stray.map(told(PLACES))];
}

const LANGUAGE = 'functions and agents are .ts files, as operations are typed from TypeScript (rename it)';
const PLACES =
  'an app is what index.ts or src/index.ts exports, or the files of functions/ and agents/ (rename it, or move it there)';

/** Files of an app without an entry that look like its functions or agents. */
function strayCode(appDir: string): readonly string[] {
  const near = [appDir, join(appDir, 'src')].flatMap((dir) => filesIn(dir, CODE, false));
  return near.filter((file) => EXPORTS.test(readFileSync(file, 'utf8')));
}

const OWN = ['src', 'dist'].map((name) => fileURLToPath(new URL(`${name}/`, packageRoot)));

/** Whether a file is this package's, which an app in a clone of it imports as source. */
export function isOwnFile(file: string): boolean {
  return OWN.some((folder) => file.startsWith(folder));
}

/** Folders of files that lie outside the app, and are none of this package. */
export function foldersOutside(appDir: string, files: readonly string[]): readonly string[] {
  const app = realpathSync(appDir);
  const others = files.filter((file) => !isOwnFile(file));
  return [...new Set(others.map((file) => dirname(file)))].filter((folder) => {
    const path = relative(app, folder);
    return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  });
}

const OTHER_CODE = /\.([cm]?js|[cm]ts|[jt]sx)$/;
const CODE = /\.[jt]s$/;
const EXPORTS = /^export (async )?(function|class) |['"]graphstead\/app['"]/m;

function sourcesIn(dir: string): string[] {
  return filesIn(dir, /\.ts$/);
}

function filesIn(dir: string, kind: RegExp, recursive = true): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive, encoding: 'utf8' })
    .filter((name) => kind.test(name) && !/\.(test|spec|d)\.[^.]+$/.test(name))
    .map((name) => join(dir, name))
    .sort();
}

/** A path as messages show it. */
/** What to do about code that its own parser refuses: the message is the parser's, and names what it met. */
export const CORRECT_CODE = 'correct the code at this place';

export function shownPath(appDir: string, file: string): string {
  const path = relative(appDir, file);
  return path.startsWith('..') ? file : path.replaceAll('\\', '/');
}
