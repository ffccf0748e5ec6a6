import { type Agents, failureText, type HostLog, type Hosts, typedArguments, typedValue } from '../agents/index.js';
import type { Operation, OperationEvent, RequestContext } from '../api/index.js';
import {
  asError,
  Yielder,
  DEFAULT_LIMITS,
  type ErrorCode,
  GraphsteadError,
  inSteps,
  type MaybePromise,
} from '../base/index.js';
import type { AppManifest, FieldDescription, OperationDescription, SharedScalars } from './contract.js';
import { Converter } from './convert.js';
import { GraphQLTypes } from './graphql-types.js';

interface OperationOptions {
  readonly hosts: Pick<Hosts, 'call' | 'stream'>;
  readonly agents: Pick<Agents, 'send'>;
  readonly scalars?: SharedScalars;
  /** console output and stacks of a call go into its answer */
  readonly stacks: boolean;
  readonly log: (entry: HostLog) => void;
}

/** Operations that run an app's functions in its host processes, and those that send its agents messages. */
export function toOperations(manifest: AppManifest, options: OperationOptions): readonly Operation[] {
  const types = new GraphQLTypes(manifest, options.scalars);
  const converter = new Converter(manifest);
  return manifest.operations.map((description): Operation => {
    const { name, kind, args, result } = description;
    const shape = {
      name,
      kind,
      description: description.description,
      args: types.args(args),
      type: types.output(result),
    };
    const { handler } = description;
    if (handler !== undefined) {
      const sender = new MessageSender(description, handler, converter, options);
      return { ...shape, run: (given, context, key) => sender.run(given, context, key) };
    }
    const call = new FunctionCaller(description, converter, options);
    if (kind !== 'subscription') return { ...shape, run: (given, context, key) => call.run(given, context, key) };
    return { ...shape, subscribe: (given, context) => call.subscribe(given, context) };
  });
}

type Given = Readonly<Record<string, unknown>>;

class FunctionCaller {
  constructor(
    readonly description: OperationDescription,
    readonly converter: Converter,
    readonly options: OperationOptions,
  ) {}

  run(given: Given, context: RequestContext, key?: string): Promise<unknown> {
    const { description, converter, options } = this;
    return settled(
      () => options.hosts.call(this.#call(given, context, key)),
      (value) => resultOf(description, converter, value),
      (error) => told(asError(error), context, description, options),
    );
  }

  async *subscribe(given: Given, context: RequestContext): AsyncIterable<readonly OperationEvent[]> {
    const { description, converter, options } = this;
    try {
      for await (const item of options.hosts.stream(this.#call(given, context))) {
        yield [{ value: await resultOf(description, converter, item) }];
      }
    } catch (error) {
      throw told(asError(error), context, description, options);
    }
  }

  #call(given: Given, context: RequestContext, key?: string) {
    const { description, converter, options } = this;
    return {
      name: description.export,
      args: argsOf(description.args, converter, given),
      requestId: context.requestId,
      signal: context.gone ?? context.signal,
      idempotencyKey: keyOf(description, context, key),
      caller: context.caller,
      claims: context.claims,
      readOnly: context.readOnly,
      asking: context.asking,
      log: options.stacks ? (entry: HostLog) => remember(context, entry) : undefined,
    };
  }
}

/** No function stands between the client and the agent, and no process but the agent's own has a part in it. */
class MessageSender {
  readonly #args: readonly FieldDescription[];

  constructor(
    readonly description: OperationDescription,
    readonly handler: NonNullable<OperationDescription['handler']>,
    readonly converter: Converter,
    readonly options: OperationOptions,
  ) {
    const [, ...args] = description.args; // behind the agent's id
    this.#args = args;
  }

  run(given: Given, context: RequestContext, key?: string): Promise<unknown> {
    const { description, handler, converter, options } = this;
    const { type, message } = handler;
    return settled(
      () => this.#send(given, context, key),
      (reply) => resultOf(description, converter, reply === undefined ? undefined : typedValue(type, message, reply)),
      (error) => told(asError(error), context, description, options),
    );
  }

