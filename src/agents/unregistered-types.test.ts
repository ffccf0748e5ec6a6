import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, until } from '../../test/agent-service.js';
import { linesOf } from '../../test/stored.js';
import { createMemoryStore, MemoryDisk } from '../store/index.js';

const classes = (...names: readonly string[]) =>
  names
    .map((name) => `agents.register(class ${name} extends Agent { onReceiveMessage() { return '${name}'; } });`)
    .join('\n');

const services: AgentService[] = [];
async function open(disk: MemoryDisk, ...names: readonly string[]): Promise<AgentService> {
  const service = await agentService(classes(...names), [], { store: createMemoryStore({ disk }) });
  services.push(service);
  return service;
}
afterEach(() => Promise.all(services.splice(0).map((service) => service.close())));

const reload = ({ agents, hosts, app }: AgentService, ...names: readonly string[]) =>
  agents.swap(() => hosts.load({ ...app, bundle: app.next(classes(...names)) }));

const lines = ({ logs }: AgentService) =>
  logs.flatMap(({ level, message }) => (level === 'warn' && message.startsWith('stored agents') ? [message] : []));
const told = (service: AgentService, count: number) => until(async () => lines(service).length >= count);

describe('stored agents whose class was renamed', () => {
  it('are told of when the app is loaded, with their number, their type and what to do', async () => {
    const disk = new MemoryDisk();
    const first = await open(disk, 'Counter', 'Kept');
    const ids = await Promise.all(['Counter', 'Kept', 'Counter', 'Counter'].map((type) => first.agents.start(type)));
    await first.agents.stop(ids[0].id);
    await reload(first, 'Tally', 'Kept');
    await told(first, 1);
    expect(lines(first)).toEqual([
      'stored agents have a type that no class of the app is registered as: 2 of "Counter"; their messages and alarms wait until one is, and who waits for a reply gets AGENT_TYPE_UNKNOWN (where a class was renamed, keep its name: static readonly agentName = "Counter"; where it is gone for good, stop them: agents.list({ name: "Counter" }) has their ids)',
    ]);
    await expect(first.agents.send(ids[2].id, 'x')).rejects.toMatchObject({ code: 'AGENT_TYPE_UNKNOWN' });
    await first.close();

    const second = await open(disk, 'Tally', 'Kept');
    await told(second, 1);
    expect(lines(second)).toEqual(lines(first));
    await reload(second, 'Counter', 'Kept');
    expect(await second.agents.send(ids[2].id, 'x')).toBe('Counter');
  });

  it('are told of once, until another class goes', async () => {
    const service = await open(new MemoryDisk(), 'Counter', 'Kept');
    const [{ id }] = await Promise.all(['Counter', 'Kept'].map((type) => service.agents.start(type)));
    await reload(service, 'Kept');
    await told(service, 1);
    await reload(service, 'Kept');
    await reload(service, 'Kept', 'More');
    await reload(service, 'More');
    await told(service, 2);
    expect(lines(service)[1]).toContain('1 of "Counter", 1 of "Kept"');
    expect(await service.agents.stop(id)).toMatchObject({ name: 'Counter', status: 'terminated' });
  });

  it('keep their messages and alarms until a class has the name again', async () => {
    let now = Date.now();
    const clock = { wall: () => now, monotonic: () => performance.now() };
    const code = (name: string) => `
      class ${name} extends Agent {
        state = { got: [] };
        async onReceiveMessage(name, data) {
          if (name === 'set') this.setAlarm(Number(data), { name: 'ring' });
          else if (name === 'start') await agents.start('None');
          else this.state.got.push(name);
          return this.state.got.join();
        }
      }
      agents.register(${name});`;
    const service = await agentService(code('Counter'), [], { clock, limits: { messageAttempts: 1 } });
    services.push(service);
    const { agents, hosts, app } = service;
    const { id } = await agents.start('Counter');
    await agents.send(id, 'set', String(now + 1_000));
    await agents.swap(() => hosts.load({ ...app, bundle: app.next(code('Tally')) }));
    await agents.sendAsync(id, 'left');
    now += 2_000;
    await agents.clockMoved();
    expect(await agents.info(id)).toMatchObject({ waiting: 1, deadLetters: 0 });
    await expect(agents.send(id, 'x')).rejects.toMatchObject({ code: 'AGENT_TYPE_UNKNOWN' });
    await agents.swap(() => hosts.load({ ...app, bundle: app.next(code('Counter')) }));
    now += 2_000;
    await agents.clockMoved();
    const got = await agents.send(id, 'last');
    expect(got?.split(',').sort()).toEqual(['last', 'left', 'ring']);
    // a handler that meets the same elsewhere has failed
    await agents.sendAsync(id, 'start');
    await agents.clockMoved();
    expect(await agents.deadLetters(id)).toMatchObject([{ name: 'start' }]);
  });

  it('have their alarms wait in the store, beside those of others, through a restart', async () => {
    let now = 1_000_000;
    const clock = { wall: () => now, monotonic: () => performance.now() };
    const disk = new MemoryDisk();
    const code = (name: string) => `
      class ${name} extends Agent {
        state = { rang: [] };
        async onReceiveMessage(name, data) {
          if (name === 'set') for (let i = 0; i < 40; i++) this.setAlarm(Number(data), { name: 'ring ' + i });
          if (name === 'cancel') this.cancelAlarm(data);
          return String(this.state.rang.length);
        }
        onAlarm(name) { this.state.rang.push(name); }
      }
      agents.register(${name});`;
    const both = code('Counter') + code('Kept');
    const openOn = async (text: string) => {
      const opened = await agentService(text, [], { store: createMemoryStore({ disk }), clock });
      services.push(opened);
      return opened;
    };
    const dues = async ({ store }: AgentService) => {
      const lines = await linesOf(store, 'agents');
      return ['07', '0b'].map((family) => lines.filter((line) => line.slice(6, 8) === family).length);
    };
    const first = await openOn(both);
    const [gone, kept] = await Promise.all([first.agents.start('Counter'), first.agents.start('Kept')]);
    const stopped = await first.agents.start('Counter');
    for (const { id } of [gone, stopped]) await first.agents.send(id, 'set', String(now + 1_000));
    await first.agents.swap(() => first.hosts.load({ ...first.app, bundle: first.app.next(code('Kept')) }));
    await first.agents.send(kept.id, 'set', String(now + 1_500));
    now += 2_000;
    await first.agents.clockMoved();
    expect(await first.agents.send(kept.id, 'rang')).toBe('40');
    expect(await dues(first)).toEqual([0, 80]);
    expect(await first.agents.alarms(gone.id)).toHaveLength(40);
    await first.agents.stop(stopped.id);
    await first.agents.clockMoved();
    expect(await dues(first)).toEqual([0, 40]);
    await first.close();

    const second = await openOn(code('Kept'));
    await second.agents.clockMoved();
    expect(await dues(second)).toEqual([0, 40]);
    await second.agents.swap(() => second.hosts.load({ ...second.app, bundle: second.app.next(both) }));
    await second.agents.clockMoved();
    expect(await second.agents.send(gone.id, 'rang')).toBe('40');
    expect(await dues(second)).toEqual([0, 0]);
    expect(await second.agents.info(gone.id)).toMatchObject({ alarms: 0 });
  });

  it('are all counted, however many they are, and the others go on meanwhile', async () => {
    const disk = new MemoryDisk();
    const first = await open(disk, 'Kept');
    const { id } = await first.agents.start('Kept');
    const turn = (i: number) => ({ op: 'turn', id: `agent_${i}`, expect: 0, create: { type: `Type${i % 12}` } });
    const ops = Array.from({ length: 2_400 }, (_, i) => turn(i));
    await first.committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
    await first.close();
    const second = await open(disk, 'Kept');
    expect(await second.agents.send(id, 'x')).toBe('Kept');
    await told(second, 1);
    expect(lines(second)[0]).toMatch(/: (200 of "Type\d+", ){9}200 of "Type\d+" and others of 2 more types; /);
  });
});
