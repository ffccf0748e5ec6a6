import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Committer, createCommitter } from '../../commit/index.js';
import { GraphsteadError, makeLimits } from '../../base/index.js';
import { createMemoryStore, type Store } from '../../store/index.js';
import { linesOf } from '../../../test/stored.js';
import { headKey } from '../keys.js';
import type { AgentOp, PostOp, TurnOp } from '../part.js';
import { readAlarm, readEvents, readHead, readLetters, readMailbox, readState } from '../reader.js';
import { encode, messageOf } from '../stored.js';
import { agentsApplier } from './applier.js';
import { SWEPT_AT_ONCE } from './remains.js';

const FAMILIES = ['', 'head', 'state', 'event', 'mailbox', 'retry', 'alarm', 'due', 'dead', 'ended', 'past', 'held'];
const LIMITS = { mailboxMessages: 3, deadLetters: 2, alarmsPerAgent: 2, eventsPerAgent: 4, messageAttempts: 3 };
const LONG = 'x'.repeat(9_000);
const ALL = { messages: 100, bytes: 1_000_000 };

let store: Store;
let committer: Committer;
let now: number;

beforeEach(async () => {
  now = 1_000_000;
  store = createMemoryStore();
  await restart();
  await commit({ op: 'turn', id: 'ann', expect: 0, create: { type: 'Cart', key: 'ann' }, state: '{"n":0}' });
});
afterEach(() => committer.close());

/** By an applier that has seen nothing of what stands there. */
async function restart(): Promise<void> {
  const limits = makeLimits(LIMITS);
  const clock = { wall: () => now, monotonic: () => now };
  committer = await createCommitter({ store, appliers: [agentsApplier(limits)], limits, clock });
}

async function commit(...ops: AgentOp[]): Promise<number> {
  return (await committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] })).commitTs;
}

/** Entries by family, those that are none left out. */
async function entries(): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const line of await linesOf(store, 'agents')) {
    const family = FAMILIES[Number.parseInt(line.slice(6, 8), 16)];
    counts[family] = (counts[family] ?? 0) + 1;
  }
  return counts;
}

async function read<T>(what: (snapshot: ReturnType<Store['snapshot']>) => Promise<T>): Promise<T> {
  const snapshot = store.snapshot();
  try {
    return await what(snapshot);
  } finally {
    snapshot.release();
  }
}
const head = (id = 'ann') => read((snapshot) => readHead(snapshot, id));
const stateOf = (id: string) =>
  read(async (snapshot) => readState(snapshot, id, (await readHead(snapshot, id))?.chunks ?? 0));
const alarmAt = async (alarm: string) => (await read((snapshot) => readAlarm(snapshot, 'ann', alarm)))?.at;
const turn = async (rest: Partial<TurnOp>): Promise<TurnOp> => ({
  op: 'turn',
  id: 'ann',
  expect: (await head())?.turns ?? 0,
  ...rest,
});
const post = (rest: Partial<PostOp> = {}): PostOp => ({
  op: 'post',
  to: 'ann',
  from: '',
  kind: 'message',
  name: 'do',
  ...rest,
});
const sizeOf = (op: PostOp) => encode(messageOf(op)).length;

