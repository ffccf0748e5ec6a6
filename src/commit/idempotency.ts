import { createHash } from 'node:crypto';
import { type ClockSteps, GraphsteadError, type Limits } from '../base/index.js';
import { compareBytes, type Key, KeyReader, KeyWriter } from '../store/index.js';
import type { GroupState, IdempotencyClaim } from './contract.js';
import { KIND } from './kind.js';

// A stored reply: a header and the reply, cut into values of at most one page under (hash of scope and key, chunk).
// A second key family, (expiry, hash), finds what has expired.
const CHUNK = 3_900;
const HASH_BYTES = 20;
const replies = new KeyWriter('commit', Uint8Array.of(KIND.reply));
const expiries = new KeyWriter('commit', Uint8Array.of(KIND.expiry));
const EXPIRY_PREFIX = expiries.key().length;
const HOUR = 3_600_000;

/** A reply as it stands in the store. */
interface StoredReply {
  readonly commitTs: number;
  readonly wall: number;
  readonly expiry: number;
  readonly bodyHash: string;
  readonly reply: Uint8Array;
}

type Reads = Pick<GroupState, 'get'>;

function hashOf(scope: string, key: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([scope, key]))
    .digest()
    .subarray(0, HASH_BYTES);
}

/** The stored reply of a key, expired or not. */
export async function readReply(state: Reads, scope: string, key: string): Promise<StoredReply | undefined> {
  const hash = hashOf(scope, key);
  const first = await state.get(replies.raw(hash).uint(0).key());
  if (first === undefined) return undefined;
  const chunks = [first];
  const { chunkCount } = header(first);
  while (chunks.length < chunkCount) {
    const chunk = await state.get(replies.raw(hash).uint(chunks.length).key());
    if (chunk === undefined) return undefined;
    chunks.push(chunk);
  }
  return decode(Buffer.concat(chunks));
}

function header(first: Uint8Array): { readonly chunkCount: number } {
  return { chunkCount: new DataView(first.buffer, first.byteOffset).getUint32(0) };
}

//   0..3 chunks · 4..11 timestamp · 12..19 wall · 20..27 expiry · 28..31 bytes of the body's hash, which follows, then the reply
function decode(bytes: Buffer): StoredReply {
  const hashEnd = 32 + bytes.readUInt32BE(28);
  return {
    commitTs: bytes.readDoubleBE(4),
    wall: bytes.readDoubleBE(12),
    expiry: bytes.readDoubleBE(20),
    bodyHash: bytes.toString('utf8', 32, hashEnd),
    reply: new Uint8Array(bytes.subarray(hashEnd)),
  };
}

function encode(claim: IdempotencyClaim, commitTs: number, wall: number, expiry: number): Uint8Array[] {
  const hash = Buffer.from(claim.bodyHash, 'utf8');
  const bytes = Buffer.allocUnsafe(32 + hash.length + claim.reply.length);
  const count = Math.ceil(bytes.length / CHUNK);
  bytes.writeUInt32BE(count, 0);
  bytes.writeDoubleBE(commitTs, 4);
  bytes.writeDoubleBE(wall, 12);
  bytes.writeDoubleBE(expiry, 20);
  bytes.writeUInt32BE(hash.length, 28);
  bytes.set(hash, 32);
  bytes.set(claim.reply, 32 + hash.length);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * CHUNK, (i + 1) * CHUNK));
}

/** The reply when the body is the same; throws IDEMPOTENCY_MISMATCH when it is not. */
export function sameBody(stored: StoredReply, bodyHash: string): StoredReply {
  if (stored.bodyHash === bodyHash) return stored;
  throw new GraphsteadError('IDEMPOTENCY_MISMATCH', 'the idempotency key was used with another request before', {
    fix: 'Use a new key for a new request, and the same body when you repeat one.',
  });
}

/** Whether a reply no longer counts; one that stood when the clock was set ahead does, for as long as it is kept at all. */
export function hasExpired({ expiry }: StoredReply, wall: number, steps: ClockSteps, limits: Limits): boolean {
  return expiry <= wall && expiry <= wall - steps.held(limits.idempotencyHours * HOUR);
}

/**
 * Stores the replies of one group, and deletes replies which have expired: at most two for each one stored, so that
 * pruning keeps up and never stalls. The same records give the same puts, however they are grouped.
 */
export class ReplyWriter {
  readonly #state: GroupState;
  readonly #lifetime: number;
  /** where the next look for expired replies begins */
  #cursor: Key = expiries.key();

  /** @param hours a reply is kept */
  constructor(state: GroupState, hours: number) {
    this.#state = state;
    this.#lifetime = hours * HOUR;
  }

  async store(claim: IdempotencyClaim, commitTs: number, wall: number): Promise<void> {
    for (let pruned = 0; pruned < PRUNED_FOR_ONE && (await this.#pruneOne(wall)); pruned++);
    const hash = hashOf(claim.scope, claim.key);
    const before = await readReply(this.#state, claim.scope, claim.key);
    if (before !== undefined) await drop(this.#state, before.expiry, hash);
    const expiry = Math.floor(wall + this.#lifetime);
    encode(claim, commitTs, wall, expiry).forEach((value, chunk) => {
      this.#state.put(replies.raw(hash).uint(chunk).key(), value);
    });
    this.#state.put(expiries.uint(expiry).raw(hash).key(), new Uint8Array(0));
  }

  async #pruneOne(wall: number): Promise<boolean> {
    const end = expiries.uint(Math.floor(wall)).key();
    while (compareBytes(this.#cursor, end) < 0) {
      const page = await this.#state.snapshot.range({ start: this.#cursor, end, limit: 1, keysOnly: true });
      this.#cursor = page.next?.start ?? end;
      const [key] = page.keys;
      // Gone already when its reply was replaced in this group.
      if (key === undefined || (await this.#state.get(key)) === undefined) continue;
      const reader = new KeyReader(key, EXPIRY_PREFIX);
      const expiry = reader.uint();
      await drop(this.#state, expiry, reader.rest());
      return true;
    }
    return false;
  }
}

const PRUNED_FOR_ONE = 2;

async function drop(state: GroupState, expiry: number, hash: Uint8Array): Promise<void> {
  state.put(expiries.uint(expiry).raw(hash).key(), undefined);
  const first = await state.get(replies.raw(hash).uint(0).key());
  if (first === undefined) return;
  for (let chunk = 0; chunk < header(first).chunkCount; chunk++) {
    state.put(replies.raw(hash).uint(chunk).key(), undefined);
  }
}
