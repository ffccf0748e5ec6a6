import { GraphsteadError, JsonWriter, type MaybePromise, type WireError } from '../../../base/index.js';
import { NotingReader } from '../../../dql/index.js';
import type { GraphReader, Transaction } from '../../../graph/index.js';
import { claimScope } from '../idempotency.js';
import type { Request, RootField, Written } from '../request.js';
import type { ChangeSet } from './change-set.js';
import { demand, isGuarded } from './guard.js';
import type { Outcome } from './payload.js';
import { demandNotTakenOver } from './restrict.js';
import { Turns } from './turn.js';

/** What a mutation worked out at its snapshot. */
export interface Worked {
  readonly set: ChangeSet;
  /** known once new nodes have their uids */
  outcome(): Outcome;
  /** a payload that had to be read before the change: of nodes that will be gone */
  readonly before?: Written;
}

type Work = (reader: GraphReader) => Promise<Worked>;
/** The payload of what has landed. */
type Answer = () => MaybePromise<Written>;
type Payload = (outcome: Outcome, reader: () => Promise<GraphReader>) => Promise<Written>;

/**
 * Works a mutation out in a transaction of its own and commits it; again from a new snapshot when another writer was
 * first, up to `limits.upsertRetries` times. In the caller's transaction it is only staged.
 */
export async function mutateInTransaction(
  request: Request,
  field: RootField,
  work: Work,
  payload: Payload,
): Promise<Written> {
  if (request.transaction) return await join(request, request.transaction, work, payload);
  const { limits, turns } = request.engine;
  const attemptOnce = () => anew(request, field, work, payload);
  for (let attempt = 0; ; attempt++) {
    let answer: Answer;
    try {
      answer = await (attempt === 0 ? attemptOnce() : turns.take(attemptOnce));
    } catch (error) {
      const again = error instanceof GraphsteadError && error.code === 'TXN_ABORTED' && attempt < limits.upsertRetries;
      if (!again) throw error;
      continue;
    }
    // not in its turn: what a payload shows may wait for remotes
    return answer();
  }
}

async function anew(request: Request, field: RootField, work: Work, payload: Payload): Promise<Answer> {
  const repeated = await storedReply(request, field);
  if (repeated) return () => repeated;
  const transaction = await request.engine.graph.begin();
  try {
    return await once(request, field, transaction, work, payload);
  } catch (error) {
    transaction.abort();
    // what it ran into may be the same request, which has landed since the look above
    const landed = await storedReply(request, field);
    if (landed) return () => landed;
    throw error;
  }
}

/** One at a time in one transaction: each must see what the one before staged, or two would take the same @id. */
const lanes = new WeakMap<Transaction, Turns>();

async function join(request: Request, transaction: Transaction, work: Work, payload: Payload): Promise<Written> {
  const lane = lanes.get(transaction) ?? new Turns();
  lanes.set(transaction, lane);
  return await lane.take(async () => {
    const worked = await stage(request, transaction, work);
    if (worked.before) return worked.before;
    let opened: NotingReader | undefined;
    try {
      return await payload(worked.outcome(), async () => {
        opened ??= new NotingReader(await transaction.reader());
        return opened;
      });
    } finally {
      if (opened) transaction.noteRead(opened.keys);
      opened?.release();
    }
  });
}

/** Works out and stages; when the rules refuse new nodes, nothing of it stays in the transaction. */
async function stage(request: Request, transaction: Transaction, work: Work): Promise<Worked> {
  const worked = await reading(transaction, async (given) => {
    const noting = request.transaction && new NotingReader(given);
    const reader = noting ?? given;
    const result = await work(reader);
    await demand(request, reader, 'update', result.set.alsoChanged);
    await demandNotTakenOver(request, reader, result.set.emptied);
    if (noting) transaction.noteRead(noting.keys);
    return result;
  });
  const { set } = worked;
  if (set.created.length > 0) {
    const settling = set.settle(await request.engine.graph.leaseUids(set.created.length));
    if (settling) await settling;
  }
  const accept = isGuarded(request, 'add', set.created)
    ? () => reading(transaction, (reader) => demand(request, reader, 'add', set.created))
    : undefined;
  if (set.changes.length > 0) await transaction.stage(set.changes, accept);
  return worked;
}