describe('a turn', () => {
  it('of an activation that has ended, or of an agent that was stopped, changes nothing', async () => {
    const late = await turn({ state: '{"n":1}' });
    await commit(await turn({ state: '{"n":2}' }));
    await expect(commit(late)).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    expect(await read((snapshot) => readState(snapshot, 'ann', 1))).toBe('{"n":2}');
    await commit(await turn({ terminate: true }));
    await expect(commit(await turn({ state: '{"n":3}' }))).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
  });

  it('takes its message away whole, with what its tries left', async () => {
    const message = post({ data: LONG });
    const ts = await commit(message);
    const position = { ts, n: 0 };
    await commit({ op: 'retry', id: 'ann', message: position, attempts: 1, notBefore: 0, error: 'no' });
    expect(await entries()).toMatchObject({ mailbox: 3, retry: 1 });
    await commit(await turn({ consumed: { ...position, bytes: sizeOf(message) } }));
    expect(await entries()).toEqual({ head: 1 });
    expect(await head()).toMatchObject({ waiting: 0 });
  });

  it('leaves as many chunks of the state as it has, and none of one that stops', async () => {
    await commit(await turn({ state: LONG }));
    expect(await entries()).toMatchObject({ state: 3 });
    for (const state of ['m'.repeat(600), 'ä'.repeat(300), 'm'.repeat(3_000)]) {
      await commit(await turn({ state }));
      expect(await entries()).toMatchObject({ state: 1 });
      expect(await stateOf('ann')).toBe(state);
    }
    await commit(await turn({ state: 'small' }));
    expect(await entries()).toEqual({ head: 1 });
    expect(await stateOf('ann')).toBe('small');
    await commit(await turn({ state: '' }));
    expect(await entries()).toEqual({ head: 1 });
    await commit(await turn({ state: LONG, terminate: true }));
    expect(await entries()).toEqual({ head: 1, ended: 1 });
  });

  it('keeps a small state in its own entry, whatever else changes there and whether it is remembered or read', async () => {
    const state = 'two\nlines \ud800';
    await commit(await turn({ state }));
    await commit(post());
    expect(await stateOf('ann')).toBe('two\nlines \ufffd');
    await restart();
    await commit(post());
    expect(await stateOf('ann')).toBe('two\nlines \ufffd');
    expect(await entries()).toEqual({ head: 1, mailbox: 2 });
    expect(await head()).toMatchObject({ waiting: 2, chunks: 1 });
  });

  it('keeps the newest events, each with a number of its own in its commit', async () => {
    const events = ['a', 'b', 'c'].map((name) => ({ name, data: '1' }));
    await commit(await turn({ events }));
    const ts = await commit(await turn({ events }));
    expect((await head())?.events).toEqual([3, 7]);
    const newest = await read((snapshot) => readEvents(snapshot, 'ann', 4, 7, 3));
    expect(newest).toMatchObject(events.map(({ name }, n) => ({ ts, n, name })));
    expect(await entries()).toMatchObject({ event: LIMITS.eventsPerAgent });
    now += makeLimits().eventAgeMs + 1;
    // a commit takes away no more than twice what it adds
    await commit(await turn({ events: events.slice(2) }));
    expect((await head())?.events).toEqual([5, 8]);
  });

  it.each(['nothing of it lands', 'all of it lands'])(
    'whose commit fails, where %s, is one to the next as the store has it',
    async (then) => {
      const { apply } = store;
      store.apply = async (...args) => {
        store.apply = apply;
        if (then === 'all of it lands') await apply.call(store, ...args);
        throw new GraphsteadError('INTERNAL', 'the disk is tired', { fix: 'report it' });
      };
      await expect(commit(await turn({ state: '{"n":1}' }))).rejects.toThrow('tired');
      const next = await turn({ state: '{"n":2}' });
      expect(next.expect).toBe(then === 'all of it lands' ? 2 : 1);
      await commit(next);
      expect(await read((snapshot) => readState(snapshot, 'ann', 1))).toBe('{"n":2}');
    },
  );

  it('reads the head of an agent once, until a commit that changed one fails', async () => {
    const applier = agentsApplier(makeLimits(LIMITS));
    let read: string[] = [];
    const snapshot = store.snapshot();
    const begin = () =>
      applier.begin({
        snapshot,
        get: (key) => snapshot.get(key),
        getMany: (keys) => {
          read.push(...keys.map((key) => Buffer.from(key).toString('hex')));
          return snapshot.getMany(keys);
        },
        put: () => undefined,
        deleteRange: () => undefined,
      });
    const group = async (...ops: AgentOp[]) => {
      read = [];
      const work = begin();
      await work.prepare(ops.map((op) => ({ ops: [op] })));
      for (const op of ops) await work.apply({ ops: [op] }, 9, now);
      await work.flush();
      return work;
    };
    const ann = Buffer.from(headKey('ann')).toString('hex');
    (await group(post(), post())).landed();
    expect(read).toEqual([ann]);
    // nothing was changed, so that nothing is forgotten
    (await group()).failed();
    (await group(post())).landed();
    expect(read).toEqual([]);
    (await group(await turn({ state: '{}' }))).failed();
    (await group(post())).landed();
    expect(read).toEqual([ann]);
    snapshot.release();
  });

  it('is refused whole where one of its letters cannot be left', async () => {
    const before = await linesOf(store, 'agents');
    await expect(commit(await turn({ state: '{}' }), post({ to: 'nobody', from: 'ann' }))).rejects.toMatchObject({
      code: 'AGENT_UNKNOWN',
    });
    expect(await linesOf(store, 'agents')).toEqual(before);
  });
});

