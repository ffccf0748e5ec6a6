import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions, until } from '../../test/agent-service.js';
import { bound, linesOf, recordsOf } from '../../test/stored.js';
import { makeLimits } from '../base/index.js';
import { createCommitter, replay } from '../commit/index.js';
import { createMemoryStore, type Store } from '../store/index.js';
import { agentsApplier } from './apply/applier.js';

const FIRST = `
  class Diary extends Agent {
    state = { hooks: [] };
    onInitialize() { this.state.hooks.push('initialize'); }
    onResume() { this.state.hooks.push('resume'); }
    onSuspend() { if (this.state.clings) throw new Error('stays'); this.state.hooks.push('suspend'); }
    onTerminate() { this.publishEvent('goodbye', { hooks: this.state.hooks }); }
    async onReceiveMessage(name, data) {
      if (name === 'die') process.exit(3);
      if (name === 'clingTo') { this.state.clings = true; return 'ok'; }
      if (name === 'hooks') return this.state.hooks.join(' ');
      if (name === 'write') { for (let i = 0; i < Number(data); i++) this.publishEvent('page', { i }); return 'ok'; }
      if (name === 'grow') { this.state.text = 'x'.repeat(Number(data)); return String(this.state.text.length); }
      if (name === 'step') {
        this.state.steps = (this.state.steps ?? 0) + 1;
        await this.checkpoint();
        if (data === 'fail') throw new Error('after the checkpoint');
        return String(this.state.steps);
      }
      if (name === 'steps') return String(this.state.steps);
      if (name === 'poison') { this.publishEvent('tried', { attempt: this.attempt }, { live: true }); throw new Error('always'); }
      if (name === 'setPoison') { this.setAlarm(new Date(), { name: 'poison' }); return 'set'; }
      if (name === 'live') { this.publishEvent('progress', { done: 1 }, { live: true }); throw new Error('failed later'); }
      if (name === 'flood') {
        const put = {
          events: (i) => this.publishEvent('page', { text: 'x'.repeat(1_000) }),
          alarms: (i) => this.setAlarm(Date.now() + 1e9, { id: 'a' + i, data: 'x'.repeat(1_000) }),
          oneAlarm: (i) => this.setAlarm(Date.now() + 1e9 + i, { id: 'a', data: 'x'.repeat(1_000) }),
          mail: (i) => agents.sendMessageAsync(this.id, 'text', 'x'.repeat(1_000)),
          starts: (i) => agents.start('Diary'),
          stops: (i) => agents.stop('agent_' + i),
        }[data];
        for (let i = 0; i < 4_000; i++) await put(i);
        return 'flooded';
      }
      if (name === 'text') { this.state.own = data; return data; }
      return super.onReceiveMessage(name, data);
    }
  }
  agents.register(Diary);
`;
const SECOND = `
  class Diary extends Agent {
    static version = 3;
    static migrations = {
      2: (state) => ({ ...state, second: true }),
      3: ({ hooks, ...state }) => ({ ...state, count: hooks.length }),
    };
    onReceiveMessage(name) { return name === 'state' ? JSON.stringify(this.state) : super.onReceiveMessage(name); }
  }
  agents.register(Diary);
`;
const NO_MIGRATION =
  'class Diary extends Agent { static version = 5; static migrations = { 5: (state) => state }; onReceiveMessage() { return "x"; } }\nagents.register(Diary);';

const services: AgentService[] = [];
async function open(options: ServiceOptions = {}): Promise<AgentService> {
  const service = await agentService(FIRST, [], options);
  services.push(service);
  return service;
}
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});

