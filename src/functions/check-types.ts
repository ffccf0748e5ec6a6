import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled, GraphsteadError, internal } from '../base/index.js';
import type { AppSource } from './app-source.js';
import type { SourceCheck } from './check/check-source.js';
import type { CheckedTypes } from './contract.js';

interface CheckOptions {
  readonly cacheDir: string;
  /** the check yields to everything else on the machine */
  readonly background?: boolean;
  /** ends the check; it then rejects with the signal's reason */
  readonly signal?: AbortSignal;
}

/** A check that found nothing, kept until one of its files changes. */
interface Clean {
  readonly about: string;
  readonly files: Readonly<Record<string, string>>;
}

const HEAP_MB = 4_096;
const CHILD = fileURLToPath(compiled('functions/check/child'));

const FIX = 'correct it, or build in spite of it with --no-type-check';

/** Checks an app's TypeScript in a process of its own; at once where nothing changed since a check that found nothing. */
export async function checkTypes(source: AppSource, options: CheckOptions): Promise<CheckedTypes> {
  const path = join(options.cacheDir, 'checked.json');
  const about = aboutOf(source);
  if (isClean(path, about)) return { mistakes: [] };
  const { mistakes, unchecked, files } = await checkInChild(source, options);
  if (unchecked !== undefined) return { mistakes: [], unchecked };
  if (mistakes.length > 0) rmSync(path, { force: true });
  else {
    const hashes = Object.fromEntries(files.map((file) => [file, hashOf(file)]));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify({ about, files: hashes } satisfies Clean));
  }
  return {
    mistakes: mistakes.map(({ message, position }) => new GraphsteadError('TYPE', message, { position, fix: FIX })),
  };
}

function checkInChild(source: AppSource, { background, signal }: CheckOptions): Promise<SourceCheck> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [JSON.stringify(source)], {
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const end = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', end);
    child.once('message', (answer) => resolve(answer as SourceCheck));
    child.once('error', reject);
    child.once('exit', (code) => {
      signal?.removeEventListener('abort', end);
      reject(signal?.aborted ? signal.reason : internal(`the check of types ended with ${code}`));
    });
    if (signal?.aborted) end();
    if (background === true && child.pid !== undefined) yieldToOthers(child.pid);
  });
}

function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // it has ended, or the system does not let us: the check is right all the same
  }
}

/** What a result is about besides the app's own files: entries, the checking program, installed packages. */
function aboutOf(source: AppSource): string {
  const { appDir, functions, agents } = source;
  const packages = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json', 'tsconfig.json'];
  const parts = [...functions, ...agents, hashOf(CHILD), ...packages.map((name) => hashOf(join(appDir, name)))];
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}

function isClean(path: string, about: string): boolean {
  try {
    const known = JSON.parse(readFileSync(path, 'utf8')) as Clean;
    return known.about === about && Object.entries(known.files).every(([file, hash]) => hashOf(file) === hash);
  } catch {
    return false; // never checked, or nothing that this version wrote
  }
}

function hashOf(file: string): string {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('base64url');
  } catch {
    return 'absent';
  }
}