describe('a mailbox', () => {
  it('holds as many messages as it may, and one that stops its agent', async () => {
    for (let n = 0; n < LIMITS.mailboxMessages; n++) await commit(post());
    await expect(commit(post())).rejects.toMatchObject({ code: 'MAILBOX_FULL' });
    await expect(commit(post({ from: 'bob' }))).rejects.toMatchObject({ code: 'MAILBOX_FULL' });
    await commit(post({ kind: 'stop' }));
    expect(await head()).toMatchObject({ waiting: LIMITS.mailboxMessages + 1 });
  });

  it('of an agent that was stopped takes nothing: an agent is not told, others are', async () => {
    await commit(await turn({ terminate: true }));
    await commit({ op: 'turn', id: 'bob', expect: 0, create: { type: 'Cart' } });
    await expect(commit(post())).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
    const ts = await commit(post({ from: 'bob' }), post({ to: 'bob', from: 'bob' }));
    // whoever delivers counts both
    const { entries: left } = await read((snapshot) => readMailbox(snapshot, 'bob', undefined, ALL));
    expect(left).toMatchObject([{ ts, n: 1 }]);
    expect(await entries()).toMatchObject({ mailbox: 1 });
  });
});

describe('an alarm', () => {
  const set = async (...alarms: NonNullable<TurnOp['alarms']>) => commit(await turn({ alarms }));

  it('is due once, however it is set, moved and taken back', async () => {
    await set({ id: 'tea', at: 5 });
    await set({ id: 'tea', at: 9 });
    expect(await entries()).toMatchObject({ alarm: 1, due: 1 });
    expect([await alarmAt('tea'), (await head())?.alarms]).toEqual([9, 1]);
    await set({ id: 'tea' });
    expect(await entries()).toEqual({ head: 1 });
    expect(await head()).toMatchObject({ alarms: 0 });
  });

  it('stays where it was moved before its turn ended', async () => {
    await set({ id: 'tea', at: 5 });
    await commit(await turn({ alarms: [{ id: 'tea', at: 9 }] }));
    await commit(await turn({ fired: { id: 'tea', at: 5 } }));
    expect([await alarmAt('tea'), await entries()]).toMatchObject([9, { alarm: 1, due: 1 }]);
    await commit(await turn({ fired: { id: 'tea', at: 9 } }));
    expect(await entries()).toEqual({ head: 1 });
    expect(await head()).toMatchObject({ alarms: 0 });
  });

  it('begins its tries anew where it was moved', async () => {
    await set({ id: 'tea', at: 9 });
    const failed = (at: number): AgentOp => ({
      op: 'retry',
      id: 'ann',
      alarm: { id: 'tea', at },
      attempts: 2,
      notBefore: 0,
      error: 'no',
    });
    await commit(failed(5));
    expect(await read((snapshot) => readAlarm(snapshot, 'ann', 'tea'))).not.toHaveProperty('attempts');
    await commit(failed(9));
    expect(await read((snapshot) => readAlarm(snapshot, 'ann', 'tea'))).toMatchObject({ attempts: 2 });
  });

  it('waits for its class apart from those that are due, in one place at a time', async () => {
    await set({ id: 'tea', at: 5 });
    const alarm = { id: 'tea', at: 5 };
    for (let times = 0; times < 2; times++) await commit({ op: 'hold', id: 'ann', alarm });
    expect(await entries()).toEqual({ head: 1, alarm: 1, held: 1 });
    for (let times = 0; times < 2; times++) await commit({ op: 'release', id: 'ann', alarm });
    expect(await entries()).toEqual({ head: 1, alarm: 1, due: 1 });
    await commit({ op: 'hold', id: 'ann', alarm: { id: 'tea', at: 4 } });
    expect(await entries()).toEqual({ head: 1, alarm: 1, due: 1 });
  });

  it('is one of as many as an agent may have; what is taken back makes room', async () => {
    await set({ id: 'a', at: 5 }, { id: 'b', at: 6 });
    await expect(set({ id: 'c', at: 7 })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    await set({ id: 'c', at: 7 }, { id: 'a' });
    expect(await entries()).toMatchObject({ alarm: 2, due: 2 });
  });
});

describe('a dead letter', () => {
  const fail = (rest = {}): AgentOp => ({
    op: 'dead',
    id: 'ann',
    name: 'do',
    from: '',
    attempts: 3,
    error: LONG,
    ...rest,
  });
  const letters = () => read((snapshot) => readLetters(snapshot, 'ann', 100, undefined));

  it('takes the place of its message, and the oldest one goes', async () => {
    for (let n = 0; n < 3; n++) {
      const message = post({ data: String(n) });
      const ts = await commit(message);
      await commit(fail({ data: String(n), consumed: { ts, n: 0, bytes: sizeOf(message) } }));
    }
    expect((await letters()).map(({ data }) => data)).toEqual(['1', '2']);
    expect(await head()).toMatchObject({ waiting: 0, dead: LIMITS.deadLetters });
    expect(await entries()).toEqual({ head: 1, dead: 6 });
  });

  it('is buried once and whole', async () => {
    await commit(fail());
    const [{ seq, bytes }] = await letters();
    const replay = { op: 'replay', id: 'ann', seq, bytes } as const;
    await commit(replay, post());
    await expect(commit(replay, post())).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await head()).toMatchObject({ dead: 0, waiting: 1 });
    expect(await entries()).toEqual({ head: 1, mailbox: 1 });
  });

  it('is none where its agent was stopped meanwhile, as nothing else is left there then', async () => {
    await commit(await turn({ terminate: true }));
    const before = await linesOf(store, 'agents');
    await commit(fail());
    await commit({ op: 'retry', id: 'ann', message: { ts: 1, n: 0 }, attempts: 1, notBefore: 0, error: 'no' });
    await commit({ op: 'hold', id: 'ann', alarm: { id: 'tea', at: 5 } });
    expect(await linesOf(store, 'agents')).toEqual(before);
  });
});

