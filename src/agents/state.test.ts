import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService } from '../../test/agent-service.js';

const CODE = `
  const lossy = { date: () => new Date(0), map: () => new Map(), bigint: () => 1n, method: () => () => 1 };
  class Table extends Agent {
    state = { seats: [{ taken: false }] };
    async onReceiveMessage(name, data) {
      if (name === 'seats') return JSON.stringify(this.state);
      if (name === 'take') this.state.seats[0].taken = true;
      if (name in lossy) {
        this.publishEvent('never', {});
        this.state.seats[0] = { taken: true, by: lossy[name]() };
      }
      if (name === 'optional') this.state.seats[0].by = undefined;
      if (name === 'takeText') this.setState('on|2');
      if (name === 'mended') {
        this.state.seats[0].by = new Set();
        await this.checkpoint().catch(() => { this.state.seats[0].by = 'ann'; });
      }
    }
  }
  class Clock extends Agent {
    state = new Date(1000);
    getState() { return this.state.toISOString(); }
    setState(text) { if (text) this.state = new Date(text); }
    onReceiveMessage() { return String(this.state.getTime()); }
  }
  class Board extends Agent {
    static handlers = ['read', 'peek', 'turnOver', 'turnOverAndBack', 'add'];
    static readOnly = ['read', 'peek', 'turnOver', 'turnOverAndBack'];
    state = { cards: ['down', 'down'] };
    onResume() { this.state.cards.push('back'); }
    add(card) { return this.state.cards.push(card); }
    read() { return this.state.cards; }
    async peek() {
      await new Promise(setImmediate);
      return this.state.cards;
    }
    async turnOver(i) {
      this.state.cards[i] = 'up';
      await new Promise(setImmediate);
    }
    turnOverAndBack(i) {
      this.state.cards[i] = 'up';
      this.state.cards[i] = 'down';
    }
  }
  class Stamped extends Agent {
    static readOnly = ['read'];
    getState() { return JSON.stringify({ ...this.state, at: Math.random() }); }
    onReceiveMessage() { return 'read'; }
  }
  agents.register(Board, Stamped);
  class Kid extends Agent {
    static readOnly = ['age', 'grow'];
    state = { age: 0 };
    async onInitialize() {
      await new Promise((done) => setTimeout(done, 200));
      this.state.age = 1;
    }
    onReceiveMessage(name) {
      if (name === 'grow') this.state.age = 99;
      return String(this.state.age);
    }
  }
  class Parent extends Agent { async onReceiveMessage() { return (await agents.start('Kid')).id; } }
  agents.register(Kid, Parent);
  class Bare extends Agent { getState() { return null; } onReceiveMessage() { return 'here'; } }
  agents.register(Bare);
  class Slow extends Agent { async getState() { return '{}'; } }
  agents.register(Slow);
  class Never extends Agent { state = { at: new Date(0) }; }
  agents.register(Table, Clock, Never);
`;

let service: AgentService;
beforeEach(async () => {
  service = await agentService(CODE);
});
afterEach(() => service.close());

describe('a state that JSON does not give back', () => {
  it('fails its turn with the place, and nothing of it stays', async () => {
    const { agents } = service;
    const { id } = await agents.start('Table');
    const statePath = 'state.seats[0].by';
    for (const name of ['date', 'map', 'bigint', 'method']) {
      const refusal = { code: 'AGENT_STATE', message: expect.stringContaining(statePath), details: { statePath } };
      await expect(agents.send(id, name)).rejects.toMatchObject(refusal);
      expect(await agents.send(id, 'seats')).toBe('{"seats":[{"taken":false}]}');
    }
    expect(JSON.parse((await agents.inspect(id)).state!)).toEqual({ seats: [{ taken: false }] });
    await expect(agents.start('Never')).rejects.toMatchObject({
      code: 'AGENT_STATE',
      details: { statePath: 'state.at' },
    });
    expect(await agents.list({ name: 'Never' })).toEqual([]);
  });

  it('may be mended, may leave a field undefined, and may be text of its own', async () => {
    const { agents } = service;
    const { id } = await agents.start('Table');
    await agents.send(id, 'optional');
    await agents.send(id, 'mended');
    expect(await agents.send(id, 'seats')).toBe('{"seats":[{"taken":false,"by":"ann"}]}');
    const clock = await agents.start('Clock');
    expect(await agents.send(clock.id, 'now')).toBe('1000');
    const refusal = { code: 'AGENT_STATE', message: expect.stringContaining('gave a promise, not text') };
    await expect(agents.start('Slow')).rejects.toMatchObject(refusal);
    const bare = await agents.start('Bare');
    expect(await agents.send(bare.id, 'ask')).toBe('here');
    expect((await agents.inspect(bare.id)).state ?? '').toBe('');
    const unread = { code: 'AGENT_STATE', message: expect.stringContaining(`the state of agent ${id} is no JSON`) };
    await expect(agents.send(id, 'takeText')).rejects.toMatchObject(unread);
  });
});

describe('a read-only handler that changes its state', () => {
  it('fails and is named; those beside it are answered, and none of them sees the change', async () => {
    const { agents } = service;
    const { id } = await agents.start('Board');
    const cards = '["down","down"]';
    const told = await Promise.allSettled([
      agents.send(id, 'read'),
      agents.send(id, 'turnOver', '0'),
      agents.send(id, 'peek'),
      agents.send(id, 'turnOver', '1'),
      agents.send(id, 'read'),
    ]);
    const refused = {
      status: 'rejected',
      reason: {
        code: 'INVALID_REQUEST',
        message: 'a change of the state in the read-only handler "turnOver"',
        fix: expect.stringContaining('static readOnly'),
      },
    };
    const answered = { status: 'fulfilled', value: cards };
    expect(told).toMatchObject([answered, refused, answered, refused, answered]);
    expect(await agents.send(id, 'read')).toBe(cards);
  });

  it('runs on the stored state without onResume, and leaves the agent in memory as it is', async () => {
    const { agents } = service;
    const { id } = await agents.start('Board');
    expect(await agents.send(id, 'add', '3')).toBe('3');
    await expect(agents.send(id, 'turnOver', '0')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await agents.send(id, 'add', '4')).toBe('4');
    expect(await agents.send(id, 'read')).toBe('["down","down",3,4]');
  });

  it('may take its change back, and may write the same state in another way', async () => {
    const { agents } = service;
    const { id } = await agents.start('Board');
    await agents.send(id, 'turnOverAndBack', '0');
    const stamped = await agents.start('Stamped');
    expect(await agents.send(stamped.id, 'read')).toBe('read');
  });

  it('waits for an agent that another one has started, as other messages do', async () => {
    const { agents } = service;
    const { id } = await agents.start('Parent');
    const kid = (await agents.send(id, 'have')) as string;
    const told = await Promise.allSettled([agents.send(kid, 'age'), agents.send(kid, 'grow')]);
    expect(told).toMatchObject([{ value: '1' }, { reason: { code: 'INVALID_REQUEST' } }]);
    expect(await agents.send(kid, 'age')).toBe('1');
  });
});
