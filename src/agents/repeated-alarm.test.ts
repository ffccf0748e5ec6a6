import { afterEach, describe, expect, it } from 'vitest';
import { bound } from '../../test/stored.js';
import { type AgentService, agentService, type ServiceOptions } from '../../test/agent-service.js';
import { createMemoryStore } from '../store/index.js';

const CODE = `
  class Clock extends Agent {
    state = { rang: 0, said: [] };
    async onReceiveMessage(name, data) {
      switch (name) {
        case 'set': this.setAlarm(Number(data), { name: 'tick', data: 'x', every: 60_000 }); return;
        case 'shaky': this.setAlarm(Number(data), { name: 'shaky', every: 5_000 }); return;
        case 'shake': globalThis.shaken = data === 'on'; return;
        case 'bad': this.setAlarm(0, { name: 'bad', every: 60_000 }); return;
        case 'badly': this.setAlarm('@hourly', { name: 'bad' }); return;
        case 'short': this.setAlarm(0, { name: 'tick', every: 999 }); return;
        case 'wrong': this.setAlarm(0, { name: 'tick', every: 0.5 }); return;
        case 'until': this.setAlarm(0, { name: 'tick', data: 'until ' + data, every: 60_000 }); return;
        case 'cron': this.setAlarm(data, { name: 'tick', zone: 'Europe/Berlin' }); return JSON.stringify(await this.getAlarms());
        case 'both': this.setAlarm('@daily', { every: 60_000 }); return;
        case 'zone': this.setAlarm(0, { zone: 'UTC' }); return;
        case 'rang': return String(this.state.rang);
      }
      return super.onReceiveMessage(name, data);
    }
    onAlarm(name, data) {
      if (name === 'bad') throw new Error('it never works');
      if (name === 'shaky' && globalThis.shaken) throw new Error('not now');
      this.state.rang++;
      if (data === 'until ' + this.state.rang) this.cancelAlarm('tick');
    }
  }
  agents.register(Clock);
`;
const MINUTE = 60_000;

let service: AgentService | undefined;
let now = 0;
afterEach(() => service?.close());

async function open(options: ServiceOptions = {}) {
  now = 1_000 * MINUTE;
  const clock = { wall: () => now, monotonic: () => performance.now() };
  service = await agentService(CODE, [], { clock, ...options });
  return service;
}

describe('an alarm that repeats', () => {
  async function begun(message: string, data: string, options: ServiceOptions = {}) {
    const { agents } = await open(options);
    const { id } = await agents.start('Clock');
    await agents.send(id, message, data);
    const rangAfter = async (ms: number) => {
      now += ms;
      await agents.clockMoved();
      return Number(await agents.send(id, 'rang'));
    };
    return { agents, id, rangAfter };
  }

  it('rings each round, from its first time on', async () => {
    const { rangAfter } = await begun('set', String(1_002 * MINUTE));
    expect(await rangAfter(MINUTE)).toBe(0);
    expect(await rangAfter(MINUTE)).toBe(1);
    expect(await rangAfter(MINUTE - 1)).toBe(1);
    expect(await rangAfter(1)).toBe(2);
  });

  it('rings once for the rounds that were missed, and then where it would have', async () => {
    const { rangAfter } = await begun('set', String(1_001 * MINUTE));
    expect(await rangAfter(10.5 * MINUTE)).toBe(1);
    expect(await rangAfter(MINUTE / 2 - 1)).toBe(1);
    expect(await rangAfter(1)).toBe(2);
  });

  it('rings on after a round that failed for good', async () => {
    const { agents, id, rangAfter } = await begun('bad', '', { limits: { messageAttempts: 1 } });
    await rangAfter(1);
    await rangAfter(MINUTE);
    expect(await agents.deadLetters(id)).toMatchObject([{ name: 'bad' }, { name: 'bad' }]);
  });

  it('ends when it is taken back', async () => {
    const { rangAfter } = await begun('until', '2');
    await rangAfter(1);
    expect([await rangAfter(MINUTE), await rangAfter(MINUTE), await rangAfter(MINUTE)]).toEqual([2, 2, 2]);
  });

  it('rings on after a restart', async () => {
    const store = { ...bound(createMemoryStore()), close: async () => undefined };
    const { id, rangAfter } = await begun('set', String(1_001 * MINUTE), { store });
    expect(await rangAfter(MINUTE)).toBe(1);
    await service?.close();
    const second = await open({ store });
    now += 3 * MINUTE;
    await second.agents.clockMoved();
    expect(await second.agents.send(id, 'rang')).toBe('2');
  });

  it('rings on by its interval where the clock stood ahead for a round and is set back', async () => {
    const { rangAfter } = await begun('set', String(1_001 * MINUTE));
    expect(await rangAfter(1_440.5 * MINUTE)).toBe(1);
    // once for what the step back left out, and then where it would have
    expect(await rangAfter(-1_430 * MINUTE)).toBe(2);
    expect(await rangAfter(MINUTE / 2 - 1)).toBe(2);
    expect(await rangAfter(1)).toBe(3);
    expect(await rangAfter(MINUTE)).toBe(4);
  });

  it('is tried again at once where its round failed while the clock stood ahead, by less than a pause too', async () => {
    const store = { ...bound(createMemoryStore()), close: async () => undefined };
    const { agents, id, rangAfter } = await begun('shaky', String(1_000 * MINUTE + 20_000), { store });
    expect(await rangAfter(20_000)).toBe(1);
    await agents.send(id, 'shake', 'on');
    expect(await rangAfter(5_000)).toBe(1);
    expect(await agents.alarms(id)).toMatchObject([{ attempts: 1 }]);
    await service?.close();
    const second = await open({ store });
    await second.agents.clockMoved();
    expect(await second.agents.send(id, 'rang')).toBe('2');
  });

  it('rings on where the clock was set back before a restart', async () => {
    const store = { ...bound(createMemoryStore()), close: async () => undefined };
    const { id, rangAfter } = await begun('set', String(1_001 * MINUTE), { store });
    expect(await rangAfter(1_440 * MINUTE)).toBe(1);
    await service?.close();
    const { agents } = await open({ store });
    await agents.clockMoved();
    expect(await agents.send(id, 'rang')).toBe('2');
  });

  it('waits for a first time far away wherever the clock is set', async () => {
    const { agents, id, rangAfter } = await begun('set', String(2_000 * MINUTE));
    expect([await rangAfter(10 * MINUTE), await rangAfter(-10 * MINUTE)]).toEqual([0, 0]);
    expect(await agents.alarms(id)).toMatchObject([{ at: new Date(2_000 * MINUTE).toISOString() }]);
    expect([await rangAfter(1_000 * MINUTE), await rangAfter(MINUTE)]).toEqual([1, 2]);
  });

  it('is refused with an interval that is too short, or none', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Clock');
    await expect(agents.send(id, 'short')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      fix: expect.stringContaining('limits.alarmEveryMs is 1000'),
    });
    await expect(agents.send(id, 'wrong')).rejects.toMatchObject({ code: 'INVALID_VALUE' });
  });
});

