import { GraphsteadError } from '../base/index.js';
import type { CallRecord, ModelUse } from './info.js';

type CallListener = (record: CallRecord) => void;

let listener: CallListener | undefined;

/** The host process forwards records to the service; a test may listen. */
export function onCall(next: CallListener | undefined): void {
  listener = next;
}

let headersNow: () => Readonly<Record<string, string>> = () => ({});

/** How the calls of connections with `traceContext` learn what they belong to; the host process says it of its tasks. */
export function traceHeaders(now: () => Readonly<Record<string, string>>): void {
  headersNow = now;
}

/** Headers of W3C Trace Context for a call that is made now; none when nothing is traced. */
export function currentTraceHeaders(): Readonly<Record<string, string>> {
  return headersNow();
}

type Call = Pick<CallRecord, 'connection' | 'kind' | 'what'>;
type Note = (use: ModelUse) => void;

/** Times `work` and tells the listener how it went. */
export async function recorded<T>(call: Call, work: (note: Note) => Promise<T>): Promise<T> {
  const { note, finish } = begun(call);
  try {
    const result = await work(note);
    finish();
    return result;
  } catch (error) {
    finish(error);
    throw thrownHere(error);
  }
}

/** The same for work that gives piece after piece; a reader who stops early ends it well. */
export async function* recordedStream<T>(call: Call, work: (note: Note) => AsyncIterable<T>): AsyncIterable<T> {
  const { note, finish } = begun(call);
  let failure: unknown;
  try {
    yield* work(note);
  } catch (error) {
    failure = error;
    throw thrownHere(error);
  } finally {
    finish(failure);
  }
}

/** An error of ours with a stack of those who wait here, app code among them: it may come from a timer or a socket. */
function thrownHere(error: unknown): unknown {
  if (error instanceof GraphsteadError) Error.captureStackTrace(error);
  return error;
}

function begun(call: Call): { readonly note: Note; finish(error?: unknown): void } {
  const startedAt = Date.now();
  const from = performance.now();
  let model: ModelUse | undefined;
  return {
    note: (use) => {
      model = use;
    },
    finish: (error) =>
      listener?.({
        ...call,
        startedAt,
        ms: performance.now() - from,
        ok: error === undefined,
        ...(error === undefined ? {} : { error: error instanceof Error ? error.message : String(error) }),
        ...(model ? { model } : {}),
      }),
  };
}
