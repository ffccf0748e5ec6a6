import type { StepOptions, Trace } from '../base/index.js';
import type { CallRecord } from '../connections/host.js';
import type { Activation, Job } from './activation.js';
import type { TaskOptions } from './host-process.js';

// Turns and calls of functions as those who trace the service hear of them: names, never data.

/**
 * A turn belongs to the commit that brought its message, or to whoever waits for its reply: an agent in a turn of its own, else a
 * request. What stands around it means nothing, since the turn before may have begun it. Alarms begin a trace of their own.
 */
export function turnStep({ id, head }: Activation, job: Job): StepOptions {
  const { kind, name, create, stored, from, requestId, attempts } = job;
  const causes = stored ? [`commit:${stored.ts}`] : from !== '' ? [`agent:${from}`] : [`request:${requestId}`];
  const facts = {
    'graphstead.agent.id': id,
    'graphstead.agent.type': head?.type ?? create ?? '',
    'graphstead.turn.kind': kind,
    'graphstead.turn.message': name.slice(0, 100),
    'graphstead.turn.attempt': attempts + 1,
    'graphstead.request.id': requestId,
  };
  return { facts, causes, key: `agent:${id}` };
}

/** What a task asks of the service, and what it calls outside, goes on inside the step that runs now. */
export function tracedTask(trace: Trace, options: TaskOptions): TaskOptions {
  if (!trace.on) return options;
  return {
    ...options,
    rpc: trace.inside((rpc) => options.rpc(rpc)),
    used: trace.inside((record: CallRecord) => {
      const { kind, connection, what, startedAt, ms, ok, model } = record;
      const facts = {
        'graphstead.connection': connection,
        ...(kind === 'model' ? { 'gen_ai.request.model': what } : {}),
        ...(model
          ? { 'gen_ai.usage.input_tokens': model.inputTokens, 'gen_ai.usage.output_tokens': model.outputTokens }
          : {}),
      };
      const failure = ok ? {} : { failure: kind === 'model' ? 'MODEL_FAILED' : 'CONNECTION_FAILED' };
      trace.ended(`${kind} ${kind === 'model' ? what : connection}`, {
        kind: 'client',
        facts,
        startedAt,
        ms,
        ...failure,
      });
    }),
  };
}

/** For the task of a host process; nothing when nobody traces. */
export function traceOf(trace: Trace): { readonly trace?: Readonly<Record<string, string>> } {
  return trace.on ? { trace: trace.headers() } : {};
}
