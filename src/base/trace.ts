/** What a step is about: names and counts. Never a secret, and never a value of the data. */
export type StepFacts = Readonly<Record<string, string | number | boolean>>;

export interface StepOptions {
  readonly facts?: StepFacts;
  /** who waits for whom: the service for others (`client`), others for the service (`server`), or neither */
  readonly kind?: 'server' | 'client';
  /** later steps may name this one as their cause, also when it has ended */
  readonly key?: string;
  /**
   * Keys of steps that this one may belong to, the likeliest first. When none is known it begins a trace of its own.
   * Without `causes` it belongs to the step that runs around it.
   */
  readonly causes?: readonly string[];
  /** headers of W3C Trace Context that came from outside; they count where nothing runs around it */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/** A step that is running. */
export interface Step {
  tell(facts: StepFacts): void;
  /** it went wrong although nothing was thrown; a code, since messages may quote values */
  fail(code: string): void;
  /** later steps may name this one by another key too */
  known(key: string): void;
}

/** A step that has ended already, somewhere else. */
export interface EndedStep extends StepOptions {
  /** wall milliseconds */
  readonly startedAt: number;
  readonly ms: number;
  /** a code */
  readonly failure?: string;
}

/**
 * How the rooms tell what they do to those who trace it. Nobody does by default: then `noTrace` stands here, and a step
 * costs one call.
 */
export interface Trace {
  readonly on: boolean;
  /** Runs `work` as one step. What it throws fails the step, and is thrown on. */
  step<T>(name: string, options: StepOptions, work: (step: Step) => Promise<T>): Promise<T>;
  /** A step within the one that is running now. */
  ended(name: string, step: EndedStep): void;
  /** `work` goes on inside the step that runs now, whoever calls it later. */
  inside<A extends readonly unknown[], R>(work: (...args: A) => R): (...args: A) => R;
  /** headers of W3C Trace Context that name the step that runs now */
  headers(): Readonly<Record<string, string>>;
}

const NO_STEP: Step = { tell: () => undefined, fail: () => undefined, known: () => undefined };
const NO_HEADERS = Object.freeze({});

export const noTrace: Trace = {
  on: false,
  step: (_name, _options, work) => work(NO_STEP),
  ended: () => undefined,
  inside: (work) => work,
  headers: () => NO_HEADERS,
};