describe('lifecycle', () => {
  it('calls the hooks at their points', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Diary');
    expect(await agents.send(id, 'hooks')).toBe('initialize');
    await agents.swap(async () => undefined);
    expect(await agents.send(id, 'hooks')).toBe('initialize suspend resume');
    await agents.stop(id);
    const events = agents.events({ agentId: id, after: 'another.1.0' })[Symbol.asyncIterator]();
    await events.next();
    expect((await events.next()).value).toMatchObject({ name: 'goodbye' });
    await events.return?.();
  });

  it('suspends who is idle and resumes with the next message', async () => {
    const { agents } = await open({ limits: { agentIdleMs: 1 } });
    const { id } = await agents.start('Diary');
    await until(async () => (await agents.info(id)).status === 'suspended');
    expect(await agents.send(id, 'hooks')).toBe('initialize suspend resume');
  });

  it('tells that an agent has left memory whose onSuspend failed', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Diary');
    await agents.send(id, 'clingTo');
    const statuses = agents.events({ agentId: id, names: ['agentStatusUpdated'] })[Symbol.asyncIterator]();
    const first = statuses.next();
    await agents.swap(async () => undefined);
    const told = [(await first).value, (await statuses.next()).value].map(({ data }) => data.status);
    expect(told).toEqual(['suspending', 'suspended']);
    expect((await agents.info(id)).status).toBe('suspended');
    await statuses.return?.();
  });

  it('tells that an idle agent has left memory with its process', async () => {
    const { agents } = await open();
    const [idle, deadly] = await Promise.all(['Diary', 'Diary'].map((name) => agents.start(name)));
    const statuses = agents.events({ agentId: idle.id, names: ['agentStatusUpdated'] })[Symbol.asyncIterator]();
    const first = statuses.next();
    await expect(agents.send(deadly.id, 'die')).rejects.toThrow('the host process died under it');
    expect((await first).value.data).toEqual({ status: 'suspended' });
    expect(await agents.send(idle.id, 'hooks')).toBe('initialize resume');
    const told = [(await statuses.next()).value, (await statuses.next()).value].map(({ data }) => data.status);
    expect(told).toEqual(['resuming', 'running']);
    await statuses.return?.();
  });

  it('suspends the longest idle ones first when their states take too much of the hosts', async () => {
    const { agents } = await open({ limits: { hostHeapMb: 48, agentStateBytes: 8 * 1024 * 1024 } });
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await agents.start('Diary')).id);
    for (const id of ids) await agents.send(id, 'grow', String(2.5 * 1024 * 1024));
    await until(async () => (await agents.info(ids[0])).status === 'suspended');
    expect((await agents.info(ids[2])).status).toBe('running');
  });

  it('restarts with everything, waiting messages included', async () => {
    const store = createMemoryStore();
    const keep: Store = { ...bound(store), close: async () => undefined };
    const first = await open({ store: keep });
    const { id } = await first.agents.start('Diary');
    await first.agents.send(id, 'text', 'kept');
    await first.agents.swap(async () => {
      await first.agents.sendAsync(id, 'step');
      const second = await agentService(FIRST, [], { store: keep });
      services.push(second);
      await until(async () => (await second.agents.info(id)).waiting === 0);
      expect(await second.agents.send(id, 'steps')).toBe('1');
    });
  });

  it('a message that waits for its next try holds up only what is behind it, however much that is', async () => {
    const store = createMemoryStore();
    const committer = await createCommitter({ store, appliers: [agentsApplier(makeLimits())] });
    const post = { op: 'post', to: 'agent_a', from: 'agent_b', kind: 'message' };
    const ops = [
      { op: 'turn', id: 'agent_a', expect: 0, create: { type: 'Diary' }, state: '{"hooks":[]}', version: 1 },
      { ...post, name: 'poison' },
      ...Array.from({ length: 100 }, () => ({ ...post, name: 'hooks' })), // more than are read at a time
    ];
    await committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
    await committer.close();
    // its next try never comes
    const service = await open({ store, clock: { wall: () => 1e12, monotonic: () => performance.now() } });
    await until(async () => service.logs.some(({ message }) => message.includes('failed, try 1')));
    const other = await service.agents.start('Diary');
    expect(await service.agents.send(other.id, 'hooks')).toBe('initialize');
    expect((await service.agents.info('agent_a')).waiting).toBe(101);
  });

  it('restarts with the failed tries of an alarm', async () => {
    const store = createMemoryStore();
    const keep: Store = { ...bound(store), close: async () => undefined };
    const limits = { messageAttempts: 3 };
    const monotonic = () => performance.now();
    const soon = Date.now() + 60_000; // the alarm is due, and its next try never comes
    const first = await open({ store: keep, limits, clock: { wall: () => soon, monotonic } });
    const { id } = await first.agents.start('Diary');
    const failures = (service: AgentService) =>
      service.logs.flatMap(({ message }) => /"poison" failed, try (\d)/.exec(message)?.[1] ?? []);
    await first.agents.send(id, 'setPoison');
    await until(async () => failures(first).length === 1);
    await first.close();
    services.splice(services.indexOf(first), 1);
    const second = await open({ store: keep, limits, clock: { wall: () => Date.now() + 3_600_000, monotonic } });
    await until(async () => (await second.agents.info(id)).deadLetters === 1);
    expect([failures(first), failures(second)]).toEqual([['1'], ['2', '3']]);
    expect(await second.agents.deadLetters(id)).toMatchObject([{ name: 'poison', attempts: 3, error: 'always' }]);
  });

  it('moves agents to new code, with their state brought to its shape', async () => {
    const { agents, hosts, app } = await open();
    const { id } = await agents.start('Diary');
    await agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(SECOND) }));
    expect(JSON.parse((await agents.send(id, 'state')) ?? '')).toEqual({ second: true, count: 2 });
    await agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(NO_MIGRATION) }));
    await expect(agents.send(id, 'x')).rejects.toMatchObject({ code: 'AGENT_STATE' });
    await expect(agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next('throw 1') }))).rejects.toThrow();
    await agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(SECOND) }));
    expect(JSON.parse((await agents.send(id, 'state')) ?? '')).toEqual({ second: true, count: 2 });
  });

  it('brings a state that is no JSON to its shape as the text that it is', async () => {
    const code = (version: string) => `
      agents.register(class Note extends Agent {
        ${version}
        text = '';
        getState() { return this.text; }
        setState(text) { this.text = text ?? ''; }
        onReceiveMessage(name, data) { return (this.text = data ?? this.text); }
      });`;
    const service = await agentService(code(''));
    services.push(service);
    const { agents, hosts, app } = service;
    const { id } = await agents.start('Note');
    await agents.send(id, 'write', 'tea: green');
    const second = code('static version = 2; static migrations = { 2: (text) => text.toUpperCase() };');
    await agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(second) }));
    expect(await agents.send(id, 'read')).toBe('TEA: GREEN');
    // stored by the turn that met it, although that changed nothing
    expect(await agents.inspect(id)).toMatchObject({ state: 'TEA: GREEN' });
  });

  it('leaves messages and alarms untried where new code cannot take the state, until other code can', async () => {
    let now = Date.now();
    const clock = { wall: () => now, monotonic: () => performance.now() };
    const code = (version: number, step = '') => `
      agents.register(class Log extends Agent {
        static version = ${version};
        static migrations = { 2: (state) => { ${step} return state; } };
        state = { got: [] };
        onReceiveMessage(name, data) {
          if (name === 'set') this.setAlarm(Number(data), { name: 'ring' });
          else this.state.got.push(name);
          return this.state.got.join();
        }
      });`;
    const first = code(1).replace('static migrations', 'static before');
    const service = await agentService(first, [], { clock, limits: { messageAttempts: 1 } });
    services.push(service);
    const { agents, hosts, app, logs } = service;
    const loads = (text: string) => agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(text) }));
    const { id } = await agents.start('Log');
    let got: string[] = [];
    // a migration that fails, and an older version behind a newer one
    for (const [refusing, taking] of [
      [code(2, 'state.none.length;'), code(2)],
      [first, code(2)],
    ]) {
      await agents.send(id, 'set', String(now + 1_000));
      await loads(refusing);
      await agents.sendAsync(id, 'left');
      await agents.sendAsync(id, 'behind');
      now += 2_000;
      await agents.clockMoved();
      await expect(agents.send(id, 'x')).rejects.toMatchObject({ code: 'AGENT_STATE' });
      expect(await agents.info(id)).toMatchObject({ waiting: 2, deadLetters: 0 });
      await loads(taking);
      now += 2_000;
      await agents.clockMoved();
      got = [...got, 'behind', 'last', 'left', 'ring'].sort();
      expect((await agents.send(id, 'last'))?.split(',').sort()).toEqual(got);
    }
    const told = logs.filter(({ message }) =>
      message.startsWith('"left" waits for code that takes the state of its agent: '),
    );
    expect(told).toMatchObject([
      { message: expect.stringContaining('the migration of agent type Log to version 2 failed: Cannot read') },
      { message: expect.stringContaining('agent type Log is at version 1, its state at 2') },
    ]);
    await expect(loads(code(2).replace('(state) =>', 'async (state) =>'))).rejects.toMatchObject({
      code: 'APP_LOAD',
      message: 'static migrations of agent type Log have an async function for 2, and a step gives the state at once',
    });
  });

  it('leaves messages untried where what takes the state loops, and tells what loops', async () => {
    const migration = (step: string) =>
      `static version = 2; static migrations = { 2: (state) => { ${step} return state; } };`;
    const code = (how = '') => `
      agents.register(class Log extends Agent {
        ${how}
        state = { got: [] };
        onReceiveMessage(name) { if (name === 'spin') for (;;); this.state.got.push(name); return this.state.got.join(); }
      });`;
    const service = await agentService(code(), [], { limits: { messageAttempts: 1, turnThreadMs: 400 } });
    services.push(service);
    const { agents, hosts, app, logs } = service;
    const loads = (text: string) => agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(text) }));
    const { id } = await agents.start('Log');
    await agents.send(id, 'first');
    for (const looping of ['setState(text) { for (;;); }', migration('for (;;);')]) {
      await loads(code(looping));
      await agents.sendAsync(id, 'left');
      await expect(agents.send(id, 'now')).rejects.toMatchObject({
        code: 'AGENT_STATE',
        message: `what takes the stored state of agent ${id} held the thread for 400 ms`,
      });
      await expect
        .poll(() => logs.splice(0).filter(({ message }) => message.startsWith('"left" waits')))
        .toHaveLength(1);
      expect(await agents.info(id)).toMatchObject({ waiting: 1, deadLetters: 0 });
      await loads(code());
      await expect.poll(async () => (await agents.info(id)).waiting).toBe(0);
    }
    await loads(code(migration('')));
    expect(await agents.send(id, 'now')).toBe('first,left,left,now');
    await loads(code(migration('')));
    await expect(agents.send(id, 'spin')).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' });
  });

  it('tells of a stored state that lacks what the class begins with, once a type', async () => {
    const first = 'class Cup extends Agent { state = { tea: 1, left: undefined }; onReceiveMessage() { return "x"; } }';
    const service = await agentService(`${first}\nagents.register(Cup);`);
    services.push(service);
    const { agents, hosts, app, logs } = service;
    const cups = [await agents.start('Cup'), await agents.start('Cup')];
    const loaded = async (code: string) => {
      await agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(code) }));
      for (const { id } of cups) await agents.send(id, 'sip');
      return logs.splice(0).filter(({ message }) => message.includes('the stored state'));
    };
    expect(await loaded(`${first}\nagents.register(Cup);`)).toEqual([]);
    const second = first.replace('tea: 1', 'coffee: 1, sugar: 0');
    const told = await loaded(`${second}\nagents.register(Cup);`);
    expect(told).toMatchObject([{ level: 'warn', agentId: cups[0]?.id }]);
    expect(told[0]?.message).toContain(
      'has no "coffee", "sugar", which Cup begins with, and has "tea", which the class does not begin with',
    );
    const migrated = second.replace(
      '{',
      '{ static version = 2; static migrations = { 2: () => ({ coffee: 1, sugar: 2 }) };',
    );
    expect(await loaded(`${migrated}\nagents.register(Cup);`)).toEqual([]);
  });

  it('moves the others though one of them never ends its onSuspend', async () => {
    const stuck = 'class Stuck extends Agent { onSuspend() { return new Promise(() => undefined); } }';
    const service = await agentService(`${FIRST}\n${stuck}\nagents.register(Stuck);`);
    services.push(service);
    const { agents, hosts, app } = service;
    await agents.start('Stuck');
    const { id } = await agents.start('Diary');
    await agents.swap(() => hosts.load({ appDir: app.appDir, bundle: app.next(SECOND) }));
    expect(JSON.parse((await agents.send(id, 'state')) ?? '')).toMatchObject({ second: true });
    // the end of a service has more patience with it
    await hosts.close();
  });

  it('keeps big states, and what a checkpoint committed before a failure', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Diary');
    expect(await agents.send(id, 'grow', '100000')).toBe('100000');
    await agents.swap(async () => undefined);
    expect(await agents.send(id, 'grow', '10')).toBe('10');
    expect(await agents.send(id, 'step')).toBe('1');
    await expect(agents.send(id, 'step', 'fail')).rejects.toThrow('after the checkpoint');
    expect(await agents.send(id, 'steps')).toBe('2');
  });

  it('messages that came before the app was there are handled once it is', async () => {
    const store = createMemoryStore();
    const keep: Store = { ...bound(store), close: async () => undefined };
    const first = await open({ store: keep });
    const { id } = await first.agents.start('Diary');
    await first.agents.swap(async () => {
      await first.agents.sendAsync(id, 'step');
      const second = await agentService('', [], { store: keep, withoutApp: true });
      services.push(second);
      await second.agents.swap(() => second.hosts.load({ appDir: second.app.appDir, bundle: second.app.next(FIRST) }));
      await until(async () => (await second.agents.info(id)).waiting === 0);
      expect(await second.agents.send(id, 'steps')).toBe('1');
    });
  });

  it('refuses a state or a message that is too large', async () => {
    const { agents } = await open({ limits: { agentStateBytes: 1_000, messageBytes: 100 } });
    const { id } = await agents.start('Diary');
    await expect(agents.send(id, 'grow', '5000')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(await agents.send(id, 'hooks')).toBe('initialize resume');
    await expect(agents.send(id, 'text', 'y'.repeat(101))).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('counts of one alarm the last word only', async () => {
    const { agents } = await open({ limits: { hostMessageBytes: 100_000 } });
    const { id } = await agents.start('Diary');
    expect(await agents.send(id, 'flood', 'oneAlarm')).toBe('flooded');
  });

  it.each(['events', 'alarms', 'mail', 'starts', 'stops'])(
    'refuses %s without an end before they take all memory',
    async (what) => {
      const { agents } = await open({ limits: { hostMessageBytes: 100_000 } });
      const { id } = await agents.start('Diary');
      await expect(agents.send(id, 'flood', what)).rejects.toMatchObject({
        code: 'LIMIT_EXCEEDED',
        message: 'what the turn publishes and sends holds more than 100000 bytes',
        fix: expect.stringMatching(/limits\.hostMessageBytes is 100000: .*checkpoint/),
      });
      expect(await agents.send(id, 'hooks')).toBe('initialize resume');
    },
  );
});

describe('stored events', () => {
  it('are kept up to their limit; a reader behind it is told of the gap and goes on', async () => {
    const { agents, store } = await open({ limits: { eventsPerAgent: 5 } });
    const { id } = await agents.start('Diary');
    await agents.send(id, 'write', '4');
    const [first] = await take(agents.events({ agentId: id, after: `${store.incarnation}.0.0` }), 1);
    await agents.send(id, 'write', '8');
    await agents.send(id, 'write', '1');
    const seen = await take(agents.events({ agentId: id, after: first.id }), 6);
    expect(seen.map((event) => event.name)).toEqual(['agentEventGap', 'page', 'page', 'page', 'page', 'page']);
    expect(seen[0].data).toMatchObject({ code: 'NOT_KEPT', reason: expect.stringContaining('no longer kept') });
  });

  it('reach a reader that does not keep up, from the store', async () => {
    const { agents } = await open({ limits: { streamBufferBytes: 200 } });
    const { id } = await agents.start('Diary');
    const events = agents.events({ agentId: id })[Symbol.asyncIterator]();
    const first = events.next();
    await new Promise((turn) => setImmediate(turn));
    for (let i = 0; i < 5; i++) await agents.send(id, 'write', '20');
    const seen = [await first];
    while (seen.length < 100) seen.push(await events.next());
    expect(seen.map(({ value }) => (value.data as { i: number }).i)).toEqual(
      Array.from({ length: 100 }, (_, i) => i % 20),
    );
    expect(new Set(seen.map(({ value }) => value.id as string)).size).toBe(100);
    await events.return?.();
  });

  it('live ones go out at once, without an id', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Diary');
    const events = take(agents.events({ agentId: id }), 1);
    await new Promise((turn) => setImmediate(turn));
    await expect(agents.send(id, 'live')).rejects.toThrow('failed later');
    const [event] = await events;
    expect(event).toMatchObject({ name: 'progress', data: { done: 1 } });
    expect(event.id).toBeUndefined();
  });
});

it('replaying all records gives identical keys', async () => {
  const { agents, store, committer } = await open({ limits: { eventsPerAgent: 3 } });
  const { id } = await agents.start('Diary');
  await agents.send(id, 'write', '7');
  await agents.send(id, 'grow', '9000');
  await agents.send(id, 'grow', '10');
  await agents.sendAsync(id, 'nothing');
  await until(async () => (await agents.deadLetters(id)).length === 1);
  await agents.stop((await agents.start('Diary')).id);
  const copy = createMemoryStore();
  const snapshot = store.snapshot();
  await replay(await recordsOf(snapshot), {
    store: copy,
    appliers: [agentsApplier(makeLimits({ eventsPerAgent: 3 }))],
  });
  expect(await linesOf(copy, 'agents')).toEqual(await linesOf(store, 'agents'));
  snapshot.release();
  expect(committer.lastCommitTs).toBeGreaterThan(0);
});

async function take<T>(source: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const one of source) {
    taken.push(one);
    if (taken.length === count) break;
  }
  return taken;
}
