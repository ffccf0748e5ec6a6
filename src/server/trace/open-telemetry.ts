import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as OpenTelemetry from '@opentelemetry/api';
import {
  asError,
  noTrace,
  type EndedStep,
  type Step,
  type StepFacts,
  type StepOptions,
  type Trace,
} from '../../base/index.js';

type Api = typeof OpenTelemetry;

/** Where every copy of the API finds what an SDK has registered; versions of one major share it. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
/** ended steps that later ones may still name as their cause */
const KEPT = 4_096;

interface OpenTrace {
  readonly trace: Trace;
  /** why nothing is traced although somebody wants it */
  readonly warning?: string;
}

/**
 * Spans through the OpenTelemetry API, when this process was started with an SDK (`node --import ./traces.mjs`). Without one the
 * API is not even loaded. It is the app's own copy that is taken: another could be too new for what the SDK has registered.
 * @param folders where to look for it, the first that has it wins
 */
export function openTrace(folders: readonly string[], version: string): OpenTrace {
  const registered = (globalThis as Record<symbol, unknown>)[REGISTERED];
  if ((registered as { trace?: unknown } | undefined)?.trace === undefined) return { trace: noTrace };
  for (const folder of folders) {
    try {
      const api = createRequire(join(folder, 'package.json'))('@opentelemetry/api') as Api;
      return { trace: new SpanTrace(api, version) };
    } catch {
      // the next folder may have it
    }
  }
  const warning = `an OpenTelemetry SDK is registered, and @opentelemetry/api was not found from ${folders.join(' or ')}`;
  return { trace: noTrace, warning };
}

class SpanTrace implements Trace {
  readonly on = true;
  readonly #api: Api;
  readonly #tracer: OpenTelemetry.Tracer;
  readonly #causes = new Map<string, OpenTelemetry.Context>();

  constructor(api: Api, version: string) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('graphstead', version);
  }

  step<T>(name: string, options: StepOptions, work: (step: Step) => Promise<T>): Promise<T> {
    const parent = this.#parentOf(options);
    const span = this.#tracer.startSpan(name, { ...this.#spanOptions(options) }, parent);
    const inner = this.#api.trace.setSpan(parent, span);
    if (options.key !== undefined) this.#keep(options.key, inner);
    return this.#api.context.with(inner, async () => {
      try {
        return await work(this.#stepOf(span, inner));
      } catch (error) {
        this.#fail(span, asError(error).code);
        throw error;
      } finally {
        span.end();
      }
    });
  }

  ended(name: string, step: EndedStep): void {
    const options = { ...this.#spanOptions(step), startTime: step.startedAt };
    const span = this.#tracer.startSpan(name, options, this.#parentOf(step));
    if (step.failure !== undefined) this.#fail(span, step.failure);
    span.end(step.startedAt + step.ms);
  }

  inside<A extends readonly unknown[], R>(work: (...args: A) => R): (...args: A) => R {
    const { context } = this.#api;
    const now = context.active();
    return (...args) => context.with(now, () => work(...args));
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    this.#api.propagation.inject(this.#api.context.active(), headers);
    return headers;
  }

  #parentOf({ causes, headers }: StepOptions): OpenTelemetry.Context {
    const { context, propagation, trace, ROOT_CONTEXT } = this.#api;
    if (causes !== undefined) {
      const known = causes.find((key) => this.#causes.has(key));
      return (known === undefined ? undefined : this.#causes.get(known)) ?? ROOT_CONTEXT;
    }
    const active = context.active();
    // somebody else traces HTTP already: what came in was read then
    if (headers === undefined || trace.getSpan(active) !== undefined) return active;
    return propagation.extract(active, headers);
  }

  #spanOptions({ facts, kind }: StepOptions): OpenTelemetry.SpanOptions {
    const { SpanKind } = this.#api;
    const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;
    return {
      kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind],
      ...(facts ? { attributes: { ...facts } } : {}),
    };
  }

  #stepOf(span: OpenTelemetry.Span, inner: OpenTelemetry.Context): Step {
    return {
      tell: (facts: StepFacts) => void span.setAttributes({ ...facts }),
      fail: (code) => this.#fail(span, code),
      known: (key) => this.#keep(key, inner),
    };
  }

  /** Codes alone: messages may quote values. */
  #fail(span: OpenTelemetry.Span, code: string): void {
    span.setAttribute('error.type', code);
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code });
  }

  #keep(key: string, inner: OpenTelemetry.Context): void {
    this.#causes.delete(key);
    this.#causes.set(key, inner);
    if (this.#causes.size <= KEPT) return;
    for (const oldest of this.#causes.keys()) {
      this.#causes.delete(oldest);
      return;
    }
  }
}