describe('an agent that was stopped', () => {
  it('goes a bounded part at a time, however many go together', async () => {
    const ids = ['bob', 'cid', 'dan'];
    const create = { type: 'Cart' };
    for (const id of ids) {
      await commit({ op: 'turn', id, expect: 0, create, state: LONG.repeat(80) });
      await commit({ op: 'turn', id, expect: 1, terminate: true });
    }
    const before = (await entries())['state'];
    await commit(...ids.map((id) => ({ op: 'sweep', id }) as const));
    expect(before - (await entries())['state']).toBe(SWEPT_AT_ONCE);
  });

  it('begins again by its key once what it left is swept, and sweeps take nothing of the next one', async () => {
    await commit(post());
    await commit(await turn({ alarms: [{ id: 'tea', at: 5 }] }));
    const birth = { type: 'Cart', key: 'ann' };
    await commit(await turn({ terminate: true }));
    const turns = (await head())?.turns ?? 0;
    const begin = { op: 'turn', id: 'ann', expect: turns, create: { ...birth, turns }, state: 'new' } as const;
    await expect(commit({ op: 'spawn', id: 'ann', ...birth, from: '' })).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    await expect(commit(begin)).rejects.toMatchObject({ code: 'TXN_ABORTED' });
    await commit({ op: 'sweep', id: 'ann' });
    expect(await entries()).toEqual({ head: 1, ended: 1 });
    await expect(commit({ ...begin, create: { ...begin.create, key: 'bob' } })).rejects.toMatchObject({
      code: 'TXN_ABORTED',
    });
    await commit(begin);
    await commit({ op: 'sweep', id: 'ann' });
    await commit({ op: 'sweep', id: 'ann', at: now });
    expect(await entries()).toEqual({ head: 1 });
    expect(await head()).toMatchObject({ status: 'active', waiting: 0, alarms: 0 });
  });
});
