import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions } from '../../test/agent-service.js';

const CODE = `
  class Clock extends Agent {
    static handlers = ['set', 'cancel', 'replace', 'change', 'kept', 'listed', 'seen', 'other'];
    static readOnly = ['listed', 'seen'];
    state = { atStart: undefined, atAlarm: undefined };
    async onInitialize() {
      this.setAlarm(5_000, { name: 'first' });
      this.state.atStart = await this.getAlarms();
    }
    set(at, options) { this.setAlarm(at, options); }
    replace(id, other) {
      this.setAlarm(8_000, { name: other });
      this.cancelAlarm(id);
    }
    cancel(id) { this.cancelAlarm(id); }
    async change() {
      this.setAlarm(7_000, { name: 'new', data: 'x' });
      this.setAlarm(9_000, { name: 'first' });
      this.cancelAlarm('gone');
      return [await this.getAlarms(), await agents.alarms(this.id)];
    }
    async kept() {
      this.setAlarm(6_000, { name: 'early' });
      await this.checkpoint();
      this.cancelAlarm('early');
      return this.getAlarms();
    }
    listed() { return this.getAlarms(); }
    seen() { return this.state; }
    other(id) { return agents.alarms(id); }
    async onAlarm(name, data) {
      if (name === 'fails') throw new Error('not yet');
      if (name === 'moves' || name === 'drops') {
        this.state.tries = [...(this.state.tries ?? []), [data, this.attempt]];
        if (name === 'moves') this.setAlarm(90_000, { name }); else this.cancelAlarm(name);
        await this.checkpoint();
        if (this.attempt < 3) throw new Error('behind the checkpoint');
      }
      if (name === 'again') this.setAlarm(90_000, { name });
      this.state.atAlarm = await this.getAlarms();
    }
  }
  agents.register(Clock);
  async function alarmsOf(id) { return agents.alarms(id); }
  async function ask(id, name, ...args) { return agents.ref(Clock, id)[name](...args); }
`;

let service: AgentService | undefined;
let now = 0;
afterEach(() => service?.close());

async function open(limits: ServiceOptions['limits'] = {}) {
  now = 1_000;
  const clock = { wall: () => now, monotonic: () => performance.now() };
  const opened = await agentService(CODE, ['alarmsOf', 'ask'], { clock, limits });
  service = opened;
  const { id } = await opened.agents.start('Clock');
  const ask = (name: string, ...args: unknown[]) => opened.call('ask', id, name, ...args);
  const reach = async (ms: number) => {
    now = ms;
    await opened.agents.clockMoved();
  };
  return { ...opened, id, ask, reach };
}

const at = (ms: number) => new Date(ms).toISOString();
const FIRST = { id: 'first', name: 'first', at: at(5_000), attempts: 0 };

