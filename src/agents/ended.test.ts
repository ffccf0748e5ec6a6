import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions } from '../../test/agent-service.js';
import { linesOf, recordsOf } from '../../test/stored.js';
import { makeLimits } from '../base/index.js';
import { replay } from '../commit/index.js';
import { createMemoryStore, MemoryDisk, type Store } from '../store/index.js';
import { agentsApplier } from './apply/applier.js';
import { type AgentPart, agentPart } from './part.js';
import { SWEPT_AT_ONCE } from './apply/remains.js';

const CODE = `
  class Hoarder extends Agent {
    state = { text: '' };
    async onReceiveMessage(name, data) {
      if (name === 'fill') {
        this.state.text = 'x'.repeat(50_000);
        for (let i = 0; i < 40; i++) this.setAlarm(new Date(Date.now() + 3_600_000), { name: 'late', id: 'a' + i });
        for (let i = 0; i < 3; i++) this.publishEvent('page', { i });
        return 'full';
      }
      if (name === 'mailMany') { for (let i = 0; i < 10; i++) await agents.sendMessageAsync(data, 'x'); return 'posted'; }
      if (name === 'hold') throw new Error('again and again');
      return super.onReceiveMessage(name, data);
    }
    onTerminate() { this.setAlarm(new Date(Date.now() + 3_600_000), { name: 'too late' }); }
  }
  agents.register(Hoarder);
`;
const DAY = 24 * 3_600_000;
const LIMITS = { eventAgeMs: DAY, messageAttempts: 99 };

let now: number;
let disk: MemoryDisk;
let service: AgentService;
let passed = 0;
const clock = { wall: () => now, monotonic: () => performance.now() + passed };
const pass = (ms: number): void => {
  now += ms;
  passed += ms;
};
const open = (options: ServiceOptions = {}) =>
  agentService(CODE, [], { limits: LIMITS, clock, store: createMemoryStore({ disk }), ...options });

beforeEach(async () => {
  now = Date.now();
  disk = new MemoryDisk();
  service = await open();
});
afterEach(() => service.close());

/** Keys of the agents' room by family. */
async function families(store: Store): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const line of await linesOf(store, 'agents')) {
    const family = Number.parseInt(line.slice(6, 8), 16);
    counts[family] = (counts[family] ?? 0) + 1;
  }
  return counts;
}

const FAMILY = { head: 1, state: 2, event: 3, mailbox: 4, retry: 5, alarm: 6, due: 7, dead: 8, ended: 9 };

describe('what a stopped agent leaves', () => {
  it('goes: state, messages and alarms at once, events when they are old; the tombstone stays', async () => {
    const { agents, store } = service;
    const { id } = await agents.start('Hoarder');
    await agents.send(id, 'fill');
    await agents.sendAsync(id, 'unknown');
    await agents.sendAsync(id, 'hold');
    await agents.clockMoved();
    expect((await agents.inspect(id)).deadLetters).toHaveLength(1);
    const before = await families(store);
    expect(before[FAMILY.state]).toBeGreaterThan(10);
    expect(before).toMatchObject({ [FAMILY.alarm]: 40, [FAMILY.due]: 40, [FAMILY.mailbox]: 1, [FAMILY.retry]: 1 });

    await agents.stop(id);
    await agents.clockMoved();
    const after = await families(store);
    expect(after).toEqual({ [FAMILY.head]: 1, [FAMILY.event]: 5, [FAMILY.dead]: 1, [FAMILY.ended]: 1 });
    expect(await agents.info(id)).toMatchObject({ status: 'terminated', waiting: 0, deadLetters: 1 });

    pass(DAY - 60_000);
    await agents.clockMoved();
    expect(await families(store)).toEqual(after);
    now += 100 * DAY; // set by mistake: nothing is older by that
    await agents.clockMoved();
    expect(await families(store)).toEqual(after);
    now -= 100 * DAY;
    pass(120_000);
    await agents.clockMoved();
    expect(await families(store)).toEqual({ [FAMILY.head]: 1 });
    expect(await agents.info(id)).toMatchObject({ name: 'Hoarder', status: 'terminated', deadLetters: 0 });
    await expect(agents.send(id, 'fill')).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
    await expect(agents.sendAsync(id, 'fill')).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
  });

  it("takes no more: a turn's mail to it is dropped, and does not fail the turn", async () => {
    const { agents, store } = service;
    const [gone, sender] = await Promise.all([agents.start('Hoarder'), agents.start('Hoarder')]);
    await agents.stop(gone.id);
    expect(await agents.send(sender.id, 'mailMany', gone.id)).toBe('posted');
    await agents.clockMoved();
    expect((await families(store))[FAMILY.mailbox]).toBeUndefined();
    expect((await agents.info(gone.id)).waiting).toBe(0);
  });

  it('goes a bounded part at a time, also after a restart, and a replay of the records ends the same', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { id } = await service.agents.start('Hoarder');
      await service.agents.send(id, 'fill');
      await service.agents.swap(async () => {
        for (let n = 0; n < 100; n++) await service.agents.sendAsync(id, 'hold');
      });
      ids.push(id);
    }
    for (const id of ids) await service.agents.stop(id);
    await service.close();
    service = await open();
    const sweeps: AgentPart[] = [];
    service.committer.onCommit((records) => {
      for (const record of records) sweeps.push(agentPart(record) ?? { ops: [] });
    });
    let keys = Object.values(await families(service.store)).reduce((sum, n) => sum + n, 0);
    await service.agents.clockMoved();
    const left = await families(service.store);
    expect([left[FAMILY.state], left[FAMILY.mailbox], left[FAMILY.alarm], left[FAMILY.due]]).toEqual(
      Array(4).fill(undefined),
    );
    keys -= Object.values(left).reduce((sum, n) => sum + n, 0);
    expect(sweeps.length).toBeGreaterThanOrEqual(keys / (2 * SWEPT_AT_ONCE));
    expect(sweeps.every((part) => part.ops.every(({ op }) => op === 'sweep'))).toBe(true);

    pass(2 * DAY);
    await service.agents.clockMoved();
    expect(await families(service.store)).toEqual({ [FAMILY.head]: 3 });
    const copy = createMemoryStore();
    const snapshot = service.store.snapshot();
    const records = await recordsOf(snapshot);
    snapshot.release();
    await replay(records, { store: copy, appliers: [agentsApplier(makeLimits(LIMITS))] });
    expect(await linesOf(copy, 'agents')).toEqual(await linesOf(service.store, 'agents'));
  });
});
