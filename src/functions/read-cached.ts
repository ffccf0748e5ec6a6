import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AppSource } from './app-source.js';
import type { AppManifest } from './contract.js';
import { hashOfText } from './read/text-hash.js';
import type { Reading } from './read/read-operations.js';
import { READER } from './reading-thread.js';

interface Cached {
  /** hash of all that a reading depends on beside the app's own files */
  readonly about: string;
  /** path -> hash of its content */
  readonly files: Readonly<Record<string, string>>;
  readonly manifest: AppManifest;
}

/** They decide what an import means: another path, another version of a package. */
const RESOLUTION = ['tsconfig.json', 'package.json', 'package-lock.json', 'node_modules/.package-lock.json'];

/** An app's operations, and the files of its own that they are typed from. */
export interface ReadApp {
  readonly manifest: AppManifest;
  readonly files: readonly string[];
}

/**
 * The app's operations: from the cache while no content that the types depend on has changed, else read anew.
 * Throws what `read` throws: GraphsteadErrors (SYNTAX, FUNCTION_TYPE).
 */
export async function readCached(
  source: AppSource,
  cacheDir: string,
  read: (source: AppSource) => Promise<Reading>,
): Promise<ReadApp> {
  const path = join(cacheDir, 'types.json');
  const about = aboutOf(source);
  const known = load(path);
  if (known !== undefined && isCurrent(known, about))
    return { manifest: known.manifest, files: Object.keys(known.files) };
  const { manifest, files } = await read(source);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ about, files, manifest } satisfies Cached));
  return { manifest, files: Object.keys(files) };
}

function load(path: string): Cached | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Cached;
  } catch {
    return undefined;
  }
}

function isCurrent(known: Cached, about: string): boolean {
  if (known.manifest?.format !== 1 || known.about !== about) return false;
  return Object.entries(known.files).every(([file, hash]) => hashOf(file) === hash);
}

/** The program that reads is part of the reading: another version of it may read differently. */
function aboutOf({ appDir, functions, agents }: AppSource): string {
  const parts = [READER, ...RESOLUTION.map((name) => join(appDir, name))].map(hashOf);
  return hashOfText([...parts, ...functions, ...agents].join('\n'));
}

function hashOf(file: string | URL): string {
  return existsSync(file) ? hashOfText(readFileSync(file, 'utf8')) : 'absent';
}
