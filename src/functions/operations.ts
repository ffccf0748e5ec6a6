import { failureText, type HostLog, type Hosts } from '../agents/index.js';
import type { Operation, OperationEvent, RequestContext } from '../api/index.js';
import { asError, GraphsteadError } from '../base/index.js';
import type { AppManifest, OperationDescription, SharedScalars } from './contract.js';
import { Converter } from './convert.js';
import { GraphQLTypes } from './graphql-types.js';

interface OperationOptions {
  readonly hosts: Pick<Hosts, 'call' | 'stream'>;
  readonly scalars?: SharedScalars;
  /** console output and stacks of a call go into its answer */
  readonly stacks: boolean;
  readonly log: (entry: HostLog) => void;
}

/** Operations that run an app's functions in its host processes. */
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

  async run(given: Given, context: RequestContext, key?: string): Promise<unknown> {
    try {
      const value = await this.options.hosts.call(this.#call(given, context, key));
      return this.description.void === true ? true : this.converter.fromApp(this.description.result, value);
    } catch (error) {
      throw this.#told(asError(error), context);
    }
  }

  async *subscribe(given: Given, context: RequestContext): AsyncIterable<readonly OperationEvent[]> {
    try {
      for await (const item of this.options.hosts.stream(this.#call(given, context))) {
        yield [{ value: this.converter.fromApp(this.description.result, item) }];
      }
    } catch (error) {
      throw this.#told(asError(error), context);
    }
  }

  #call(given: Given, context: RequestContext, key = this.description.name) {
    const { description, converter, options } = this;
    const { idempotencyKey } = context;
    const args = description.args.map(({ name, type }) => converter.toApp(type, given[name]));
    // as a caller in TypeScript would leave them out
    while (args.length > 0 && args[args.length - 1] === undefined) args.pop();
    return {
      name: description.export,
      args,
      requestId: context.requestId,
      signal: context.gone ?? context.signal,
      idempotencyKey: idempotencyKey === undefined ? undefined : `${idempotencyKey}/${key}`,
      caller: context.caller,
      claims: context.claims,
      readOnly: context.readOnly,
      log: options.stacks ? (entry: HostLog) => remember(context, entry) : undefined,
    };
  }

  /** Errors reach the log with the request's id; where they came from reaches the answer in dev and in tests. */
  #told(error: GraphsteadError, context: RequestContext): GraphsteadError {
    const { requestId } = context;
    const stack = typeof error.cause === 'string' ? error.cause : undefined;
    // that a reader of a stream goes away is nothing to look into
    const level = error.code === 'CANCELLED' ? 'debug' : 'error';
    this.options.log({ level, message: failureText(error), requestId, operation: this.description.name });
    if (!this.options.stacks || stack === undefined) return error;
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
}

/** Lines of a stack that an answer carries at most. */
const FRAMES = 10;
/** Lines of console output that one answer carries at most. */
const LINES = 100;

function remember(context: RequestContext, { level, message }: HostLog): void {
  const lines = (context.extensions['console'] ??= []) as { level: string; message: string }[];
  if (lines.length < LINES) lines.push({ level, message });
}
