import { fileURLToPath } from 'node:url';
import { type ErrorCode, GraphsteadError, packageRoot } from '../../base/index.js';
import type { WireFailure } from '../protocol.js';
import { toFailure } from '../wire-failure.js';

const OWN = ['src/', 'dist/'].map((folder) => fileURLToPath(new URL(folder, packageRoot)));
const FRAME = '    at ';
const CAUSE = 'caused by: ';
/** errors behind errors that are told */
const DEPTH = 4;
/** lines of a stack that are told: each agent that a failure goes through adds its own, and each error behind another */
const LINES = 60;
/** characters of a message that are told, and of a line */
const MESSAGE = 16 * 1024;

/** What app code threw; `fallback` is its code where it is none of our errors. Never throws. */
export function appFailure(thrown: unknown, fallback: ErrorCode): WireFailure {
  try {
    const failure = toFailure(thrown, fallback);
    const message = cut(failure.message);
    const stack = stackOrNone(thrown, failure);
    return stack === undefined ? { ...failure, message } : { ...failure, message, stack: bounded(stack) };
  } catch {
    return { message: 'what was thrown cannot be read', code: fallback };
  }
}

/** The message says more than nothing where the rest cannot be read. */
function stackOrNone(thrown: unknown, failure: WireFailure): string | undefined {
  try {
    return stackOf(thrown, failure);
  } catch {
    return failure.stack;
  }
}

/** Where app code threw or, of an error of ours, which call of it failed: behind what an agent asked by it told of itself. */
function stackOf(thrown: unknown, { stack: told }: WireFailure): string | undefined {
  const own = thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : undefined;
  if (own === undefined) return undefined;
  if (!(thrown instanceof GraphsteadError)) return [appStack(own), ...behind(thrown as Error)].join('\n');
  const { head, frames } = partsOf(own);
  const inApp = appFrames(frames);
  if (inApp.length === 0) return told;
  return [told ?? head, ...inApp].join('\n');
}

/** The errors that led to it: "fetch failed" alone helps nobody. */
function behind({ cause, errors }: Error & { errors?: unknown }, depth = 1): readonly string[] {
  if (depth > DEPTH) return [];
  const causes = [cause, ...(Array.isArray(errors) ? errors : [])].filter((one) => one instanceof Error);
  return causes.slice(0, DEPTH).flatMap((one) => [`${CAUSE}${appStack(String(one.stack))}`, ...behind(one, depth + 1)]);
}

function cut(text: string): string {
  return text.length <= MESSAGE ? text : `${text.slice(0, MESSAGE)} ...`;
}

function bounded(stack: string): string {
  return stack.split('\n').slice(0, LINES).map(cut).join('\n');
}

/** A stack without what is ours: nobody who reads it for the app's sake can do anything about those lines. */
export function appStack(stack: string): string {
  const { head, frames } = partsOf(stack);
  const inApp = appFrames(frames);
  return inApp.length === 0 ? stack : [head, ...inApp].join('\n');
}

/** A stack with the lines of the app that another one, of where the call was made, holds beside its own: those come first. */
export function withAppFrames(stack: string, call: string): string {
  const { head, frames } = partsOf(stack);
  const made = appFrames(partsOf(call).frames);
  const known = new Set(made.map(lineOf));
  return [head, ...made, ...frames.filter((frame) => !known.has(lineOf(frame)))].join('\n');
}

/** File and line: where a call is awaited its column differs. */
function lineOf(frame: string): string {
  return /(\/[^()]*:\d+):\d+\)?$/.exec(frame)?.[1] ?? frame;
}

/** None where the app has no part in it. */
function appFrames(frames: readonly string[]): readonly string[] {
  const others = frames.filter((frame) => !isOwn(frame));
  const last = others.findLastIndex((frame) => !frame.includes('node:'));
  return others.slice(0, last + 1);
}

function partsOf(stack: string): { readonly head: string; readonly frames: readonly string[] } {
  const lines = stack.split('\n');
  const first = lines.findIndex((line) => line.startsWith(FRAME));
  if (first === -1) return { head: stack, frames: [] };
  return { head: lines.slice(0, first).join('\n'), frames: lines.slice(first) };
}

/** Of this package, or of what Node.js does between two awaits. */
function isOwn(frame: string): boolean {
  return frame.includes('(node:internal/process/') || OWN.some((folder) => frame.includes(folder));
}