  #send(given: Given, context: RequestContext, key?: string): Promise<string | undefined> {
    const { description, handler, converter, options } = this;
    const { requestId, caller, claims, trusted, asking, inTransaction } = context;
    const data = typedArguments(argsOf(this.#args, converter, given));
    return options.agents.send(given[description.args[0].name] as string, handler.message, data, {
      type: handler.type,
      typed: true,
      requestId,
      caller,
      from: asking,
      inTransaction,
      client: trusted ? undefined : { claims },
      readOnly: description.kind === 'query' || context.readOnly,
      idempotencyKey: keyOf(description, context, key),
    });
  }
}

/**
 * What `ask` gives, as `result` makes it; whatever fails of both is thrown as `failure` tells it. Not async: it is one promise in
 * place of four, which is felt in what a message costs.
 */
function settled<T>(
  ask: () => Promise<T>,
  result: (value: T) => MaybePromise<unknown>,
  failure: (thrown: unknown) => GraphsteadError,
): Promise<unknown> {
  const fail = (thrown: unknown) => Promise.reject(failure(thrown));
  try {
    return ask().then((value) => {
      try {
        const made = result(value);
        return made instanceof Promise ? made.catch(fail) : made;
      } catch (thrown) {
        return fail(thrown);
      }
    }, fail);
  } catch (thrown) {
    return fail(thrown);
  }
}

function argsOf(args: readonly FieldDescription[], converter: Converter, given: Given): unknown[] {
  const taken = args.map((arg) => argOf(arg, converter, given));
  // as a caller in TypeScript would leave them out
  while (taken.length > 0 && taken[taken.length - 1] === undefined) taken.pop();
  return taken;
}

function argOf({ name, type }: FieldDescription, converter: Converter, given: Given): unknown {
  try {
    return converter.toApp(type, given[name]);
  } catch (error) {
    const { code, message, fix, details } = asError(error);
    throw new GraphsteadError(code, `argument "${name}": ${message}`, { fix, details, cause: error });
  }
}

/** Most results are short, and nothing is waited for. */
function resultOf(description: OperationDescription, converter: Converter, value: unknown): MaybePromise<unknown> {
  if (description.void === true) return true;
  const steps = converter.fromApp(description.result, value);
  const { done, value: result } = steps.next();
  if (done) return result;
  const yielder = new Yielder(DEFAULT_LIMITS.yieldMs);
  return inSteps(steps, () => yielder.due());
}

/** Tells the operations of one request apart. */
function keyOf(
  { name }: OperationDescription,
  { idempotencyKey }: RequestContext,
  field: string | undefined,
): string | undefined {
  return idempotencyKey === undefined ? undefined : `${idempotencyKey}/${field ?? name}`;
}

/** Errors reach the log with the request's id; where they came from reaches the answer in dev and in tests. */
function told(
  error: GraphsteadError,
  { requestId }: RequestContext,
  { name }: OperationDescription,
  { log, stacks }: OperationOptions,
): GraphsteadError {
  const stack = typeof error.cause === 'string' ? error.cause : undefined;
  log({ level: levelOf(error.code), message: failureText(error), requestId, operation: name });
  if (!stacks || stack === undefined) return error;
  const details = {
    ...error.details,
    stack: stack
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /^(at|caused by:) /.test(line))
      .slice(0, FRAMES),
  };
  return new GraphsteadError(error.code, error.message, { fix: error.fix, details });
}

function levelOf(code: ErrorCode): HostLog['level'] {
  // that a reader of a stream goes away is nothing to look into
  if (code === 'CANCELLED') return 'debug';
  return OF_CLIENTS.has(code) ? 'info' : 'error';
}

/** The client named an agent that is not there, any more or ever. */
const OF_CLIENTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AGENT_ID_MISSING',
  'AGENT_UNKNOWN',
  'AGENT_TERMINATED',
]);

/** Lines of a stack that an answer carries at most. */
const FRAMES = 10;
/** Lines of console output that one answer carries at most. */
const LINES = 100;

function remember(context: RequestContext, { level, message }: HostLog): void {
  const lines = (context.extensions['console'] ??= []) as { level: string; message: string }[];
  if (lines.length < LINES) lines.push({ level, message });
}
