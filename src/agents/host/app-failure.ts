import { fileURLToPath } from 'node:url';
import { type ErrorCode, packageRoot } from '../../base/index.js';
import type { WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';

const OWN = ['src/', 'dist/'].map((folder) => fileURLToPath(new URL(folder, packageRoot)));

/** What app code threw; `fallback` is its code where it is none of our errors. */
export function appFailure(thrown: unknown, fallback: ErrorCode): WireFailure {
  const failure = toFailure(thrown, fallback);
  return failure.stack === undefined ? failure : { ...failure, stack: appStack(failure.stack) };
}

/** A stack without what called the app: nobody who reads it for the app's sake can do anything about those lines. */
export function appStack(stack: string): string {
  const lines = stack.split('\n');
  const last = lines.findLastIndex((line) => line.startsWith('    at ') && !isOwn(line));
  return last === -1 ? stack : lines.slice(0, last + 1).join('\n');
}

function isOwn(line: string): boolean {
  return line.includes('node:') || OWN.some((folder) => line.includes(folder));
}
