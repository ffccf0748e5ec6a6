import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions } from '../../test/agent-service.js';
import { linesOf, recordsOf } from '../../test/stored.js';
import { makeLimits } from '../base/index.js';
import { replay } from '../commit/index.js';
import { createMemoryStore, MemoryDisk } from '../store/index.js';
import { agentsApplier } from './apply/applier.js';
import { pastRange } from './keys.js';

const counter = (statics: string) => `
  class Counter extends Agent {
    ${statics}
    state = { count: 0 };
    async onReceiveMessage(name, data) {
      switch (name) {
        case 'look': return String(this.state.count);
        case 'fail': this.state.count++; throw new Error('never');
        case 'later': this.setAlarm(0, { name: 'ring' }); return;
        case 'text': this.state.text = data; return;
        case 'twice': this.state.count++; await this.checkpoint(); this.state.count++; return;
        case 'nothing': this.state = {}; return;
        case 'without a page': return [(await agents.history(this.id, null)).length, (await agents.list(null)).length].join();
        case 'past': {
          const past = await agents.history(this.id, { limit: 2 });
          return past.map((one) => one.turn + ' ' + one.name).join(', ');
        }
      }
      return String(++this.state.count);
    }
    onAlarm() { this.state.count += 10; }
    onSuspend() { this.state.slept = true; }
  }
  agents.register(Counter);
`;
const FIVE = counter('static history = 5;');

let service: AgentService | undefined;
afterEach(() => service?.close());

async function open(code: string, options: ServiceOptions = {}): Promise<AgentService> {
  service = await agentService(code, [], options);
  return service;
}

/** The service with other code in its hosts; what was in memory is suspended. */
const reload = ({ agents, hosts, app }: AgentService, code: string) =>
  agents.swap(() => hosts.load({ ...app, bundle: app.next(code) }));

/** Keys that hold past states of an agent. */
async function keysOf({ store }: AgentService, id: string): Promise<number> {
  const snapshot = store.snapshot();
  const { keys } = await snapshot.range({ ...pastRange(id), keysOnly: true });
  snapshot.release();
  return keys.length;
}

const countOf = ({ state }: { state?: string }) => (JSON.parse(state ?? '{}') as { count?: number }).count;

