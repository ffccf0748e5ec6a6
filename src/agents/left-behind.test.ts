import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService } from '../../test/agent-service.js';

// What handlers leave behind when they return: timers, and promises that nobody awaits.

const CODE = `
  const gates = globalThis.gates = {};
  const behind = (name) => new Promise((open) => { gates[name] = open; });
  class Timed extends Agent {
    state = { count: 0 };
    async onReceiveMessage(name, data) {
      if (name === 'leave') {
        void behind(this.id).then(() => { this.state.count += 100; if (data === 'no JSON') this.state.odd = 1n; });
        if (data === 'and fail') throw new Error('left');
      }
      if (name === 'fail') throw new Error('failed');
      if (name === 'nothing') { this.state = undefined; return 'nothing'; }
      if (name === 'grow') this.state.text = 'x'.repeat(4_096);
      if (name === 'count') this.state.count++;
      return String(this.state.count);
    }
  }
  class Own extends Agent {
    count = 0;
    asked = 0;
    getState() { this.asked++; return JSON.stringify({ count: this.count }); }
    setState(text) { if (text) this.count = JSON.parse(text).count; }
    onReceiveMessage() { this.count++; return String(this.asked); }
  }
  const told = async (work) => { try { return await work(); } catch (error) { return error.code + ': ' + error.message; } };
  const instances = new Map();
  class Loose extends Agent {
    static handlers = ['leave', 'use', 'count'];
    state = { count: 0 };
    calls(other) {
      return {
        publishEvent: () => this.publishEvent('late'),
        'publishEvent live': () => this.publishEvent('late', {}, { live: true }),
        setAlarm: () => this.setAlarm(0, { name: 'count' }),
        cancelAlarm: () => this.cancelAlarm('kept'),
        getAlarms: () => this.getAlarms(),
        checkpoint: () => this.checkpoint(),
        sendMessageAsync: () => agents.sendMessageAsync(other, 'count'),
        sendMessage: () => agents.sendMessage(other, 'count'),
        'start with a key': () => agents.start('Loose', { key: 'late' }),
        start: () => agents.start('Loose'),
        stop: () => agents.stop(other),
      };
    }
    leave(what, other) {
      instances.set(this.id, this);
      const open = behind(this.id);
      this.setAlarm(4e12, { id: 'kept' });
      globalThis.late = open.then(() => told(this.calls(other)[what]));
    }
    use(what, id) { return told(instances.get(id).calls(this.id)[what]); }
    count() { return ++this.state.count; }
  }
  agents.register(Timed, Own, Loose);
  async function late() { return globalThis.late; }
  async function open(id) { gates[id](); delete gates[id]; await new Promise(setImmediate); }
`;

const services: AgentService[] = [];
async function open(): Promise<AgentService> {
  const service = await agentService(CODE, ['open', 'late']);
  services.push(service);
  return service;
}
afterEach(() => Promise.all(services.splice(0).map((service) => service.close())));

const told = ({ logs }: AgentService, text: string) => logs.filter(({ message }) => message.includes(text));

