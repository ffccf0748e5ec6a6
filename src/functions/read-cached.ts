import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { compiled, type ErrorCode, GraphsteadError, GraphsteadErrors, type Position } from '../base/index.js';
import type { AppSource } from './app-source.js';
import type { AppManifest } from './contract.js';
import type { Reading } from './read/read-operations.js';

/** What the reading thread sends back. */
export interface WorkerAnswer {
  readonly reading?: Reading;
  readonly errors?: readonly {
    readonly code: ErrorCode;
    readonly message: string;
    readonly position?: Position;
    readonly fix?: string;
  }[];
}

interface Cached {
  /** of the entry files' paths: another set of them is another reading */
  readonly entries: string;
  /** path -> hash of its content */
  readonly files: Readonly<Record<string, string>>;
  readonly manifest: AppManifest;
}

/**
 * The app's operations: from the cache while no file that the types depend on has changed, else read anew in a thread of
 * its own. Throws GraphsteadErrors (SYNTAX, FUNCTION_TYPE).
 */
export async function readCached(source: AppSource, cacheDir: string): Promise<AppManifest> {
  const path = join(cacheDir, 'types.json');
  const known = load(path);
  if (known !== undefined && isCurrent(known, source)) return known.manifest;
  const { manifest, files } = await readInThread(source);
  const hashes = Object.fromEntries(files.map((file) => [file, hashOf(file) ?? '']));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ entries: entriesOf(source), files: hashes, manifest } satisfies Cached));
  return manifest;
}

function load(path: string): Cached | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Cached;
  } catch {
    return undefined;
  }
}

function isCurrent(known: Cached, source: AppSource): boolean {
  if (known.manifest?.format !== 1 || known.entries !== entriesOf(source)) return false;
  return Object.entries(known.files).every(([file, hash]) => hashOf(file) === hash);
}

/** The program that reads is part of the reading: another version of it may read differently. */
function entriesOf(source: AppSource): string {
  return [hashOf(WORKER) ?? '', ...source.functions].join('\n');
}

function hashOf(file: string | URL): string | undefined {
  if (!existsSync(file)) return undefined;
  return createHash('sha256').update(readFileSync(file)).digest('base64url');
}

const WORKER = compiled('functions/read/worker');

async function readInThread(source: AppSource): Promise<Reading> {
  const answer = await new Promise<WorkerAnswer>((resolve, reject) => {
    const worker = new Worker(WORKER, { workerData: source });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new GraphsteadError('INTERNAL', 'the reading of types ended without an answer')));
  });
  if (answer.reading !== undefined) return answer.reading;
  const errors = (answer.errors ?? []).map(({ code, message, position, fix }) => {
    return new GraphsteadError(code, message, { position, fix });
  });
  throw new GraphsteadErrors(errors);
}