describe('the history of a state', () => {
  it('tells newest first what each turn left, when, and what it was that changed it', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z');
    const clock = { wall: () => now, monotonic: () => performance.now() };
    const { agents } = await open(FIVE, { clock });
    const { id } = await agents.start('Counter');
    now += 1_000;
    await agents.send(id, 'add');
    await agents.send(id, 'look');
    await agents.send(id, 'fail').catch(() => undefined);
    await agents.send(id, 'later');
    await agents.clockMoved();
    await agents.swap(async () => undefined);
    expect(await agents.history(id)).toMatchObject([
      { turn: 5, kind: 'hook', name: 'onSuspend', state: '{"count":11,"slept":true}' },
      { turn: 4, kind: 'alarm', name: 'ring', state: '{"count":11}' },
      { turn: 2, kind: 'message', name: 'add', state: '{"count":1}', version: 1, at: '2030-01-01T00:00:01.000Z' },
      { turn: 1, kind: 'hook', name: 'onInitialize', state: '{"count":0}', at: '2030-01-01T00:00:00.000Z' },
    ]);
    expect(await agents.send(id, 'past')).toBe('5 onSuspend, 4 ring');
  });

  it('keeps the newest, and is read in pages', async () => {
    const { agents } = await open(FIVE);
    const { id } = await agents.start('Counter');
    for (let i = 0; i < 12; i++) await agents.send(id, 'add');
    expect((await agents.history(id)).map(countOf)).toEqual([12, 11, 10, 9, 8]);
    const first = await agents.history(id, { limit: 2 });
    expect(first.map(({ turn }) => turn)).toEqual([13, 12]);
    const rest = await agents.history(id, { before: first[1]?.turn });
    expect(rest.map(countOf)).toEqual([10, 9, 8]);
    expect(await agents.history(id, { before: rest[2]?.turn })).toEqual([]);
    expect(await agents.history(id, { before: 1 })).toEqual([]);
    for (const page of [{ limit: 0 }, { limit: 101 }, { limit: 1.5 }, { before: -1 }, { before: 'x' as never }]) {
      await expect(agents.history(id, page)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    }
    expect(await agents.send(id, 'without a page')).toBe('5,1');
    await expect(agents.history('agent_none')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });

  it('has both states of a turn with a checkpoint', async () => {
    const { agents } = await open(FIVE);
    const { id } = await agents.start('Counter');
    await agents.send(id, 'twice');
    expect(await agents.history(id)).toMatchObject([
      { turn: 3, name: 'twice', state: '{"count":2}' },
      { turn: 2, name: 'twice', state: '{"count":1}' },
      { turn: 1 },
    ]);
  });

  it('is none where the class keeps none, and costs no key', async () => {
    const opened = await open(counter(''));
    const { id } = await opened.agents.start('Counter');
    await opened.agents.send(id, 'add');
    expect(await opened.agents.history(id)).toEqual([]);
    expect(await keysOf(opened, id)).toBe(0);
  });

  it('goes bit by bit with the turns that follow, once the class keeps fewer, or none', async () => {
    const opened = await open(counter('static history = 60;'));
    const { agents } = opened;
    const { id } = await agents.start('Counter');
    for (let i = 0; i < 80; i++) await agents.send(id, 'add');
    expect(await keysOf(opened, id)).toBe(60);
    await reload(opened, counter('static history = 2;'));
    await agents.send(id, 'add');
    expect(await keysOf(opened, id)).toBeGreaterThan(50);
    for (let i = 0; i < 40; i++) await agents.send(id, 'add');
    expect((await agents.history(id)).map(countOf)).toEqual([121, 120]);
    await reload(opened, counter(''));
    for (let i = 0; i < 2; i++) await agents.send(id, 'add');
    expect(await agents.history(id)).toEqual([]);
    expect(await keysOf(opened, id)).toBe(0);
  });

  it('keeps a state as it was stored, with the version that it had', async () => {
    const opened = await open(FIVE);
    const { agents } = opened;
    const { id } = await agents.start('Counter');
    const migrated = 'static history = 5; static version = 2; static migrations = { 2: () => ({ count: 40 }) };';
    await reload(opened, counter(migrated));
    await agents.send(id, 'add');
    expect((await agents.history(id)).map(({ version, state }) => [version, state])).toEqual([
      [2, '{"count":41}'],
      [1, '{"count":0,"slept":true}'],
      [1, '{"count":0}'],
    ]);
  });

  it('is bounded by bytes, in what is kept and in what one page tells', async () => {
    const limits = { agentHistoryBytes: 100_000, agentStateBytes: 50_000 };
    const opened = await open(counter('static history = 1000;'), { limits });
    const { agents } = opened;
    const { id } = await agents.start('Counter');
    for (let i = 0; i < 30; i++) await agents.send(id, 'text', String(i).padEnd(9_000, '"'));
    const sizes = async () => (await agents.history(id, { limit: 100 })).map(({ state = '' }) => state.length);
    expect(await sizes()).toEqual(Array(3).fill(2 * 9_000 - 2 + 21)); // a fourth would pass agentStateBytes
    expect(await keysOf(opened, id)).toBeLessThan(5 * 15);
    await agents.send(id, 'text', 'x'.repeat(49_000));
    const { length } = await agents.history(id, { before: 32 });
    expect(length).toBe(2);
  });

  it('goes with the agent, and a replay of all records gives the same keys', async () => {
    const disk = new MemoryDisk();
    const opened = await open(FIVE, { store: createMemoryStore({ disk }) });
    const { agents, store } = opened;
    const [gone, kept] = await Promise.all([agents.start('Counter'), agents.start('Counter')]);
    for (let i = 0; i < 8; i++) {
      await Promise.all([agents.send(gone.id, 'text', 'x'.repeat(9_000 + i)), agents.send(kept.id, 'add')]);
    }
    expect(await keysOf(opened, gone.id)).toBe(15);
    await agents.stop(gone.id);
    expect(await agents.history(gone.id)).toEqual([]);
    await agents.clockMoved();
    expect(await keysOf(opened, gone.id)).toBe(0);
    expect(await keysOf(opened, kept.id)).toBe(5);
    const copy = createMemoryStore();
    const snapshot = store.snapshot();
    const records = await recordsOf(snapshot);
    snapshot.release();
    await replay(records, { store: copy, appliers: [agentsApplier(makeLimits())] });
    expect(await linesOf(copy, 'agents')).toEqual(await linesOf(store, 'agents'));
    await opened.close();
    const again = await open(FIVE, { store: createMemoryStore({ disk }) });
    expect((await again.agents.history(kept.id)).map(countOf)).toEqual([8, 8, 7, 6, 5]);
  });

  it('asks for a number that the limits allow', async () => {
    const opened = await open(counter('static history = 7;'), { limits: { agentHistory: 7 } });
    const { hosts, app } = opened;
    for (const given of ['8', '-1', '0.5', '"20"', 'null']) {
      const bundle = app.next(counter(`static history = ${given};`));
      await expect(hosts.load({ ...app, bundle })).rejects.toMatchObject({
        code: 'APP_LOAD',
        message: expect.stringContaining('static history of agent type Counter'),
        fix: expect.stringContaining('limits.agentHistory is 7'),
      });
    }
  });
});
