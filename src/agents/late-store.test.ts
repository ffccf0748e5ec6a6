import { afterEach, expect, it } from 'vitest';
import { type AgentService, agentService } from '../../test/agent-service.js';
import { lateStore, Refusals, surely } from '../../test/late-store.js';
import { createMemoryStore } from '../store/index.js';

const CODE = `
  class Purse extends Agent {
    state = { coins: 100, taken: 0 };
    async onReceiveMessage(name, data) {
      switch (name) {
        case 'give': this.state.coins--; await agents.sendMessageAsync(data, 'take'); return String(this.state.coins);
        case 'take': this.state.coins++; this.state.taken++; this.publishEvent('taken', { n: this.state.taken }); return;
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
