import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions, until } from '../../test/agent-service.js';
import { linesOf, recordsOf } from '../../test/stored.js';
import { makeLimits } from '../base/index.js';
import { replay } from '../commit/index.js';
import { createMemoryStore } from '../store/index.js';
import { agentsApplier } from './apply/applier.js';
import { keyedAgentId } from './agent-id.js';

const CODE = `
  class Cart extends Agent {
    static handlers = ['whose', 'put', 'content'];
    state = { begun: 0, key: '', content: [] };
    onInitialize() {
      this.state.begun++;
      this.state.key = this.key;
      if (globalThis.broken) throw new Error('no paper');
    }
    whose() { return [this.key, this.state.key, this.state.begun]; }
    put(what) { this.state.content.push(what); }
    onReceiveMessage(name, data) {
      if (name !== 'keep') return super.onReceiveMessage(name, data);
      for (let i = 0; i < 300; i++) this.setAlarm(Date.now() + 1e9, { name: 'a' + i });
    }
    content() { return this.state.content; }
  }
  const wait = () => new Promise((done) => (globalThis.go = done));
  async function putSlowly(key) {
    const { id } = await agents.start(Cart, { key });
    await agents.refAsync(Cart, id).put('slow');
    if (!globalThis.waited) {
      globalThis.waited = true;
      await wait();
    }
    return id;
  }
  class Shelf extends Agent {
    static agentName = 'cart';
  }
  class Slow extends Agent {
    onInitialize() { return wait(); }
  }
  class Host extends Agent {
    static handlers = ['visit'];
    state = { visits: 0 };
    onTerminate() { return wait(); }
    visit() { return ++this.state.visits; }
  }
  class Clerk extends Agent {
    onSuspend() { this.publishEvent('left', {}); }
    async onReceiveMessage(name, data) {
      if (name === 'wait') return wait();
      if (name === 'hire') return (await agents.start(Clerk, { key: data })).id;
      if (name === 'putSlowly') return putSlowly(data);
      if (name === 'ask' || name === 'ask too early') {
        const { id } = await agents.start(Cart, { key: data });
        if (name === 'ask') await this.checkpoint();
        return (await agents.ref(Cart, id).whose()).join();
      }
      if (name === 'restart') {
        await agents.stop(agents.idOf(Cart, data));
        return (await agents.start(Cart, { key: data })).id;
      }
      if (name === 'beginAnew') {
        await agents.stop(this.id);
        await this.checkpoint();
        return (await agents.start(Clerk, { key: this.key })).id;
      }
      if (name === 'startOnce') return (await agents.start(Cart, { idempotencyKey: data })).id;
      if (name === 'putOnce') return agents.refAsync(Cart, data, { idempotencyKey: 'once' }).put('tea');
      const { id } = await agents.start(Cart, { key: data });
      await agents.start(Cart, { key: data });
      await agents.refAsync(Cart, id).put(name);
      return id;
    }
  }
  agents.register(Cart, Shelf, Slow, Host, Clerk);
  async function cartOf(key) { return agents.start('Cart', { key }); }
  async function shelfOf(key) { return (await agents.start(Shelf, { key })).id; }
  async function clerkOf(key) { return (await agents.start('Clerk', { key })).id; }
  function waits() { return globalThis.go !== undefined; }
  function goOn() { globalThis.go(); globalThis.go = undefined; }
  function idOf(key) { return agents.idOf(Cart, key); }
  function breaks(broken) { globalThis.broken = broken; }
  async function whose(id) { return agents.ref(Cart, id).whose(); }
  async function putInTransaction(key) { return graph.transaction(() => putSlowly(key)); }
  async function restart(key) {
    return graph.transaction(async () => {
      await agents.stop(agents.idOf(Cart, key));
      return agents.start(Cart, { key });
    });
  }
  async function stopFirst(key, inTransaction) {
    const host = agents.idOf(Host, key);
    await graph.transaction(() => agents.stop(host));
    const begin = async () => {
      const { id } = await agents.start(Host, { key });
      await agents.refAsync(Host, id).visit();
      return id;
    };
    return inTransaction ? graph.transaction(begin) : begin();
  }
  async function hostOf(key) { return (await agents.start(Host, { key })).id; }
  async function content(id) { return agents.ref(Cart, id).content(); }
`;
const EXPORTS = [
  'cartOf',
  'shelfOf',
  'clerkOf',
  'waits',
  'goOn',
  'idOf',
  'breaks',
  'whose',
  'content',
  'putInTransaction',
  'restart',
  'stopFirst',
  'hostOf',
];

let service: AgentService;
async function open(options: ServiceOptions = {}): Promise<AgentService> {
  service = await agentService(CODE, EXPORTS, options);
  return service;
}
afterEach(() => service.close());

