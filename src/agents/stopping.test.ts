import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions, until } from '../../test/agent-service.js';
import { lateStore } from '../../test/late-store.js';
import { GraphsteadError } from '../base/index.js';
import { createMemoryStore, MemoryDisk, type Snapshot, type Store } from '../store/index.js';

const CLERK = `
  class Clerk extends Agent {
    async onReceiveMessage(name, data) { await agents.stop(data); return 'told'; }
  }
  agents.register(Clerk);
`;
const CODE = `
  const wait = () => new Promise((done) => (globalThis.go = done));
  const pause = async () => { if (!globalThis.atOnce) await wait(); };
  class Order extends Agent {
    onReceiveMessage() { return pause(); }
    async onTerminate() {
      await pause();
      this.publishEvent('closed', {});
    }
  }
  agents.register(Order);
  function waits() { return globalThis.go !== undefined; }
  function atOnce() { globalThis.atOnce = true; globalThis.go?.(); }
  ${CLERK}
`;
const STATE = 2; // family of keys

const services: AgentService[] = [];
async function open(code = CODE, options: ServiceOptions = {}): Promise<AgentService> {
  const service = await agentService(code, code === CLERK ? [] : ['waits', 'atOnce'], options);
  services.push(service);
  return service;
}
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

async function namesOf({ agents }: AgentService, id: string): Promise<readonly string[]> {
  return (await agents.keptEvents(id)).map(({ name }) => name);
}

describe('a stop whose onTerminate did not run to its end', () => {
  it.each(['an agent', 'a caller'])(
    'since the service stopped, and that %s asked for, has not happened',
    async (who) => {
      const disk = new MemoryDisk();
      const first = await open(CODE, { store: createMemoryStore({ disk }) });
      const { id } = await first.agents.start('Order');
      const clerk = await first.agents.start('Clerk');
      const refusal = { code: 'NOT_READY' };
      const asked = who === 'an agent' ? first.agents.send(clerk.id, 'stop', id) : first.agents.stop(id);
      const told = who === 'an agent' ? asked : expect(asked).rejects.toMatchObject(refusal);
      await until(async () => (await first.call('waits')) === true);
      const closed = first.agents.close();
      await first.hosts.close();
      await Promise.all([closed, told]);
      await first.close();

      const second = await open(CODE, { store: createMemoryStore({ disk }), resting: true });
      expect(await second.agents.info(id)).toMatchObject({ status: 'suspended' });
      await second.call('atOnce');
      await second.agents.resume();
      if (who === 'a caller') await second.agents.stop(id);
      await until(async () => (await second.agents.info(id)).status === 'terminated');
      expect(await namesOf(second, id)).toEqual(['agentStatusUpdated', 'closed', 'agentStatusUpdated']);
    },
  );

  it('since its class is missing waits for it where another agent asked for it', async () => {
    const disk = new MemoryDisk();
    const first = await open(CODE, { store: createMemoryStore({ disk }) });
    const { id } = await first.agents.start('Order');
    const clerk = await first.agents.start('Clerk');
    await first.close();

    const second = await open(CLERK, { store: createMemoryStore({ disk }) });
    expect(await second.agents.send(clerk.id, 'stop', id)).toBe('told');
    await second.agents.clockMoved();
    expect(await second.agents.info(id)).toMatchObject({ status: 'suspended', waiting: 1 });
    const bundle = second.app.next(CODE.replace('!globalThis.atOnce', 'false'));
    await second.agents.swap(() => second.hosts.load({ appDir: second.app.appDir, bundle }));
    await until(async () => (await second.agents.info(id)).status === 'terminated');
    expect(await namesOf(second, id)).toContain('closed');
  });

  it('since its class is gone is no mistake where a caller asked for it', async () => {
    const disk = new MemoryDisk();
    const first = await open(CODE, { store: createMemoryStore({ disk }) });
    const { id } = await first.agents.start('Order');
    await first.close();

    const second = await open(CLERK, { store: createMemoryStore({ disk }) });
    expect(await second.agents.stop(id)).toMatchObject({ status: 'terminated' });
    const told = second.logs.filter(({ agentId, message }) => agentId === id && message.includes('onTerminate'));
    expect(told.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'stopped without onTerminate: unknown agent type "Order"'],
    ]);
  });

  it('since the store could not be read is told, and can be asked for again', async () => {
    const late = lateStore(createMemoryStore(), () => false);
    let isAway = false;
    const lateSnapshot = (snapshot: Snapshot): Snapshot => ({
      ...snapshot,
      async get(key) {
        if (isAway && key[3] === STATE)
          throw new GraphsteadError('OVERLOADED', 'the store is away', { fix: 'ask again' });
        return snapshot.get(key);
      },
    });
    const store: Store = { ...late, snapshot: () => lateSnapshot(late.snapshot()) };
    // a small state lies in the agent's own entry
    const code = CODE.replace('class Order extends Agent {', "$& state = { note: 'x'.repeat(1_000) };");
    const service = await open(code, { store });
    const { id } = await service.agents.start('Order');
    await service.agents.swap(async () => undefined);
    await service.call('atOnce');
    isAway = true;
    await expect(service.agents.stop(id)).rejects.toMatchObject({ code: 'OVERLOADED' });
    isAway = false;
    expect(await service.agents.stop(id)).toMatchObject({ status: 'terminated' });
    expect(await namesOf(service, id)).toContain('closed');
  });
});

it('an agent whose mailbox is full can be stopped by another', async () => {
  const { agents, call } = await open(CODE, { limits: { mailboxMessages: 3 } });
  const [{ id }, clerk] = await Promise.all([agents.start('Order'), agents.start('Clerk')]);
  for (let i = 0; i < 3; i++) await agents.sendAsync(id, 'pack');
  await expect(agents.sendAsync(id, 'pack')).rejects.toMatchObject({ code: 'MAILBOX_FULL' });
  await until(async () => (await call('waits')) === true);
  const told = agents.send(clerk.id, 'stop', id).finally(() => call('atOnce'));
  expect(await told).toBe('told');
  await until(async () => (await agents.info(id)).status === 'terminated');
});

it('a service that stops lets onSuspend of an agent that was idle before come to its end', async () => {
  const code = CODE.replace('async onTerminate', 'async onSuspend');
  const { agents, call } = await open(code, { limits: { agentIdleMs: 1 } });
  const { id } = await agents.start('Order');
  await until(async () => (await call('waits')) === true);
  let isClosed = false;
  const closed = agents.close().then(() => {
    isClosed = true;
  });
  for (let i = 0; i < 5; i++) await call('waits');
  expect(isClosed).toBe(false);
  await call('atOnce');
  await closed;
  expect((await agents.keptEvents(id)).map(({ name }) => name)).toContain('closed');
});
