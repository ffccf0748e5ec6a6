import type { Trace } from '../../base/index.js';
import type { CallRecord } from '../../connections/host.js';
import type { HostLog } from '../info.js';
import type { EventEffect } from '../protocol.js';
import type { HostTask } from './task.js';

/** What a task asks of the service, and what it calls outside, goes on inside the step that runs now. */
export function tracedTask(trace: Trace, task: HostTask): HostTask {
  return trace.on ? new TracedTask(trace, task) : task;
}

class TracedTask implements HostTask {
  readonly rpc: HostTask['rpc'];
  readonly used: NonNullable<HostTask['used']>;

  constructor(
    readonly trace: Trace,
    readonly task: HostTask,
  ) {
    this.rpc = trace.inside((rpc) => task.rpc(rpc));
    this.used = trace.inside((record: CallRecord) => this.#called(record));
  }

  get label(): HostTask['label'] {
    return this.task.label;
  }

  get wallMs(): number {
    return this.task.wallMs;
  }

  get timeoutCode(): HostTask['timeoutCode'] {
    return this.task.timeoutCode;
  }

  get failureCode(): HostTask['failureCode'] {
    return this.task.failureCode;
  }

  get calls(): HostTask['calls'] {
    return this.task.calls;
  }

  get signal(): HostTask['signal'] {
    return this.task.signal;
  }

  live(event: EventEffect): void {
    this.task.live?.(event);
  }

  log(entry: HostLog): void {
    this.task.log?.(entry);
  }

  ended(): void {
    this.task.ended?.();
  }

  #called({ kind, connection, what, startedAt, ms, ok, model }: CallRecord): void {
    const facts = {
      'graphstead.connection': connection,
      ...(kind === 'model' ? { 'gen_ai.request.model': what } : {}),
      ...(model
        ? { 'gen_ai.usage.input_tokens': model.inputTokens, 'gen_ai.usage.output_tokens': model.outputTokens }
        : {}),
    };
    const failure = ok ? {} : { failure: kind === 'model' ? 'MODEL_FAILED' : 'CONNECTION_FAILED' };
    const name = `${kind} ${kind === 'model' ? what : connection}`;
    this.trace.ended(name, { kind: 'client', facts, startedAt, ms, ...failure });
  }
}

/** For the task of a host process; nothing when nobody traces. */
export function traceOf(trace: Trace): { readonly trace?: Readonly<Record<string, string>> } {
  return trace.on ? { trace: trace.headers() } : {};
}
