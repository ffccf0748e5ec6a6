import type { GraphQLObjectType } from 'graphql';
import {
  assert,
  ERROR_STATUS,
  type ErrorCode,
  GraphsteadError,
  internal,
  type JsonWriter,
  mapped,
  type WireError,
} from '../../base/index.js';
import type { SubscriptionEvent } from '../contract.js';
import type { OperationEvent, RequestContext } from '../operation.js';
import { rootMeaning } from '../schema/meaning.js';
import { Errors } from './answer.js';
import { collectFields } from './collect.js';
import { beginAnswer, endAnswer } from './envelope.js';
import { ByOperation } from './by-operation.js';
import { Introspected } from './introspect.js';
import { demandClaims, LazyReader, queryPart } from './operation.js';
import { writeOperation } from './outside.js';
import type { Request, RootField } from './request.js';
import { argumentsOf } from './argument.js';
import { scopeOf } from './request.js';
import type { LiveQueries, LiveRequest } from './live-query.js';
import type { Known, Reads } from './reads.js';
import { untilExpiry } from './term.js';
import { keyOfValues } from './variables.js';
import { Ahead } from './ahead.js';

/** events that have many subscribers are one object to all of them, and so is what came together */
const single = new ByOperation<SubscriptionEvent>();
const batches = new ByOperation<readonly SubscriptionEvent[]>();

/** Events of a subscription operation. Throws what makes it impossible to begin. */
export function subscribeOperation(
  request: Request,
  live: LiveQueries | undefined,
  renew: LiveRequest['renew'],
): AsyncIterable<readonly SubscriptionEvent[]> {
  const { engine, operation, variables } = request;
  const { root, field } = askedOf(request);
  const { nodes } = field;
  const definition = root.getFields()[nodes[0].name.value];
  const meaning = definition && rootMeaning(definition);
  assert(meaning, `${nodes[0].name.value} has a meaning`);
  if (meaning.op === 'operation') {
    demandClaims(request, definition);
    const schema = engine.graph.schema();
    const args = argumentsOf(scopeOf(request, { schema }), { definition, nodes });
    const { operation: asked } = meaning;
    const opened = (context: RequestContext) => {
      const source = asked.subscribe?.(args, context);
      assert(source, `${asked.name} can be subscribed to`);
      return source;
    };
    const source = untilExpiry(request, opened);
    const given = keyOfValues(variables);
    const show = ({ value, id }: OperationEvent): SubscriptionEvent => {
      const each = fresh(request);
      const data = dataOf(each, field, (out) => writeOperation(each, { ...field, definition }, value, out));
      const body = endAnswer(each, data);
      return id === undefined ? { body } : { body, id };
    };
    const shown = (event: OperationEvent) => single.of(event.value, operation, given, () => show(event));
    return mapped(source, (events) => batches.of(events, operation, given, () => events.map(shown)));
  }
  if (!live) throw internal('subscriptions need the commit stream');
  return untilExpiry(request, ({ signal }) => live.read({ request, renew, answer: answerNow }, signal));
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

/** The answer as it is now, and how well `reads` tells what it was made from. */
async function answerNow(request: Request, reads: Reads): ReturnType<LiveRequest['answer']> {
  const { root, field } = askedOf(request);
  const each = fresh(request);
  const data = await answer({ ...each, reads }, root, field);
  const body = endAnswer({ ...each, context: { ...each.context, extensions: {} }, touched: 0 }, data);
  return { body, known: knownOf(each, root, field), passing: each.errors.list.some(isPassing) };
}

/** As the statuses of HTTP have it: what stands behind the service, the service, or its time was not there. */
function isPassing({ extensions }: WireError): boolean {
  const code = extensions?.code as ErrorCode | undefined;
  return code !== undefined && PASSING.has(ERROR_STATUS[code]);
}

const PASSING: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * What custom logic reads is its own business: it runs again after every commit. Where an error stands in the answer, something
 * may not have been read any more.
 */
function knownOf({ errors }: Request, root: GraphQLObjectType, field: RootField): Known {
  if (rootMeaning(root.getFields()[field.nodes[0].name.value])?.op === 'custom') return 'nothing';
  return errors.list.length > 0 ? 'predicates' : 'nodes';
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
