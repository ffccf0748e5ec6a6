// Runs the real command as a child process, in a temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const bin = fileURLToPath(new URL('../../bin/graphstead.js', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

function start(args: readonly string[], { cwd, environment }: RunOptions): ChildProcess {
  const env = { ...process.env, NO_COLOR: '1', ...environment };
  return spawn(process.execPath, [bin, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs a command to its end. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = start(args, options);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stdout, stderr };
}

/** The JSON that a command with --json answers; fails with what it said otherwise. */
export async function runJson(args: readonly string[], options: RunOptions = {}): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run([...args, '--json'], options);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

export interface Running {
  readonly url: string;
  query(text: string): Promise<Record<string, unknown>>;
  graphql(query: string, variables?: unknown): Promise<Record<string, unknown>>;
  /** resolves with all of standard error once the pattern stands in it */
  said(pattern: RegExp): Promise<string>;
  /** all of standard output since it was ready */
  logged(): string;
  /** its exit code */
  readonly ended: Promise<number | null>;
  /** stops it and gives its exit code */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `graphstead start` (or `dev`) on free ports, ready to answer. */
export async function serve(
  args: readonly string[],
  options: RunOptions = {},
  mode: 'start' | 'dev' = 'start',
): Promise<Running> {
  const child = start([mode, '--port', '0', '--grpc-port', '0', '--json', ...args], options);
  let stderr = '';
  const heard = new Set<() => void>();
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
    for (const one of heard) one();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ready = (async () => {
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      if (line.startsWith('{"url"')) return (JSON.parse(line) as { url: string }).url;
    }
    throw new Error(`the service did not start: ${stderr}`);
  })();
  const url = await ready;
  let stdout = '';
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  const post = async (path: string, type: string, body: string) => {
    const response = await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body });
    return (await response.json()) as Record<string, unknown>;
  };
  return {
    url,
    query: (text) => post('/query', 'application/dql', text),
    graphql: (query, variables) => post('/graphql', 'application/json', JSON.stringify({ query, variables })),
    said: (pattern) =>
      new Promise((resolve) => {
        const look = () => {
          if (!pattern.test(stderr)) return;
          heard.delete(look);
          resolve(stderr);
        };
        heard.add(look);
        look();
      }),
    logged: () => stdout,
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

/** A folder that is gone after `remove`. */
export function scratch(): { readonly dir: string; path(...names: string[]): string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'graphstead-cli-'));
  return {
    dir,
    path: (...names) => join(dir, ...names),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