describe('a state that is changed between turns', () => {
  it('is stored with the next turn, and told of once, with the agent and what to do', async () => {
    const service = await open();
    const { agents } = service;
    const { id } = await agents.start('Timed');
    for (const count of ['101', '202']) {
      await agents.send(id, 'leave');
      await service.call('open', id);
      expect(await agents.send(id, 'count')).toBe(count);
    }
    const lines = told(service, 'between its turns');
    expect(lines).toMatchObject([{ level: 'warn', agentId: id, operation: 'count' }]);
    expect(lines[0]?.message).toContain(`agent ${id}`);
    expect(lines[0]?.message).toContain('await it in the handler');
  });

  it('is lost with the turn that fails, and was told of', async () => {
    const service = await open();
    const { agents } = service;
    const { id } = await agents.start('Timed');
    await agents.send(id, 'leave');
    await service.call('open', id);
    await expect(agents.send(id, 'fail')).rejects.toThrow('failed');
    expect(await agents.send(id, 'count')).toBe('1');
    expect(told(service, 'between its turns')).toHaveLength(1);
  });

  it.each(['a number', 'no JSON'])('is told of where nothing stores it any more: %s', async (what) => {
    const service = await open();
    const { agents, hosts, app } = service;
    const { id } = await agents.start('Timed');
    await agents.send(id, 'leave', what);
    await service.call('open', id);
    await agents.swap(() => hosts.load(app));
    await expect.poll(() => told(service, 'is lost')).toHaveLength(1);
    expect(told(service, 'is lost')[0]?.message).toContain(id);
    expect(await agents.send(id, 'count')).toBe('1');
  });

  it('cannot be touched on an instance whose turn did not count: what still runs is told', async () => {
    const service = await open();
    const { agents } = service;
    const { id } = await agents.start('Timed');
    await expect(agents.send(id, 'leave', 'and fail')).rejects.toThrow('left');
    await service.call('open', id);
    await expect.poll(() => told(service, 'it has left memory')).toHaveLength(1);
    expect(told(service, 'it has left memory')[0]?.message).toContain(`in "leave" of agent ${id}`);
    expect(await agents.send(id, 'count')).toBe('1');
  });

  it('of some size is looked at when it leaves memory alone', async () => {
    const service = await open();
    const { agents, hosts, app } = service;
    const { id } = await agents.start('Timed');
    await agents.send(id, 'grow');
    for (const look of ['between its turns', 'is lost']) {
      await agents.send(id, 'leave');
      await service.call('open', id);
      expect(told(service, look)).toEqual([]);
    }
    await agents.swap(() => hosts.load(app));
    await expect.poll(() => told(service, 'is lost')).toHaveLength(1);
    expect(told(service, 'between its turns')).toEqual([]);
  });

  it('is not looked for by a getState of the app, which is asked once a turn', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Own');
    for (const asked of ['1', '2', '3']) expect(await agents.send(id, 'count')).toBe(asked);
  });
});

it('a call that is made behind its turn is refused, and does nothing', async () => {
  const service = await open();
  const { agents } = service;
  const { id: other } = await agents.start('Loose');
  const own = ['publishEvent', 'publishEvent live', 'setAlarm', 'cancelAlarm', 'getAlarms', 'checkpoint'];
  for (const what of [...own, 'sendMessageAsync', 'sendMessage', 'start', 'start with a key', 'stop']) {
    const { id } = await agents.start('Loose');
    await agents.send(id, 'leave', JSON.stringify([what, other]), { typed: true });
    await service.call('open', id);
    const refused = await service.call('late');
    expect([what, refused]).toEqual([what, expect.stringMatching(/^INVALID_REQUEST: .* came after its turn/)]);
    expect(await agents.alarms(id)).toMatchObject([{ id: 'kept' }]);
  }
  expect(await agents.list({ name: 'Loose' })).toHaveLength(12);
  expect(await agents.send(other, 'count')).toBe('1');
});

it('a call on the instance of another agent is refused in a turn, and does nothing', async () => {
  const { agents } = await open();
  const [{ id }, { id: other }] = [await agents.start('Loose'), await agents.start('Loose')];
  await agents.send(id, 'leave', JSON.stringify(['setAlarm', other]), { typed: true });
  for (const what of ['publishEvent', 'setAlarm', 'cancelAlarm', 'getAlarms', 'checkpoint']) {
    const told = await agents.send(other, 'use', JSON.stringify([what, id]), { typed: true });
    expect(told).toContain(`INVALID_REQUEST: ${what} of agent ${id} outside of its own turn`);
  }
  expect(await agents.alarms(id)).toMatchObject([{ id: 'kept' }]);
  expect(await agents.alarms(other)).toEqual([]);
});

it('a state of undefined fails its turn', async () => {
  const { agents } = await open();
  const { id } = await agents.start('Timed');
  await agents.send(id, 'count');
  const refusal = { code: 'AGENT_STATE', message: expect.stringContaining('state is undefined') };
  await expect(agents.send(id, 'nothing')).rejects.toMatchObject({ ...refusal, details: { statePath: 'state' } });
  expect(await agents.send(id, 'count')).toBe('2');
});

it('an agent that was stopped leaves no instance in its host', async () => {
  const service = await open();
  const { agents } = service;
  const { id } = await agents.start('Timed');
  await agents.send(id, 'leave');
  await agents.stop(id);
  await service.call('open', id);
  await expect.poll(() => told(service, 'it has left memory')).toHaveLength(1);
});
