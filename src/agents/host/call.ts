import { GraphsteadError, internal } from '../../base/index.js';
import type { CallTask } from '../protocol.js';
import { appFailure } from './app-failure.js';
import { tell } from './link.js';
import { marked } from './marker.js';
import { Task, within } from './task.js';
import { failureText, fromFailure } from '../wire-failure.js';

type Exported = (...args: readonly unknown[]) => unknown;

let functions = new Map<string, Exported>();
const streams = new Map<number, Stream>();

interface Stream {
  readonly task: Task;
  readonly name: string;
  readonly iterator: AsyncIterator<unknown>;
}

/** The functions that a bundle exports, by name. */
export function offer(exported: ReadonlyMap<string, Exported>): void {
  functions = new Map(exported);
}

/** Calls an exported function and reports what it gives, or that its stream is ready to be pulled. */
export function startCall(id: number, call: CallTask): Task {
  const task = new Task(id, call.requestId, undefined, call.journal, call.trace, { claims: call.claims }, call.name);
  const running = marked(id, () => within(task, () => run(call)));
  running.then(
    (value) => {
      if (task.ended !== undefined) return;
      if (call.stream === true) {
        streams.set(id, { task, name: call.name, iterator: value as AsyncIterator<unknown> });
        tell({ k: 'called', id });
        return;
      }
      task.end('the function had returned');
      tell({ k: 'called', id, value }, value);
    },
    (error: unknown) => fail(id, task, error),
  );
  return task;
}

/** The next item of a stream. */
export function pull(id: number): void {
  const stream = streams.get(id);
  if (stream === undefined) return;
  const isLeft = () => streams.get(id) !== stream;
  const next = marked(id, () => within(stream.task, () => stream.iterator.next()));
  next.then(
    ({ value, done }) => {
      if (isLeft()) return;
      if (done === true) streams.delete(id);
      if (done === true) stream.task.end('the stream had ended');
      tell({ k: 'called', id, value, done: done === true }, value);
    },
    (error: unknown) => {
      // mostly that its reader left
      if (isLeft()) return within(stream.task, () => console.debug(failed(stream, error)));
      streams.delete(id);
      fail(id, stream.task, error);
    },
  );
}

/** Nobody reads the stream any more: its `finally` blocks run, as part of it. */
export async function leaveStream(id: number): Promise<void> {
  const stream = streams.get(id);
  stream?.task.leave(LEFT);
  await endStream(id);
  stream?.task.giveUp(LEFT);
  tell({ k: 'called', id, done: true });
}

/** Resolves when its code has ended; what it throws is told in the log. */
export async function endStream(id: number): Promise<void> {
  const stream = streams.get(id);
  streams.delete(id);
  if (stream === undefined) return;
  const end = async () => {
    try {
      await stream.iterator.return?.();
    } catch (error) {
      console.error(failed(stream, error));
    }
  };
  await marked(id, () => within(stream.task, end));
}

const LEFT = 'the subscriber left';

function failed({ name }: Stream, error: unknown): string {
  const failure = fromFailure(appFailure(error, 'FUNCTION_FAILED'), 'FUNCTION_FAILED');
  return `${name} failed when its reader had left: ${failureText(failure)}`;
}

async function run(call: CallTask): Promise<unknown> {
  const exported = functions.get(call.name);
  if (exported === undefined) throw internal(`the app exports no function "${call.name}"`);
  const result: unknown = await exported(...call.args);
  return call.stream === true ? iteratorOf(call.name, result) : result;
}

function iteratorOf(name: string, result: unknown): AsyncIterator<unknown> {
  const open = (result as AsyncIterable<unknown> | null | undefined)?.[Symbol.asyncIterator];
  if (typeof open === 'function') return open.call(result);
  throw new GraphsteadError('FUNCTION_FAILED', `${name} gave no AsyncIterable`, { fix: 'write it as async function*' });
}

function fail(id: number, task: Task, error: unknown): void {
  if (task.ended !== undefined) return;
  task.end('the function had failed');
  tell({ k: 'failed', id, error: appFailure(error, 'FUNCTION_FAILED') });
}
