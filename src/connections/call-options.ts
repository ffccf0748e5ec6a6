import { setMaxListeners } from 'node:events';
import { givenOptions, GraphsteadError } from '../base/index.js';

/** What a caller may say of one call of a connection. */
export interface CallOptions {
  /** ends the call where it aborts, on the other side too: it fails with CONNECTION_FAILED */
  readonly signal?: AbortSignal | undefined;
}

let taskSignal: () => AbortSignal | undefined = () => undefined;

/** How calls learn what ends them beside a signal of their own; the host process says it of its tasks. */
export function endCallsBy(now: () => AbortSignal | undefined): void {
  taskSignal = now;
}

/** One signal for all that ends a call; whoever has it unlinks it, as one that is followed may live longer than many calls. */
interface Followed {
  readonly signal: AbortSignal | undefined;
  unlink(): void;
}

/** What ends a call that begins now: a signal of its own, and that of the task it is part of. */
export function followed(own: AbortSignal | null | undefined): Followed {
  const task = taskSignal();
  for (const signal of [own, task]) letMany(signal);
  if (!own || task === undefined) return { signal: own ?? task, unlink: () => undefined };
  const either = new AbortController();
  const stop = () => either.abort((own.aborted ? own : task).reason);
  const signals = [own, task];
  for (const signal of signals) signal.addEventListener('abort', stop);
  if (signals.some(({ aborted }) => aborted)) stop();
  const unlink = () => {
    for (const signal of signals) signal.removeEventListener('abort', stop);
  };
  return { signal: either.signal, unlink };
}

/** Node.js warns of a leak where one signal ends more than a few calls, and a task may make any number. */
function letMany(signal: AbortSignal | null | undefined): void {
  if (signal instanceof AbortSignal) setMaxListeners(0, signal);
}

/** Options of a call as JavaScript callers give them. Throws INVALID_VALUE. */
export function callOptions<T extends { readonly signal?: AbortSignal | null | undefined }>(
  call: string,
  options: T | null | undefined,
): Partial<T> {
  const given = givenOptions(call, options, '{ signal: AbortSignal.timeout(500) }');
  const { signal } = given;
  if (signal === undefined || signal === null || isSignal(signal)) return given;
  throw new GraphsteadError('INVALID_VALUE', `the signal of ${call} is no AbortSignal`, {
    fix: 'give caller.signal, AbortSignal.timeout(ms) or the signal of an AbortController',
  });
}

/** A polyfill's is one too. */
function isSignal({ aborted, addEventListener }: Partial<AbortSignal>): boolean {
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

/** Runs `call` under what ends it. Throws INVALID_VALUE for options that are none. */
export async function underWay<T>(
  call: string,
  options: CallOptions | null | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const { signal: own } = callOptions(call, options);
  const { signal, unlink } = followed(own);
  try {
    return await work(signal);
  } finally {
    unlink();
  }
}

/** What `work` gives; where the signal aborts first, or has aborted, what `told` makes of its reason is thrown. */
export async function until<T>(
  signal: AbortSignal | undefined,
  told: (reason: unknown) => unknown,
  work: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw told(signal.reason);
  let stop: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(told(signal.reason));
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work(), ended]);
  } finally {
    // a signal may live longer than the many calls it is handed to
    signal.removeEventListener('abort', stop);
  }
}
