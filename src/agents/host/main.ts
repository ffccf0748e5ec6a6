import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiled, UnderWay } from '../../base/index.js';
import type { CallRecord } from '../../connections/host.js';
import type { ToHost, WireFailure } from '../protocol.js';
import { failureText, fromFailure } from '../wire-failure.js';
import { appFailure } from './app-failure.js';
import { endStream, leaveStream, offer, pull, startCall } from './call.js';
import { useConnections } from './connections.js';
import { captureConsole } from './console.js';
import { flush, limitMessages, openLink, tell } from './link.js';
import { handling, loading, unmarked } from './marker.js';
import { endWithParent } from './orphan.js';
import { guards, limitHistory, registered } from './registry.js';
import { answered, currentTask, keepPlaces, limitEvents, type Task } from './task.js';
import { followTestClock } from './test-clock.js';
import { discard, evict, limitStates, startTurn } from './turn.js';
import { limitEffects } from './turn-scope.js';

// The program of a host process: it runs an app's code and holds no store. Whatever happens here, the main process
// goes on; when that is gone, there is nothing left to do.

const tasks = new UnderWay<Task>();

/** It loads before an app is there that needs it. */
const shared: Promise<unknown> = import(compiled('app').href);
shared.catch(() => undefined);

function follow(id: number, task: Task): void {
  tasks.set(id, task);
  task.onEnd = () => tasks.take(id);
}

function drop(id: number, reason: string): void {
  const task = tasks.get(id);
  unmarked();
  void endStream(id);
  if (task === undefined) return;
  if (task.turn !== undefined && !task.turn.readOnly) discard(task.turn.agentId);
  task.giveUp(reason);
}

async function load(message: Extract<ToHost, { k: 'load' }>): Promise<void> {
  const { stateBytes, eventBytes, messageBytes, replyBytes, history } = message.limits;
  limitStates(stateBytes);
  limitHistory(history);
  limitEvents(eventBytes);
  limitMessages(messageBytes);
  limitEffects(messageBytes);
  keepPlaces(message.app.stacks === true);
  useEnvironment(message.environment);
  try {
    const used = (record: CallRecord) => tell({ k: 'used', id: currentTask()?.id, record });
    await useConnections(message.app.connections, replyBytes, used);
    // Bundles find "graphstead/app" here: one copy of it, wherever the app lies.
    Object.assign(globalThis, {
      [Symbol.for('graphstead.app')]: await shared,
      [Symbol.for('graphstead.next')]: loading,
    });
    const bundle = (await import(pathToFileURL(message.app.bundle).href)) as { default?: Record<string, unknown> };
    loading('');
    const exported = new Map<string, (...args: readonly unknown[]) => unknown>();
    for (const [name, value] of Object.entries(bundle.default ?? {})) {
      if (typeof value === 'function') exported.set(name, value as (...args: readonly unknown[]) => unknown);
    }
    offer(new Map([...exported, ...guards()]));
    tell({ k: 'loaded', types: registered() });
  } catch (error) {
    const failure = appFailure(error, 'APP_LOAD');
    const fix = [failure.fix, adviceFor(failure, message.app.bundle)].filter((one) => one !== undefined).join('; ');
    tell({ k: 'refused', error: { ...failure, ...(fix === '' ? {} : { fix }) } });
  }
}

/** It may have been edited since this process started, which waited for its app. */
function useEnvironment(environment: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}

const BESIDE =
  'all code of an app is one file, and import.meta.url is its place: import the file (.json, .txt), or read it below process.cwd(), the folder of the app';

/** What to look at when an app's own modules do not load. */
function adviceFor({ message, stack = '' }: WireFailure, bundle: string): string | undefined {
  const missing = /^Cannot find package '([^']+)'/.exec(message)?.[1];
  if (missing !== undefined) return `install it in the app's folder: npm install ${missing}`;
  const place = /^\s+at (?:.*\()?(?:file:\/\/)?(\/[^()]+:\d+:\d+)\)?$/m.exec(stack)?.[1];
  const thrown = place === undefined ? undefined : `it was thrown while the app loaded, at ${place}`;
  const beside = message.startsWith('ENOENT') && message.includes(dirname(bundle)) ? BESIDE : undefined;
  return [thrown, beside].filter((one) => one !== undefined).join('; ') || undefined;
}

/** What nobody catches, often behind the end of what set it off. */
function loose(what: string, error: unknown): void {
  console.error(
    `${what}${placeOf(currentTask())}: ${failureText(fromFailure(appFailure(error, 'INTERNAL'), 'INTERNAL'))}`,
  );
}

function placeOf(task: Task | undefined): string {
  if (task?.called !== undefined) return ` in the function "${task.called}"`;
  const turn = task?.turn;
  return turn === undefined ? '' : ` in "${turn.message?.name ?? 'a hook'}" of agent ${turn.agentId}`;
}

function receive(message: ToHost): void {
  switch (message.k) {
    case 'turn':
      follow(message.id, startTurn(message.id, message.task));
      return;
    case 'call':
      follow(message.id, startCall(message.id, message.task));
      return;
    case 'reply':
      answered(message.rpc, message.ok, message.value, message.error);
      return;
    case 'pull':
      pull(message.id);
      return;
    case 'leave':
      void leaveStream(message.id);
      return;
    case 'drop':
      drop(message.id, message.reason);
      return;
    case 'evict':
      evict(message.agentId);
      return;
    case 'ping':
      tell({ k: 'pong', n: message.n });
      return;
    case 'load':
      void load(message);
  }
}

/** Messages that may run app code. */
function work(batch: readonly ToHost[]): number {
  return batch.reduce((sum, { k }) => (k === 'ping' ? sum : sum + 1), 0);
}

followTestClock();
captureConsole();
endWithParent();
openLink(
  (batch) =>
    handling(work(batch), () => {
      for (const message of batch) receive(message);
    }),
  (rpc, error) => answered(rpc, false, undefined, error),
  () => process.exit(0),
);
// A promise nobody awaits must not end the others' turns.
process.on('unhandledRejection', (error) => loose('unhandled rejection', error));
process.on('uncaughtException', (error) => loose('uncaught exception', error));
// A terminal's interrupt and end and systemd's stop go to the whole group; the main process decides when its hosts end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('exit', flush);
