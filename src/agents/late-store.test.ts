import { afterEach, expect, it } from 'vitest';
import { type AgentService, agentService, until } from '../../test/agent-service.js';
import { lateStore, Refusals, surely } from '../../test/late-store.js';
import { createMemoryStore, type Snapshot, type Store } from '../store/index.js';

const CODE = `
  class Purse extends Agent {
    static readOnly = ['note'];
    state = { coins: 100, taken: 0 };
    async onReceiveMessage(name, data) {
      switch (name) {
        case 'give': this.state.coins--; await agents.sendMessageAsync(data, 'take'); return String(this.state.coins);
        case 'take': this.state.coins++; this.state.taken++; this.publishEvent('taken', { n: this.state.taken }); return;
        case 'write': this.state.note = 'x'.repeat(Number(data)); return;
        case 'note': return String(this.state.note?.length);
        case 'fail': throw new Error('always');
        case 'show': return this.state.coins + ' ' + this.state.taken;
      }
      return super.onReceiveMessage(name, data);
    }
  }
  agents.register(Purse);
`;
const PURSES = 4;
const GIFTS = 15;

let service: AgentService | undefined;
afterEach(() => service?.close());

it('everything acknowledged happens once on a store that answers later and refuses now and then', async () => {
  const refusals = new Refusals({ read: 19, write: 5 });
  const store = lateStore(createMemoryStore(), refusals.refuses);
  let now = Date.now();
  service = await agentService(CODE, [], { store, clock: { wall: () => now, monotonic: () => performance.now() } });
  const { agents } = service;
  const ids: string[] = [];
  for (let i = 0; i < PURSES; i++) ids.push((await agents.start('Purse')).id);

  refusals.on = true;
  const giving = ids.map(async (id, i) => {
    for (let gift = 0; gift < GIFTS; gift++) {
      const idempotencyKey = `${i} ${gift}`;
      const left = await surely(() => agents.send(id, 'give', ids[(i + 1 + (gift % 3)) % PURSES], { idempotencyKey }));
      expect(Number(left)).toBeGreaterThanOrEqual(100 - GIFTS);
    }
  });
  await Promise.all(giving);
  refusals.on = false;

  // what the store refused waits for its next try
  for (let waits = true; waits; ) {
    now += 60_000;
    await agents.clockMoved();
    waits = (await Promise.all(ids.map((id) => agents.info(id)))).some(({ waiting }) => waiting > 0);
  }
  const shown = await Promise.all(ids.map(async (id) => (await agents.send(id, 'show'))?.split(' ').map(Number) ?? []));
  expect(shown.reduce((sum, [coins]) => sum + coins, 0)).toBe(PURSES * 100);
  expect(shown.reduce((sum, [, taken]) => sum + taken, 0)).toBe(PURSES * GIFTS);
});

it('a read-only handler meets a state of one moment, also where a turn commits while it is read', async () => {
  const late = lateStore(createMemoryStore(), () => false);
  let between: (() => Promise<unknown>) | undefined;
  const lateSnapshot = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    async get(key) {
      const bytes = await snapshot.get(key);
      const work = between;
      between = undefined;
      await work?.();
      return bytes;
    },
  });
  const store: Store = { ...late, snapshot: () => lateSnapshot(late.snapshot()) };
  service = await agentService(CODE, [], { store });
  const { agents } = service;
  const { id } = await agents.start('Purse');
  await agents.send(id, 'write', '10');
  between = () => agents.send(id, 'write', '10000');
  expect(await agents.send(id, 'note')).toBe('10');
  expect(await agents.send(id, 'note')).toBe('10000');
});

it('to replay a dead letter reads that one alone', async () => {
  const late = lateStore(createMemoryStore(), () => false);
  let read = 0;
  const counted = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    async range(range) {
      const page = await snapshot.range(range);
      read += page.values.reduce((sum, { length }) => sum + length, 0);
      return page;
    },
  });
  const store: Store = { ...late, snapshot: () => counted(late.snapshot()) };
  service = await agentService(CODE, [], { store, limits: { messageAttempts: 1 } });
  const { agents } = service;
  const { id } = await agents.start('Purse');
  for (let i = 1; i <= 20; i++) await agents.sendAsync(id, 'fail', `${i}`.repeat(5_000));
  await until(async () => (await agents.info(id)).deadLetters === 20);
  read = 0;
  await agents.replay(id, '7');
  expect(read).toBeLessThan(20_000);
  await expect(agents.replay(id, '7')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  for (const odd of ['', '0', '07', '1e0', 'x', '99999999999999999999']) {
    await expect(agents.replay(id, odd)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  }
});