async function once(
  request: Request,
  field: RootField,
  transaction: Transaction,
  work: Work,
  payload: Payload,
): Promise<Answer> {
  const worked = await stage(request, transaction, work);
  const { set } = worked;
  const outcome = worked.outcome();
  if (request.context.idempotencyKey) {
    const written = await claimed(request, field, transaction, worked, outcome, payload);
    return () => written;
  }
  if (set.changes.length > 0) await transaction.commit();
  else transaction.abort();
  return () => worked.before ?? readAfter(request, (reader) => payload(outcome, reader));
}

async function reading<T>(transaction: Transaction, use: (reader: GraphReader) => Promise<T>): Promise<T> {
  const reader = await transaction.reader();
  try {
    return await use(reader);
  } finally {
    reader.release();
  }
}

/** The payload over the newest state, which holds what was just committed. A payload of no nodes opens nothing. */
async function readAfter(
  request: Request,
  use: (reader: () => Promise<GraphReader>) => Promise<Written>,
): Promise<Written> {
  let transaction: Transaction | undefined;
  let reader: GraphReader | undefined;
  try {
    return await use(async () => {
      transaction ??= await request.engine.graph.begin({ readOnly: true, bestEffort: true });
      reader ??= await transaction.reader();
      return reader;
    });
  } finally {
    reader?.release();
    transaction?.abort();
  }
}

/** With an idempotency key the answer lies in the same commit as the change, so it is made before. */
async function claimed(
  request: Request,
  field: RootField,
  transaction: Transaction,
  worked: Worked,
  outcome: Outcome,
  payload: Payload,
): Promise<Written> {
  const before = request.errors.list.length;
  const value = await reading(transaction, async (reader) => {
    const written = worked.before ?? (await payload(outcome, async () => reader));
    const out = new JsonWriter(request.engine.limits.answerBytes);
    if (!written.write(out)) {
      throw new GraphsteadError('NON_NULL', 'the payload lacks a value that must not be null', {
        fix: 'Give the nodes that it shows a value for each field declared non-null, or ask for less of them.',
      });
    }
    return out.finish();
  });
  const errors = request.errors.list.splice(before);
  const reply = encodeReply(value, errors);
  const { replayed } = await transaction.commit({ idempotency: { ...claimScope(request, field), reply } });
  // another request with the key came first: nothing of this one landed, not even its nodes
  return replayed ? decodeReply(request, replayed) : replyWritten(request, value, errors);
}

async function storedReply(request: Request, field: RootField): Promise<Written | undefined> {
  const { engine, context } = request;
  if (!context.idempotencyKey || !engine.idempotentReply) return undefined;
  const { scope, key, bodyHash } = claimScope(request, field);
  const stored = await engine.idempotentReply(scope, key, bodyHash);
  return stored && decodeReply(request, stored);
}

/** Length of the value, the value, its errors. */
function encodeReply(value: Buffer, errors: readonly WireError[]): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(value.length);
  return Buffer.concat([head, value, Buffer.from(JSON.stringify(errors))]);
}

function decodeReply(request: Request, { buffer, byteOffset, byteLength }: Uint8Array): Written {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const end = 4 + bytes.readUInt32BE(0);
  return replyWritten(request, bytes.subarray(4, end), JSON.parse(bytes.toString('utf8', end)) as WireError[]);
}

function replyWritten(request: Request, value: Buffer, errors: readonly WireError[]): Written {
  return {
    write: (out) => {
      for (const error of errors) request.errors.add(error);
      out.bytes(value);
      return true;
    },
  };
}
