import type { PastState } from './info.js';
import type { NewAgent, PostKind, PostOp } from './part.js';
import type { Rounds } from './rounds.js';

// How agents lie in the store: JSON text in UTF-8, in chunks that fit a page.

/** An agent's own entry; everything else of it is found from here. */
export interface Head {
  readonly type: string;
  /** that it was started by */
  readonly key?: string;
  /** `starting` until onInitialize of an agent that a turn began */
  readonly status: 'starting' | 'active' | 'terminated';
  /** wall milliseconds */
  readonly startedAt: number;
  readonly turns: number;
  readonly version: number;
  /** chunks of the state */
  readonly chunks: number;
  /** number of the oldest kept event, and of the next one */
  readonly events: readonly [number, number];
  /** number of the oldest dead letter, and of the next one */
  readonly letters: readonly [number, number];
  readonly dead: number;
  readonly waiting: number;
  readonly alarms: number;
  /** number of the oldest kept state, of the next one, and bytes of all; absent where none was ever kept */
  readonly past?: readonly [number, number, number];
  /** of a stopped agent: only events and dead letters are left of it */
  readonly swept?: boolean;
}

/**
 * What an agent's own entry holds. A small state lies in it, behind the head: a turn changes one page less, and so does a
 * start, where each agent has a page of its own. A larger state has entries of its own.
 */
export interface StoredAgent {
  readonly head: Head;
  readonly state?: string;
}

/** bytes; each message for an agent writes its entry anew */
const STATE_IN_ENTRY = 512;

export function fitsInEntry(state: string): boolean {
  return state.length <= STATE_IN_ENTRY && Buffer.byteLength(state) <= STATE_IN_ENTRY;
}

/** Chunks of the state that have entries of their own. */
export function chunksBeside({ head, state }: StoredAgent): number {
  return state === undefined ? head.chunks : 0;
}

/** JSON text has no line break of its own. */
export function encodeAgent({ head, state }: StoredAgent): Uint8Array {
  return state === undefined ? encode(head) : Buffer.from(`${JSON.stringify(head)}\n${state}`, 'utf8');
}

export function decodeAgent(bytes: Uint8Array): StoredAgent {
  const text = textOf(bytes);
  const end = text.indexOf('\n');
  if (end < 0) return { head: JSON.parse(text) as Head };
  return { head: JSON.parse(text.slice(0, end)) as Head, state: text.slice(end + 1) };
}

/** The head of an agent that starts where a stopped one had its key. What is still told of that one stays. */
export function headAgain(agent: NewAgent, wall: number, before: Head): Head {
  const { turns, events, letters, dead, past } = before;
  return headWith(freshHead(agent, wall, 'starting'), { turns, events, letters, dead, past });
}

export function freshHead({ type, key, turns = 0 }: NewAgent, wall: number, status: Head['status']): Head {
  return {
    type,
    key,
    status,
    startedAt: wall,
    turns,
    version: 1,
    chunks: 0,
    events: [1, 1],
    letters: [1, 1],
    dead: 0,
    waiting: 0,
    alarms: 0,
  };
}

/** A head with some of its fields changed. Written out: a spread of what was read from the store is made slowly. */
export function headWith(head: Head, change: Partial<Head>): Head {
  return {
    type: head.type,
    key: head.key,
    status: change.status ?? head.status,
    startedAt: head.startedAt,
    turns: change.turns ?? head.turns,
    version: change.version ?? head.version,
    chunks: change.chunks ?? head.chunks,
    events: change.events ?? head.events,
    letters: change.letters ?? head.letters,
    dead: change.dead ?? head.dead,
    waiting: change.waiting ?? head.waiting,
    alarms: change.alarms ?? head.alarms,
    past: change.past ?? head.past,
    swept: change.swept ?? head.swept,
  };
}

export interface StoredEvent {
  readonly ts: number;
  readonly n: number;
  /** wall milliseconds */
  readonly at: number;
  readonly name: string;
  /** JSON text */
  readonly data: string;
}

/** Its first fields come first: they are read without the state. */
export interface StoredPast extends Omit<PastState, 'at' | 'state'> {
  /** of the state */
  readonly bytes: number;
  /** wall milliseconds */
  readonly at: number;
  /** empty for none */
  readonly state: string;
}

export interface StoredMessage {
  readonly kind: PostKind;
  readonly name: string;
  readonly data?: string;
  /** data is a JSON array of the handler's arguments */
  readonly typed?: boolean;
  readonly from: string;
  readonly requestId?: string;
}

/** What is stored of a post. */
export function messageOf({ kind, name, data, typed, from, requestId }: PostOp): StoredMessage {
  return { kind, name, data, typed, from, requestId };
}

export interface StoredRetry {
  readonly attempts: number;
  readonly notBefore: number;
  readonly error: string;
  /** see RetryOp */
  readonly calls?: number;
}

export interface StoredAlarm {
  readonly at: number;
  /** timestamp of the commit that set it: two alarms of one id may have the same time */
  readonly set?: number;
  readonly name: string;
  readonly data?: string;
  /** see AlarmPart */
  readonly every?: Rounds;
  /** `at` is a round behind its first one */
  readonly rang?: boolean;
  /** it waits for its class; see HoldOp */
  readonly held?: boolean;
  /** failed tries, once there are any, and the wall milliseconds before which there is no other */
  readonly attempts?: number;
  readonly notBefore?: number;
  /** see RetryOp */
  readonly calls?: number;
}

export interface StoredLetter {
  /** default: message */
  readonly kind?: PostKind;
  readonly name: string;
  readonly data?: string;
  readonly typed?: boolean;
  readonly from: string;
  readonly attempts: number;
  readonly error: string;
  readonly at: number;
}

const FIGURES = { at: /"at":(\d+)/, bytes: /"bytes":(\d+)/ } as const;

/**
 * A figure of an event, a dead letter or a past state, read from its first chunk: figures stand before anything an app gave.
 * `at` tells when it came about.
 */
export function figureIn(chunk: Uint8Array | undefined, name: keyof typeof FIGURES): number | undefined {
  const found = chunk === undefined ? undefined : FIGURES[name].exec(Buffer.from(chunk).toString('latin1'))?.[1];
  return found === undefined ? undefined : Number(found);
}

const CHUNK = 3_840;

/** the value of a key that says everything itself */
export const NOTHING = new Uint8Array(0);

export function encode(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

export function decode<T>(bytes: Uint8Array): T {
  return JSON.parse(textOf(bytes)) as T;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

/** Pieces of at most one page; one for the empty value. */
export function split(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= CHUNK) return [bytes];
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) pieces.push(bytes.subarray(at, at + CHUNK));
  return pieces;
}

/** Whether a first piece is the only one. */
export function isWhole(piece: Uint8Array): boolean {
  return piece.length < CHUNK;
}

/** Pieces that `split` makes of so many bytes. */
export function pieces(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / CHUNK));
}