describe('the alarms of an agent', () => {
  it('are told to functions, to itself and to other agents, soonest first', async () => {
    const { id, ask, agents, call } = await open();
    await ask('set', 3_000, { id: 'soon', name: 'look', data: '{}', every: 2_000 });
    const all = [{ id: 'soon', name: 'look', at: at(3_000), data: '{}', every: 2_000, attempts: 0 }, FIRST];
    expect(await call('alarmsOf', id)).toEqual(all);
    expect(await ask('listed')).toEqual(all);
    const { id: another } = await agents.start('Clock');
    expect(await call('ask', another, 'other', id)).toEqual(all);
    expect(await agents.info(id)).toMatchObject({ alarms: 2 });
    expect(await agents.inspect(id)).toMatchObject({ alarms: all });
    await expect(call('alarmsOf', 'agent_none')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });

  it('are in a turn as the turn has set them, from its first one on', async () => {
    const { id, ask, call } = await open();
    expect(await ask('seen')).toEqual({ atStart: [FIRST] });
    await ask('set', 2_000, { name: 'gone' });
    const changed = [
      { id: 'new', name: 'new', at: at(7_000), data: 'x', attempts: 0 },
      { ...FIRST, at: at(9_000) },
    ];
    expect(await ask('change')).toEqual([changed, changed]);
    expect(await call('alarmsOf', id)).toEqual(changed);
    expect(await ask('kept')).toEqual(changed);
  });

  it('hold the one that rings only where it rings again', async () => {
    const { id, ask, call, reach } = await open();
    await reach(5_000);
    expect(await ask('seen')).toEqual({ atStart: [FIRST], atAlarm: [] });
    await ask('set', 10_000, { name: 'round', every: 1_000 });
    await reach(12_500);
    const round = { id: 'round', name: 'round', at: at(13_000), every: 1_000, attempts: 0 };
    expect(await ask('seen')).toMatchObject({ atAlarm: [round] });
    expect(await call('alarmsOf', id)).toEqual([round]);
    await ask('cancel', 'round');
    await ask('set', 20_000, { name: 'again' });
    await reach(20_000);
    const again = { id: 'again', name: 'again', at: at(90_000), attempts: 0 };
    expect(await ask('seen')).toMatchObject({ atAlarm: [again] });
  });

  it.each([
    ['moves', [{ id: 'moves', name: 'moves', at: at(90_000), attempts: 0 }]],
    ['drops', []],
  ])('are tried again where their round %s them with a checkpoint and fails behind it', async (name, left) => {
    const { id, ask, agents, reach } = await open();
    await ask('cancel', 'first');
    await ask('set', 2_000, { name, data: 'x' });
    await reach(2_000);
    expect(await ask('listed')).toEqual(left);
    expect(await agents.inspect(id)).toMatchObject({
      waiting: [{ name, attempts: 1, error: 'behind the checkpoint' }],
    });
    await reach(3_000);
    await reach(4_000);
    expect(await ask('seen')).toMatchObject({ tries: [1, 2, 3].map((attempt) => ['x', attempt]), atAlarm: left });
    expect(await agents.info(id)).toMatchObject({ waiting: 0, deadLetters: 0, alarms: left.length });
  });

  it('say how often the round that is due has failed', async () => {
    const { id, ask, call, reach } = await open();
    await ask('cancel', 'first');
    await ask('set', 2_000, { name: 'fails' });
    await reach(2_000);
    expect(await call('alarmsOf', id)).toMatchObject([{ id: 'fails', at: at(2_000), attempts: 1 }]);
  });

  it('are none of one that was stopped', async () => {
    const { id, agents, call } = await open();
    await agents.stop(id);
    expect(await call('alarmsOf', id)).toEqual([]);
    expect(await agents.inspect(id)).toMatchObject({ info: { alarms: 0 }, alarms: [] });
  });

  it('are held to what fits an entry and a time', async () => {
    const { id, ask, call } = await open();
    const tooLong = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('alarm "xxx') };
    await expect(ask('set', 2_000, { id: 'x'.repeat(513) })).rejects.toMatchObject(tooLong);
    const tooMuch = {
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(/"look" of agent \S+ holds 40\d\d bytes/),
    };
    await expect(ask('set', 2_000, { name: 'look', data: 'x'.repeat(4_000) })).rejects.toMatchObject(tooMuch);
    const noTime = { code: 'INVALID_VALUE', fix: expect.stringContaining('a hundred years') };
    await expect(ask('set', 2_000, { every: Number.MAX_SAFE_INTEGER })).rejects.toMatchObject(noTime);
    expect(await call('alarmsOf', id)).toEqual([FIRST]);
  });

  it('ring at whole milliseconds, and at once where their time was before there were any', async () => {
    const { id, ask, call, reach } = await open();
    await ask('set', 2_000.9, { name: 'part' });
    await ask('set', -1, { name: 'before' });
    const at = (ms: number) => new Date(ms).toISOString();
    expect(await call('alarmsOf', id)).toMatchObject([
      { id: 'before', at: at(0) },
      { id: 'part', at: at(2_000) },
      FIRST,
    ]);
    await reach(2_000);
    expect(await ask('listed')).toMatchObject([FIRST]);
  });

  it('keep count of their tries, however large they are', async () => {
    const { id, ask, call, reach } = await open();
    await ask('cancel', 'first');
    const set = (bytes: number): Promise<unknown> =>
      ask('set', 2_000, { name: 'fails', data: 'x'.repeat(bytes) }).catch(() => set(bytes - 20));
    await set(3_900);
    await reach(2_000);
    expect(await call('alarmsOf', id)).toMatchObject([{ attempts: 1 }]);
  });
});

it('an agent with as many alarms as it may have sets one in place of another in one turn', async () => {
  const { id, ask, agents } = await open({ alarmsPerAgent: 1 });
  await ask('replace', 'first', 'second');
  expect((await agents.alarms(id)).map(({ name }) => name)).toEqual(['second']);
  await expect(ask('set', 9_000, { name: 'third' })).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
});