describe('agents started by a key', () => {
  it('are one for each type and key, whoever starts them at once', async () => {
    const { agents, call } = await open();
    const clerks = await Promise.all(Array.from({ length: 8 }, () => agents.start('Clerk')));
    const starts = clerks.map(({ id }, i) => agents.send(id, `from ${i}`, 'ann'));
    const own = Array.from({ length: 4 }, () => agents.start('Cart', { key: 'ann' }).then(({ id }) => id));
    const ids = new Set(await Promise.all([...own, ...starts]));
    const id = (await call('idOf', 'ann')) as string;
    expect([...ids]).toEqual([id]);
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
    await until(async () => ((await call('content', id)) as unknown[]).length === 8);
    expect(await agents.info(id)).toMatchObject({ id, name: 'Cart', key: 'ann' });
    await agents.swap(async () => undefined);
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
    expect(await call('cartOf', 'ann')).toMatchObject({ id, key: 'ann' });
    const others = [await call('shelfOf', 'ann'), ((await call('cartOf', 'bob')) as { id: string }).id];
    expect(new Set([id, ...others]).size).toBe(3);
  });

  it('leave their key free where they could not begin, and once they were stopped', async () => {
    const { agents, call } = await open();
    await call('breaks', true);
    await expect(Promise.all([call('cartOf', 'ann'), call('cartOf', 'ann')])).rejects.toThrow('no paper');
    await call('breaks', false);
    const { id } = (await call('cartOf', 'ann')) as { id: string };
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
    await agents.stop(id);
    await expect(call('whose', id)).rejects.toMatchObject({ code: 'AGENT_TERMINATED', details: { agentId: id } });
    await call('breaks', true);
    await expect(call('cartOf', 'ann')).rejects.toThrow('no paper');
    expect(await agents.info(id)).toMatchObject({ status: 'terminated' });
    await call('breaks', false);
    expect(await Promise.all([call('cartOf', 'ann'), call('cartOf', 'ann')])).toMatchObject([{ id }, { id }]);
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
  });

  it('begin anew for a start that waited while they were stopped', async () => {
    const { agents, call } = await open();
    const starts = [agents.start('Slow', { key: 'ann' }), agents.start('Slow', { key: 'ann' })];
    const id = keyedAgentId('Slow', 'ann');
    await until(async () => (await call('waits')) === true);
    const stopped = agents.stop(id);
    await call('goOn');
    await stopped;
    await until(async () => (await call('waits')) === true);
    await call('goOn');
    expect((await Promise.all(starts)).map((one) => one.id)).toEqual([id, id]);
    expect(await agents.info(id)).toMatchObject({ turns: 3 });
  });

  it.each(['turn', 'transaction'])(
    'begin anew where they were stopped while the %s that starts them was under way',
    async (where) => {
      const { agents, call } = await open({ schema: 'name: string .' });
      const { id } = (await call('cartOf', 'ann')) as { id: string };
      const clerk = await agents.start('Clerk');
      const put = where === 'turn' ? agents.send(clerk.id, 'putSlowly', 'ann') : call('putInTransaction', 'ann');
      await until(async () => (await call('waits')) === true);
      await agents.stop(id);
      await call('goOn');
      expect(await put).toBe(id);
      expect(await agents.info(id)).not.toMatchObject({ status: 'terminated' });
      await agents.clockMoved();
      expect(await call('content', id)).toEqual(['slow']);
    },
  );

  it('are there behind a checkpoint of the turn that starts them, and not before it', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Clerk');
    const tooEarly = { code: 'AGENT_UNKNOWN', fix: expect.stringContaining('this.checkpoint()') };
    await expect(agents.send(id, 'ask too early', 'ann')).rejects.toMatchObject(tooEarly);
    expect(await agents.send(id, 'ask', 'ann')).toBe('ann,ann,1');
  });

  it('begin anew in a turn too, and take nothing from the one that was stopped', async () => {
    const { agents, call } = await open();
    const clerk = await agents.start('Clerk');
    const id = (await agents.send(clerk.id, 'tea', 'ann')) as string;
    await until(async () => ((await call('content', id)) as unknown[]).length === 1);
    await agents.send(id, 'keep');
    expect(await agents.info(id)).toMatchObject({ alarms: 300 });
    await agents.stop(id);
    expect(await agents.send(clerk.id, 'cups', 'ann')).toBe(id);
    await until(async () => ((await call('content', id)) as unknown[]).length === 1);
    expect(await call('content', id)).toEqual(['cups']);
    expect(await agents.info(id)).toMatchObject({ key: 'ann', alarms: 0, waiting: 0 });
    expect(await agents.alarms(id)).toEqual([]);
    await agents.swap(async () => undefined);
    expect(await call('content', id)).toEqual(['cups']);
  });

  it('go on with the events of the one that was stopped, until those are old', async () => {
    let now = 1_000_000;
    const clock = { wall: () => now, monotonic: () => performance.now() + now };
    const limits = { eventAgeMs: 60_000 };
    const { agents, call, store } = await open({ clock, limits });
    const { id } = (await call('cartOf', 'ann')) as { id: string };
    await agents.stop(id);
    await call('cartOf', 'ann');
    const told = async () => (await agents.keptEvents(id)).map(({ data }) => (data as { status: string }).status);
    expect(await told()).toEqual(['running', 'terminated', 'running']);
    now += 61_000;
    await agents.clockMoved();
    await agents.send(id, 'keep');
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
    await agents.stop(id);
    await agents.clockMoved();
    now += 61_000;
    await agents.clockMoved();
    expect(await agents.keptEvents(id)).toEqual([]);
    expect(await linesOf(store, 'agents')).toHaveLength(1);
    const snapshot = store.snapshot();
    const records = await recordsOf(snapshot);
    snapshot.release();
    const copy = createMemoryStore();
    await replay(records, { store: copy, appliers: [agentsApplier(makeLimits(limits))] });
    expect(await linesOf(copy, 'agents')).toEqual(await linesOf(store, 'agents'));
  });

  it('are not begun twice where a turn comes first, and a function has not heard of it', async () => {
    const { agents, committer, call } = await open();
    const id = keyedAgentId('Cart', 'ann');
    const own = agents.start('Cart', { key: 'ann' });
    const op = { op: 'spawn', id, type: 'Cart', key: 'ann', from: '' };
    await committer.commit({ startTs: 0, parts: { agents: { ops: [op] } }, conflicts: [] });
    expect((await own).id).toBe(id);
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
  });

  it('are given while they are in a turn', async () => {
    const { agents, call } = await open();
    const id = (await call('clerkOf', 'counter')) as string;
    const waiting = agents.send(id, 'wait');
    expect(await call('clerkOf', 'counter')).toBe(id);
    await call('goOn');
    await waiting;
  });

  it('stay in memory, and leave it by onSuspend, where another turn starts them while theirs changes nothing', async () => {
    const { agents, call } = await open();
    const id = (await call('clerkOf', 'counter')) as string;
    const other = (await call('clerkOf', 'door')) as string;
    const waiting = agents.send(id, 'wait');
    await until(async () => (await call('waits')) === true);
    expect(await agents.send(other, 'hire', 'counter')).toBe(id);
    await call('goOn');
    await waiting;
    expect(await agents.info(id)).toMatchObject({ status: 'running' });
    await agents.swap(async () => undefined);
    expect((await agents.keptEvents(id)).map(({ name }) => name)).toEqual(['agentStatusUpdated', 'left']);
  });

  it('are not started by what stops them in the same commit, which would end the one that begins', async () => {
    const { agents, call } = await open({ schema: '' });
    const { id } = await agents.start('Cart', { key: 'ann' });
    const clerk = String(await call('clerkOf', 'c'));
    const refused = { code: 'INVALID_REQUEST', message: /started where it has just been stopped/ };
    await expect(call('restart', 'ann')).rejects.toMatchObject(refused);
    await expect(agents.send(clerk, 'restart', 'ann')).rejects.toMatchObject(refused);
    expect(await agents.info(id)).not.toMatchObject({ status: 'terminated' });
  });

  it('are not started behind a checkpoint that stops them before that has come about', async () => {
    const { agents, call } = await open();
    const id = String(await call('clerkOf', 'bea'));
    const refused = { code: 'INVALID_REQUEST', message: /started where it has just been stopped/ };
    await expect(agents.send(id, 'beginAnew')).rejects.toMatchObject(refused);
    await until(async () => (await agents.info(id)).status === 'terminated');
  });

  it.each([true, false])('are not started behind a transaction that stops them, in another: %s', async (another) => {
    const { agents, call } = await open({ schema: '' });
    const id = String(await call('hostOf', 'bea'));
    const refused = { code: 'INVALID_REQUEST', message: /started where it has just been stopped/ };
    await expect(call('stopFirst', 'bea', another)).rejects.toMatchObject(refused);
    await until(async () => (await call('waits')) === true);
    expect(await agents.info(id)).not.toMatchObject({ status: 'terminated' });
    await call('goOn');
    await until(async () => (await agents.info(id)).status === 'terminated');
    expect(await call('hostOf', 'bea')).toBe(id);
    expect(await agents.info(id)).toMatchObject({ waiting: 0 });
  });

  it('need a text as their key', async () => {
    const { call } = await open();
    for (const key of ['', 7, 'x'.repeat(513)]) {
      await expect(call('cartOf', key)).rejects.toMatchObject({ code: 'INVALID_VALUE', message: /text of 1 to 512/ });
    }
  });
});

it('an idempotencyKey in a turn, which would keep nothing from being done again, is refused', async () => {
  const { agents, call } = await open();
  const { id } = await agents.start('Clerk');
  const { id: cart } = (await call('cartOf', 'ann')) as { id: string };
  const refused = { code: 'INVALID_REQUEST', fix: expect.stringContaining('leave it out') };
  await expect(agents.send(id, 'startOnce', 'k')).rejects.toMatchObject(refused);
  await expect(agents.send(id, 'putOnce', cart)).rejects.toMatchObject(refused);
});
