import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, until } from '../../test/agent-service.js';
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
    content() { return this.state.content; }
  }
  const wait = () => new Promise((done) => (globalThis.go = done));
  class Shelf extends Agent {
    static agentName = 'cart';
  }
  class Clerk extends Agent {
    async onReceiveMessage(name, data) {
      if (name === 'wait') return wait();
      if (name === 'startOnce') return (await agents.start(Cart, { idempotencyKey: data })).id;
      if (name === 'putOnce') return agents.refAsync(Cart, data, { idempotencyKey: 'once' }).put('tea');
      const { id } = await agents.start(Cart, { key: data });
      await agents.start(Cart, { key: data });
      await agents.refAsync(Cart, id).put(name);
      return id;
    }
  }
  agents.register(Cart, Shelf, Clerk);
  async function cartOf(key) { return agents.start('Cart', { key }); }
  async function shelfOf(key) { return (await agents.start(Shelf, { key })).id; }
  async function clerkOf(key) { return (await agents.start('Clerk', { key })).id; }
  function goOn() { globalThis.go(); }
  function idOf(key) { return agents.idOf(Cart, key); }
  function breaks(broken) { globalThis.broken = broken; }
  async function whose(id) { return agents.ref(Cart, id).whose(); }
  async function content(id) { return agents.ref(Cart, id).content(); }
`;
const EXPORTS = ['cartOf', 'shelfOf', 'clerkOf', 'goOn', 'idOf', 'breaks', 'whose', 'content'];

let service: AgentService;
async function open(): Promise<AgentService> {
  service = await agentService(CODE, EXPORTS);
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

  it('leave their key free where they could not begin, and keep it once they were stopped', async () => {
    const { agents, call } = await open();
    await call('breaks', true);
    await expect(Promise.all([call('cartOf', 'ann'), call('cartOf', 'ann')])).rejects.toThrow('no paper');
    await call('breaks', false);
    const { id } = (await call('cartOf', 'ann')) as { id: string };
    expect(await call('whose', id)).toEqual(['ann', 'ann', 1]);
    await agents.stop(id);
    const gone = { code: 'AGENT_TERMINATED', details: { agentId: id } };
    await expect(call('cartOf', 'ann')).rejects.toMatchObject(gone);
    const clerk = await agents.start('Clerk');
    await expect(agents.send(clerk.id, 'put', 'ann')).rejects.toMatchObject(gone);
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
