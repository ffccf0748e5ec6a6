import type { GraphQLObjectType } from 'graphql';
import { assert, GraphsteadError, type JsonWriter, mapped } from '../../base/index.js';
import type { Committer } from '../../commit/index.js';
import type { SubscriptionEvent } from '../contract.js';
import type { OperationEvent, RequestContext } from '../operation.js';
import { rootMeaning } from '../schema/meaning.js';
import { Errors } from './answer.js';
import { collectFields } from './collect.js';
import { beginAnswer, endAnswer } from './envelope.js';
import { ByOperation } from './by-operation.js';
import { Introspected } from './introspect.js';
import { LazyReader, queryPart } from './operation.js';
import { writeOperation } from './outside.js';
import { touches } from './reads.js';
import type { Request, RootField } from './request.js';
import { argumentsOf } from './argument.js';
import { scopeOf } from './request.js';
import { untilExpiry } from './term.js';
import { Ahead } from './ahead.js';

/** events that have many subscribers are one object to all of them, and so is what came together */
const single = new ByOperation<SubscriptionEvent>();
const batches = new ByOperation<readonly SubscriptionEvent[]>();

type Commits = Pick<Committer, 'onCommit'>;

/** The same request under the definitions that are served now. Throws where they do not take it. */
type Renew = (request: Request) => Request;

/** Events of a subscription operation. Throws what makes it impossible to begin. */
export function subscribeOperation(
  request: Request,
  commits: Commits | undefined,
  renew: Renew,
): AsyncIterable<readonly SubscriptionEvent[]> {
  const { engine, operation, variables } = request;
  const { root, field } = askedOf(request);
  const { nodes } = field;
  const definition = root.getFields()[nodes[0].name.value];
  const meaning = definition && rootMeaning(definition);
  assert(meaning, `${nodes[0].name.value} has a meaning`);
  if (meaning.op === 'operation') {
    const schema = engine.graph.schema();
    const args = argumentsOf(scopeOf(request, { schema }), definition, nodes[0]);
    const { operation: asked } = meaning;
    const opened = (context: RequestContext) => {
      const source = asked.subscribe?.(args, context);
      assert(source, `${asked.name} can be subscribed to`);
      return source;
    };
    const source = untilExpiry(request, opened);
    const given = JSON.stringify(variables);
    const show = ({ value, id }: OperationEvent): SubscriptionEvent => {
      const each = fresh(request);
      const data = dataOf(each, field, (out) => writeOperation(each, field, definition, value, out));
      const body = endAnswer(each, data);
      return id === undefined ? { body } : { body, id };
    };
    const shown = (event: OperationEvent) => single.of(event.value, operation, given, () => show(event));
    return mapped(source, (events) => batches.of(events, operation, given, () => events.map(shown)));
  }
  if (!commits) throw new GraphsteadError('NOT_READY', 'subscriptions need the commit stream');
  return untilExpiry(request, ({ signal }) => liveQuery(request, commits, signal, renew));
}

interface Asked {
  readonly root: GraphQLObjectType;
  readonly field: RootField;
}

/** The one field of a subscription. */
function askedOf({ engine, operation, fragments, variables }: Request): Asked {
  const root = engine.schema.getSubscriptionType();
  assert(root, 'the schema has a Subscription type');
  const collected = collectFields({ schema: engine.schema, fragments, variables }, root, [operation.selectionSet]);
  const [key, nodes] = [...collected][0];
  return { root, field: { key, nodes } };
}

/** The same operation with its own errors and deadline, for one event. */
function fresh(request: Request): Request {
  const { clock, limits } = request.engine;
  const run = { ...request.run, deadline: clock.monotonic() + limits.queryMs };
  return { ...request, errors: new Errors(), run, ahead: new Ahead(run, limits), touched: 0 };
}

function dataOf(request: Request, field: RootField, write: (out: JsonWriter) => boolean): JsonWriter {
  const out = beginAnswer(request);
  const start = out.length;
  out.byte(0x7b);
  out.string(field.key);
  out.byte(0x3a);
  if (write(out)) {
    out.byte(0x7d);
    return out;
  }
  out.truncate(start);
  out.ascii('null');
  return out;
}

/**
 * A query that runs again after commits; an answer goes out when it differs from the one before. Rules that came since it was
 * asked hold for it too.
 */
async function* liveQuery(
  asked: Request,
  commits: Commits,
  signal: AbortSignal,
  renew: Renew,
): AsyncIterable<readonly SubscriptionEvent[]> {
  const changes = new Changes(signal);
  const reads = new Set<string>();
  // until the first answer nothing is known of what it reads
  let known = false;
  const stop = commits.onCommit((records) => {
    if (!known || records.some((record) => touches(record, reads))) changes.note();
  });
  try {
    let last: Buffer | undefined;
    let request = asked;
    do {
      request = renew(request);
      const { root, field } = askedOf(request);
      const each = fresh(request);
      const data = await answer({ ...each, reads }, root, field);
      known = !isCustom(root, field);
      const body = endAnswer({ ...each, context: { ...each.context, extensions: {} }, touched: 0 }, data);
      if (!last || !body.equals(last)) yield [{ body }];
      last = body;
    } while (await changes.next());
  } finally {
    stop();
    changes.close();
  }
}

/** What custom logic reads is its own business: it runs again after every commit. */
function isCustom(root: GraphQLObjectType, field: RootField): boolean {
  return rootMeaning(root.getFields()[field.nodes[0].name.value])?.op === 'custom';
}

async function answer(request: Request, root: GraphQLObjectType, field: RootField): Promise<JsonWriter> {
  const reader = new LazyReader(request);
  try {
    const written = await queryPart(request, root, field, reader, new Introspected());
    return dataOf(request, field, (out) => written.write(out));
  } catch (error) {
    // no commit brings the token that is missing
    if (error instanceof GraphsteadError && error.code === 'UNAUTHENTICATED') throw error;
    request.errors.thrown(field.nodes, [field.key], error);
    return dataOf(request, field, (out) => {
      out.ascii('null');
      return true;
    });
  } finally {
    await reader.release();
  }
}

/** Waits for the next commit; several that land while an answer is worked out count as one. */
class Changes {
  #dirty = false;
  #wake: (() => void) | undefined;
  #ended = false;
  readonly #signal: AbortSignal;
  readonly #end = (): void => {
    this.#ended = true;
    this.#wake?.();
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#end, { once: true });
    if (signal.aborted) this.#ended = true;
  }

  note(): void {
    this.#dirty = true;
    this.#wake?.();
  }

  /** False at the end. */
  async next(): Promise<boolean> {
    if (!this.#dirty && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    this.#dirty = false;
    return !this.#ended;
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#end);
  }
}