describe('an alarm by a calendar', () => {
  const DAY = 1_440 * MINUTE;
  const EACH_MORNING = { id: 'tick', name: 'tick', cron: '0 9 * * *', zone: 'Europe/Berlin', attempts: 0 };

  /** Host processes have the machine's own clock: the first time is told by it. */
  async function begun(options: ServiceOptions = {}) {
    const { agents } = await open(options);
    const { id } = await agents.start('Clock');
    const set = JSON.parse((await agents.send(id, 'cron', '0 9 * * *')) ?? '');
    const alarms = await agents.alarms(id);
    const rangAt = async (ms: number) => {
      now = ms;
      await agents.clockMoved();
      return Number(await agents.send(id, 'rang'));
    };
    return { agents, id, set, alarms, first: Date.parse(alarms[0].at), rangAt };
  }

  /** What its clocks show at that time. */
  const inBerlin = (at: string) => new Date(at).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin' });

  it('rings at its times, and tells the next', async () => {
    const { agents, id, set, alarms, first, rangAt } = await begun();
    expect(set).toEqual(alarms);
    expect(alarms).toEqual([{ ...EACH_MORNING, at: expect.any(String) }]);
    expect(inBerlin(alarms[0].at)).toBe('09:00:00');
    expect([await rangAt(first - 1), await rangAt(first)]).toEqual([0, 1]);
    const [next] = await agents.alarms(id);
    expect(next).toEqual({ ...EACH_MORNING, at: expect.any(String) });
    expect(inBerlin(next.at)).toBe('09:00:00');
    expect([await rangAt(Date.parse(next.at) - 1), await rangAt(Date.parse(next.at))]).toEqual([1, 2]);
  });

  it('rings once for the times that were missed, after a restart too', async () => {
    const store = { ...bound(createMemoryStore()), close: async () => undefined };
    const { id, first } = await begun({ store });
    await service?.close();
    const { agents } = await open({ store });
    now = first + 10.5 * DAY;
    await agents.clockMoved();
    expect(await agents.send(id, 'rang')).toBe('1');
    const [{ at }] = await agents.alarms(id);
    expect(inBerlin(at)).toBe('09:00:00');
    expect(Date.parse(at) - now).toBeLessThan(DAY);
  });

  it('rings on after a clock that stood ahead', async () => {
    const { agents, id, first, rangAt } = await begun();
    expect(await rangAt(first + 365 * DAY)).toBe(1);
    expect(await rangAt(first + DAY / 2)).toBe(2);
    const [{ at }] = await agents.alarms(id);
    expect(Date.parse(at) - now).toBeLessThan(DAY);
  });

  it('rings on after a round that failed for good', async () => {
    const { agents } = await open({ limits: { messageAttempts: 1 } });
    const { id } = await agents.start('Clock');
    await agents.send(id, 'badly');
    const [{ at }] = await agents.alarms(id);
    now = Date.parse(at);
    await agents.clockMoved();
    expect(await agents.deadLetters(id)).toMatchObject([{ name: 'bad' }]);
    expect(await agents.alarms(id)).toMatchObject([{ name: 'bad', at: new Date(now + 60 * MINUTE).toISOString() }]);
  });

  it('is refused beside an interval, where it is no expression of cron, and a zone without one', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Clock');
    for (const message of ['both', 'zone']) {
      await expect(agents.send(id, message)).rejects.toMatchObject({ code: 'INVALID_VALUE', fix: expect.any(String) });
    }
    await expect(agents.send(id, 'cron', 'each morning')).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: expect.stringContaining('"each morning" is no expression of cron'),
    });
    expect(await agents.alarms(id)).toEqual([]);
  });
});
