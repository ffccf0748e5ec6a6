import { afterEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, type ServiceOptions, until } from '../../test/agent-service.js';
import { bound } from '../../test/stored.js';
import { GraphsteadError, makeLimits } from '../base/index.js';
import { createCommitter } from '../commit/index.js';
import { createMemoryStore, type Store } from '../store/index.js';
import { agentsApplier } from './apply/applier.js';
import { shardOf } from './keys.js';

const CODE = `
  class Worker extends Agent {
    state = { done: [] };
    onInitialize() { this.state.done.push('born'); }
    async onReceiveMessage(name, data) {
      switch (name) {
        case 'note': this.state.done.push(data); return;
        case 'noteHalfway': this.state.done.push(this.attempt === 1 ? data : 'counted'); await this.checkpoint(); return;
        case 'done': return this.state.done.join(' ');
        case 'ask': return agents.sendMessage(data, 'done');
        case 'asksBriefly': return agents.sendMessage(data, 'done', null, { timeout: 20 });
        case 'asksNonsense': return agents.sendMessage(data, 'nonsense');
        case 'leaves': for (let i = 0; i < 3; i++) await agents.sendMessageAsync(data, 'note', String(i).repeat(500_000)); return;
        case 'tell': await agents.sendMessage('agent_a', 'note', data); return;
        case 'hangs': await new Promise(() => {}); return;
        case 'talks': throw new Error('x'.repeat(10_000));
        case 'ringsOften': for (let i = 0; i < 200; i++) this.setAlarm(Number(data), { name: 'often', id: 'a' + i }); return;
        case 'rung': return String(this.state.rung);
        case 'failsOnce': if (this.attempt === 1) throw new Error('once'); this.state.done.push('twice'); return;
        case 'noteTry': this.state.done.push(data + ' ' + this.attempt); return;
        case 'fails': for (let i = 0; i < 100; i++) this.setAlarm(i, { name: 'poison', id: 'a' + i }); return;
        case 'rings': this.setAlarm(0, { name }); return;
        case 'alarm': this.setAlarm(1000, { name: 'note', data }); return;
        case 'bravesMuch': for (let i = 0; i < 40; i++) this.publishEvent('e', { text: '\\u4e2d'.repeat(500) }); // falls through
        case 'braves': this.state.done.push('x'); try { await this.checkpoint(); } catch {} return 'done';
        case 'paysOn': {
          if (this.state.paid === undefined) {
            await agents.sendMessage(data, 'note', 'coin');
            this.state.paid = true;
            await this.checkpoint();
          }
          await agents.sendMessage(data, 'note', 'bill');
          if (this.attempt === 1) process.exit(1);
          return;
        }
        case 'steps': {
          this.state.done.push('try ' + this.attempt);
          await this.checkpoint();
          if (this.attempt === 1) process.exit(1);
          return;
        }
        case 'bravesTwice': {
          const first = this.checkpoint();
          this.state.done.push('y');
          await Promise.allSettled([first, this.checkpoint()]);
          return 'done';
        }
        case 'holdsLater': this.state.done.push('x'); await this.checkpoint(); await new Promise((go) => { globalThis.go = go; }); return;
        case 'pretends': try { await agents.info('agent_none'); } catch (error) { throw new error.constructor('OVERLOADED', 'not from the service', { fix: 'none' }); }
        case 'poison': throw new Error('always');
        case 'hold': if (globalThis.go === undefined) await new Promise((go) => { globalThis.go = go; }); return;
        case 'children': {
          this.state.child ??= (await agents.start('Worker')).id;
          await agents.sendMessageAsync(this.state.child, 'note', 'by ' + this.attempt);
          await this.checkpoint();
          if (this.attempt === 1) throw new Error('after the checkpoint');
          return;
        }
        case 'twins': {
          if (this.state.first === undefined) {
            this.state.first = (await agents.start(data)).id;
            await this.checkpoint();
            throw new Error('after the checkpoint');
          }
          this.state.child = (await agents.start('Worker')).id;
          return;
        }
        case 'paysBlindly': {
          await agents.sendMessage(data, 'note', 'coin');
          await this.checkpoint();
          if (this.attempt === 1) throw new Error('after the checkpoint');
          return;
        }
        case 'pays': {
          const [to, failsAt] = data.split(' ');
          if (this.state.paid === undefined) {
            await agents.sendMessage(to, 'note', 'coin');
            this.state.paid = true;
            await this.checkpoint();
            if (failsAt === 'checkpoint') throw new Error('after the checkpoint');
          }
          await agents.sendMessage(to, 'note', failsAt === 'end' ? 'note' : 'coin');
          if (this.attempt === 1) throw new Error('after both');
          return;
        }
        case 'child': return this.state.child;
      }
      return super.onReceiveMessage(name, data);
    }
    onAlarm(name, data) {
      if (name === 'often') { this.state.rung = (this.state.rung ?? 0) + 1; return; }
      if (name !== 'rings') return super.onAlarm(name, data);
      if (!this.state.done.includes('mended')) throw new Error('too early');
      this.state.done.push('rang');
    }
  }
  class Other extends Worker {}
  class Patient extends Agent {
    static attempts = 3;
    onReceiveMessage(name) {
      if (name === 'ring') return void this.setAlarm(Date.now(), { name: 'failing' });
      throw new Error('not yet');
    }
  }
  agents.register(Worker, Other, Patient);
  async function release() { globalThis.go(); }
  async function pid() { return process.pid; }
`;

let service: AgentService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});
const open = async (options: ServiceOptions = {}) => {
  service = await agentService(CODE, ['release', 'pid'], { limits: { messageAttempts: 2 }, ...options });
  return service;
};

/** Two agents; one has messages in its mailbox, from outside where they name nobody, that nobody has looked at since the start. */
async function stored(messages: readonly { name: string; data?: string; from?: string }[]): Promise<Store> {
  const store = createMemoryStore();
  const committer = await createCommitter({ store, appliers: [agentsApplier(makeLimits())] });
  const turn = { op: 'turn', expect: 0, create: { type: 'Worker' }, state: '{"done":[]}', version: 1 };
  const ops = [
    { ...turn, id: 'agent_a' },
    { ...turn, id: 'agent_b' },
    ...messages.map((message) => ({ op: 'post', to: 'agent_a', from: '', kind: 'message', ...message })),
  ];
  await committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
  await committer.close();
  return store;
}

describe('background work', () => {
  it('is not lost where its handler meets an agent that was stopped', async () => {
    const { agents } = await open();
    const one = await agents.start('Worker');
    const other = await agents.start('Worker');
    await agents.stop(other.id);
    await agents.sendAsync(one.id, 'ask', other.id);
    await until(async () => (await agents.info(one.id)).deadLetters === 1);
    expect(await agents.info(one.id)).toMatchObject({ waiting: 0 });
    expect((await agents.deadLetters(one.id))[0]).toMatchObject({ name: 'ask', attempts: 2 });
  });

  it.each([
    ['another agent has no time', 'asksBriefly', 3],
    ['another agent does not know a message', 'asksNonsense', 3],
    ['its own agent takes too long', 'hangs', 2],
    ['its own agent does not know it', 'nonsense', 1],
  ])('is tried often enough where %s', async (_, name, attempts) => {
    const { agents, call } = await open({
      limits: { messageAttempts: 3, turnWallMs: name === 'hangs' ? 2_000 : 60_000 },
    });
    const one = await agents.start('Worker');
    const other = await agents.start('Worker');
    if (name === 'asksBriefly') await agents.sendAsync(other.id, 'hold');
    await agents.sendAsync(one.id, name, other.id);
    await until(async () => (await agents.info(one.id)).deadLetters === 1);
    expect((await agents.deadLetters(one.id))[0]).toMatchObject({ name, attempts });
    if (name === 'asksBriefly') await call('release');
  });

  it('goes on behind a reload that came between two pages of a mailbox', async () => {
    const store = createMemoryStore();
    const committer = await createCommitter({ store, appliers: [agentsApplier(makeLimits())] });
    const post = { op: 'post', to: 'agent_a', from: '', kind: 'message' };
    const ops = [
      { op: 'turn', id: 'agent_a', expect: 0, create: { type: 'Worker' }, state: '{"done":[]}', version: 1 },
      ...Array.from({ length: 63 }, () => ({ ...post, name: 'note', data: 'x' })),
      { ...post, name: 'hold' },
      { ...post, name: 'note', data: 'behind' },
    ];
    await committer.commit({ startTs: 0, parts: { agents: { ops } }, conflicts: [] });
    await committer.close();
    const { agents, call, hosts, app } = await open({ store });
    await until(async () => (await agents.info('agent_a')).waiting === 2);
    const swapped = agents.swap(() => hosts.load(app));
    await call('release');
    await swapped;
    await until(async () => (await agents.info('agent_a')).waiting === 0);
    expect(await agents.send('agent_a', 'done')).toMatch(/x behind$/);
  });

  it('comes behind what waits in the store, also where the start has not looked there yet', async () => {
    const kept = await stored([{ name: 'note', data: 'old' }]);
    let look = () => {};
    const looks = new Promise<void>((open) => {
      look = open;
    });
    const store: Store = {
      ...bound(kept),
      snapshot: () => {
        const snapshot = kept.snapshot();
        return {
          version: snapshot.version,
          get: (key) => snapshot.get(key),
          getMany: (keys) => snapshot.getMany(keys),
          visit: (keys, visit) => snapshot.visit(keys, visit),
          // the look for mailboxes reads one key at a time
          range: (range) => (range.limit === 1 ? looks.then(() => snapshot.range(range)) : snapshot.range(range)),
          again: () => snapshot.again(),
          release: () => snapshot.release(),
        };
      },
    };
    const { agents } = await open({ store, resting: true });
    const resumed = agents.resume();
    await agents.sendAsync('agent_a', 'note', 'new');
    await until(async () => (await agents.send('agent_a', 'done'))?.endsWith('new') === true);
    look();
    await resumed;
    await until(async () => (await agents.info('agent_a')).waiting === 0);
    expect(await agents.send('agent_a', 'done')).toBe('old new');
  });

  it('comes before what its sender sends later and waits for', async () => {
    const store = await stored([{ name: 'note', data: 'old', from: 'agent_b' }]);
    const { agents } = await open({ store, resting: true });
    await agents.send('agent_b', 'tell', 'new');
    await agents.resume();
    await until(async () => (await agents.info('agent_a')).waiting === 0);
    expect(await agents.send('agent_a', 'done')).toBe('old new');
  });

  it('comes before what its sender sends later, also where more lies before it than is read at a time', async () => {
    const before = Array.from({ length: 70 }, (_, i) => ({
      name: 'note',
      data: String(i),
      from: i === 69 ? 'agent_b' : '',
    }));
    const { agents } = await open({ store: await stored(before), resting: true });
    const told = agents.send('agent_b', 'tell', 'new');
    await agents.resume();
    await told;
    expect(await agents.send('agent_a', 'done')).toMatch(/^0 1 .* 68 69 new$/);
  });

  it('comes before what its sender sends later, also where it is too much to be kept in memory', async () => {
    const { agents, call } = await open({ store: await stored([]) });
    await agents.sendAsync('agent_a', 'hold');
    await agents.send('agent_b', 'leaves', 'agent_a');
    const told = agents.send('agent_b', 'tell', 'new');
    const asked = agents.send('agent_a', 'done');
    await until(async () => agents.stats()['turns_running'] === 2);
    await call('release');
    // a caller from outside has no order with agents
    expect((await asked)?.split(' ').map((text) => text[0])).toEqual(['0', '1']);
    await told;
    const done = (await agents.send('agent_a', 'done')) ?? '';
    expect(done.split(' ').map((text) => text[0])).toEqual(['0', '1', '2', 'n']);
  });

  it('goes on behind a page that waits for another try, however much is asked meanwhile', async () => {
    const now = 1e9; // its next try never comes
    const failing = Array.from({ length: 64 }, () => ({ name: 'poison', from: 'agent_b' }));
    const store = await stored([...failing, { name: 'note', data: 'behind', from: 'agent_c' }]);
    const { agents } = await open({ store, clock: { wall: () => now, monotonic: () => performance.now() } });
    let left = 400;
    // there is always another one that waits
    const ask = async (): Promise<boolean> => {
      while (left-- > 0) if ((await agents.send('agent_a', 'done'))?.includes('behind')) return true;
      return false;
    };
    expect(await Promise.all([ask(), ask(), ask(), ask()])).toEqual([true, true, true, true]);
  });

  it('keeps the order of a sender whose messages waited for another try', async () => {
    let now = 1e9;
    const rest = Array.from({ length: 150 }, (_, i) => ({ name: 'note', data: String(i), from: 'agent_b' }));
    const store = await stored([{ name: 'poison', from: 'agent_b' }, ...rest, { name: 'note', data: 'other' }]);
    const { agents } = await open({ store, clock: { wall: () => now, monotonic: () => performance.now() } });
    await until(async () => (await agents.info('agent_a')).waiting === 151);
    const told = agents.send('agent_b', 'tell', 'last');
    now += 3_600_000;
    await agents.clockMoved();
    await told;
    const order = ['other', ...rest.map(({ data }) => data), 'last'].join(' ');
    expect(await agents.send('agent_a', 'done')).toBe(order);
  });

  it('goes on with other senders where more wait behind a failing message than are read at a time', async () => {
    const now = 1e9; // its next try never comes
    const behind = Array.from({ length: 70 }, () => ({ name: 'note', data: 'never', from: 'agent_b' }));
    const failing = { name: 'poison', from: 'agent_b' };
    const store = await stored([failing, ...behind, { name: 'note', data: 'other', from: 'agent_c' }]);
    const { agents } = await open({ store, clock: { wall: () => now, monotonic: () => performance.now() } });
    await until(async () => (await agents.info('agent_a')).waiting === 71);
    await agents.sendAsync('agent_a', 'note', 'late');
    await until(async () => (await agents.info('agent_a')).waiting === 71);
    expect(await agents.send('agent_a', 'done')).toBe('other late');
  });

  it.each(['a message', 'an alarm'])('tries %s as often as the class says', async (what) => {
    const { agents } = await open({ limits: { messageAttempts: 1 } });
    const { id } = await agents.start('Patient');
    await agents.sendAsync(id, what === 'an alarm' ? 'ring' : 'failing');
    await until(async () => (await agents.info(id)).deadLetters === 1);
    expect(await agents.deadLetters(id)).toMatchObject([{ name: 'failing', attempts: 3, error: 'not yet' }]);
  });

  it('counts its tries in the store, however much an error says', async () => {
    const { agents, logs } = await open();
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'talks');
    await until(async () => (await agents.info(id)).deadLetters === 1);
    expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('begins a child once, also where its turn is tried again behind a checkpoint', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'children');
    await until(async () => (await agents.info(id)).waiting === 0);
    const child = (await agents.send(id, 'child')) as string;
    await until(async () => (await agents.info(child)).waiting === 0);
    expect(await agents.send(child, 'done')).toBe('born by 1 by 2');
  });

  it.each(['Other', 'Worker'])('begins a child where the second try leaves out the first one (%s)', async (type) => {
    const { agents } = await open();
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'twins', type);
    await until(async () => (await agents.info(id)).waiting === 0);
    const child = (await agents.send(id, 'child')) as string;
    expect(await agents.info(child)).toMatchObject({ name: 'Worker' });
    expect(await agents.list()).toHaveLength(3);
  });

  it.each(['checkpoint', 'end'])(
    'sends what comes behind a checkpoint once, where a try failed at the %s',
    async (place) => {
      const { agents } = await open();
      const { id } = await agents.start('Worker');
      const other = await agents.start('Worker');
      await agents.sendAsync(id, 'pays', `${other.id} ${place}`);
      await until(async () => (await agents.info(id)).waiting === 0);
      expect(await agents.send(other.id, 'done')).toBe(place === 'end' ? 'born coin note' : 'born coin coin');
    },
  );

  it('sends what comes behind a checkpoint once, where a message that was waited for is sent again under its key', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Worker');
    const other = await agents.start('Worker');
    const pay = () => agents.send(id, 'pays', `${other.id} end`, { idempotencyKey: 'once' });
    await expect(pay()).rejects.toThrow('after both');
    await agents.send(id, 'note', 'between'); // the agent is in memory again
    await pay();
    expect(await agents.send(other.id, 'done')).toBe('born coin note');
  });

  it('sends once what came before a checkpoint that nothing landed with', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Worker');
    const other = await agents.start('Worker');
    await agents.sendAsync(id, 'paysBlindly', other.id);
    await until(async () => (await agents.info(id)).waiting === 0);
    expect(await agents.send(other.id, 'done')).toBe('born coin');
  });

  it('keeps an agent where a turn that was given up ends after the next has begun', async () => {
    const { agents, call } = await open({ limits: { turnWallMs: 2_000 } });
    const { id } = await agents.start('Worker');
    await expect(agents.send(id, 'hold')).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' });
    expect(await agents.send(id, 'done')).toBe('born');
    await call('release');
    expect(await agents.send(id, 'done')).toBe('born');
  });

  it.each([
    ['note', 'DISK_FULL', 'born kept'],
    ['noteHalfway', 'DISK_FULL', 'born kept'],
    ['noteTry', 'STORE_FENCED', 'born kept 1'],
  ] as const)('waits where the store takes no writes, and counts no try (%s, %s)', async (name, code, done) => {
    let now = Date.now();
    let full = false;
    const kept = createMemoryStore();
    const refused = () => Promise.reject(new GraphsteadError(code, 'no room', { fix: 'do something else' }));
    const store = {
      ...bound(kept),
      apply: (...args: Parameters<Store['apply']>) => (full ? refused() : kept.apply(...args)),
    };
    const { agents, call } = await open({ store, clock: { wall: () => now, monotonic: () => performance.now() } });
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'hold');
    await agents.sendAsync(id, name, 'kept');
    full = true;
    await call('release');
    for (let tries = 0; tries < 4; tries++) {
      now += 3_600_000;
      await agents.clockMoved();
    }
    full = false;
    now += 3_600_000;
    await agents.clockMoved();
    expect(await agents.info(id)).toMatchObject({ waiting: 0, deadLetters: 0 });
    expect(await agents.send(id, 'done')).toBe(done);
  });

  it('tries again in time where the clock is set back meanwhile', async () => {
    let now = Date.now();
    const { agents, logs } = await open({ clock: { wall: () => now, monotonic: () => performance.now() } });
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'failsOnce');
    await until(async () => logs.some(({ message }) => message.includes('"failsOnce" failed, try 1')));
    now -= 3_600_000;
    await until(async () => (await agents.info(id)).waiting === 0);
    expect(await agents.send(id, 'done')).toBe('born twice');
  });

  it('rings what is overdue in time where the clock is set back meanwhile', async () => {
    let now = 10_000_000_000;
    const { agents } = await open({ clock: { wall: () => now, monotonic: () => performance.now() } });
    const { id } = await agents.start('Worker');
    await agents.send(id, 'ringsOften', String(now + 60_000));
    now += 2 * 3_600_000;
    await agents.clockMoved();
    now -= 3_600_000;
    for (let looks = 0; looks < 10; looks++) {
      now += 1_000;
      await agents.clockMoved();
    }
    expect(await agents.send(id, 'rung')).toBe('200');
  });

  it('counts a try where the handler throws what the service refuses with', async () => {
    const { agents } = await open();
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'pretends');
    await until(async () => (await agents.info(id)).deadLetters === 1);
    expect(await agents.deadLetters(id)).toMatchObject([{ error: 'not from the service', attempts: 2 }]);
  });

  it('goes on where the store gave no snapshot for a moment', async () => {
    const kept = createMemoryStore();
    const committer = await createCommitter({ store: kept, appliers: [agentsApplier(makeLimits())] });
    const turn = { op: 'turn', id: 'agent_a', expect: 0, create: { type: 'Worker' }, state: '{"done":[]}', version: 1 };
    await committer.commit({ startTs: 0, parts: { agents: { ops: [turn] } }, conflicts: [] });
    await committer.close();
    let armed = false;
    let refuses = false;
    const store: Store = {
      ...bound(kept),
      // what has landed is delivered at once: the next snapshot is that of the delivery
      apply: async (...args) => {
        await kept.apply(...args);
        refuses = armed;
        armed = false;
      },
      snapshot: () => {
        if (!refuses) return kept.snapshot();
        refuses = false;
        throw new GraphsteadError('OVERLOADED', 'limits.readers snapshots are open', { fix: 'ask again' });
      },
    };
    const { agents } = await open({ store });
    armed = true;
    await agents.sendAsync('agent_a', 'note', 'x');
    await until(async () => (await agents.info('agent_a')).waiting === 0);
    expect(await agents.send('agent_a', 'done')).toBe('x');
  });

  it('sweeps what a stopped agent leaves at the next look, where the store refused it once', async () => {
    const kept = createMemoryStore();
    let armed = false;
    let refuses = false;
    let landed = 0;
    const store: Store = {
      ...bound(kept),
      apply: async (...args) => {
        if (refuses) throw new GraphsteadError('DISK_FULL', 'no room', { fix: 'make room' });
        await kept.apply(...args);
        landed++;
        refuses = armed;
      },
    };
    const { agents, logs } = await open({ store });
    const { id } = await agents.start('Worker');
    armed = true;
    await agents.stop(id);
    await until(async () => logs.some(({ message }) => message.includes('could not be taken away')));
    armed = false;
    refuses = false;
    landed = 0;
    await agents.clockMoved();
    expect(landed).toBeGreaterThan(0);
  });

  it('rings the alarms of other agents while many of one wait for their next try', async () => {
    const now = 1e9; // their next try never comes
    const { agents } = await open({ clock: { wall: () => now, monotonic: () => performance.now() } });
    const many = await agents.start('Worker');
    let other = await agents.start('Worker');
    while (shardOf(other.id) !== shardOf(many.id)) other = await agents.start('Worker');
    await agents.send(many.id, 'fails');
    await agents.clockMoved();
    await agents.send(other.id, 'alarm', 'rang');
    await agents.clockMoved();
    expect(await agents.send(other.id, 'done')).toBe('born rang');
  });

  it.each(['braves', 'bravesTwice'])(
    'fails a turn whose checkpoint failed, also where its handler goes on: %s',
    async (name) => {
      const kept = createMemoryStore();
      let refuses = false;
      const store: Store = {
        ...bound(kept),
        apply: async (...args) => {
          if (!refuses) return kept.apply(...args);
          refuses = false;
          throw new GraphsteadError('DISK_FULL', 'no room', { fix: 'make room' });
        },
      };
      const { agents } = await open({ store });
      const { id } = await agents.start('Worker');
      refuses = true;
      await expect(agents.send(id, name)).rejects.toMatchObject({ code: 'DISK_FULL' });
      expect(await agents.send(id, 'done')).toBe('born');
    },
  );

  it('fails a turn whose checkpoint is too large to leave its process, also where its handler goes on', async () => {
    const { agents } = await open({ limits: { hostMessageBytes: 32_000 } });
    const { id } = await agents.start('Worker');
    const limit = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('limits.hostMessageBytes is 32000') };
    await expect(agents.send(id, 'bravesMuch')).rejects.toMatchObject(limit);
    expect(await agents.send(id, 'done')).toBe('born');
  });

  it('knows that it begins again behind a checkpoint, in this process and in the next', async () => {
    const { agents, call } = await open();
    const { id } = await agents.start('Worker');
    await agents.send(id, 'steps');
    expect(await agents.send(id, 'done')).toBe('born try 1 try 2');
    await agents.sendAsync(id, 'holdsLater');
    await until(async () => (await agents.inspect(id)).waiting[0]?.attempts === 1);
    await until(() =>
      call('release').then(
        () => true,
        () => false,
      ),
    );
  });

  it('begins again behind a checkpoint that was on its way when its process died', async () => {
    const kept = createMemoryStore();
    let commits = Number.NEGATIVE_INFINITY;
    let reached = () => {};
    let letGo = () => {};
    const isReached = new Promise<void>((done) => {
      reached = done;
    });
    const isOpen = new Promise<void>((done) => {
      letGo = done;
    });
    const store: Store = {
      ...bound(kept),
      // it can be read already when its writer learns of it
      apply: async (...args) => {
        await kept.apply(...args);
        if (++commits !== 2) return;
        reached();
        await isOpen;
      },
    };
    const { agents, call } = await open({ store });
    const { id } = await agents.start('Worker');
    const other = await agents.start('Worker');
    const before = (await call('pid')) as number;
    commits = 0;
    const paid = agents.send(id, 'paysOn', other.id);
    await isReached;
    process.kill(before, 'SIGKILL');
    await until(async () => (await call('pid')) !== before);
    letGo();
    await paid;
    expect(await agents.send(other.id, 'done')).toBe('born coin bill');
  });

  it('keeps a dead letter while there is room, however often others are replayed', async () => {
    const { agents } = await open({ limits: { messageAttempts: 1, deadLetters: 2 } });
    const { id } = await agents.start('Worker');
    const letters = async () => (await agents.deadLetters(id)).map(({ data }) => data).join(' ');
    await agents.sendAsync(id, 'poison', 'a');
    await agents.sendAsync(id, 'poison', 'b');
    await until(async () => (await letters()) === 'a b');
    await agents.replay(id, '2');
    await until(async () => (await agents.info(id)).waiting === 0);
    expect(await letters()).toBe('a b');
    await agents.sendAsync(id, 'poison', 'c');
    await until(async () => (await agents.info(id)).waiting === 0);
    expect(await letters()).toBe('b c');
    expect((await agents.info(id)).deadLetters).toBe(2);
  });

  it('tells in the log where a handler threw, and what to do about it', async () => {
    const { agents, logs } = await open({ limits: { messageAttempts: 1 } });
    const { id } = await agents.start('Worker');
    await agents.sendAsync(id, 'poison');
    await agents.sendAsync(id, 'dance');
    await until(async () => (await agents.info(id)).deadLetters === 2);
    const told = (name: string) => logs.find(({ message }) => message.startsWith(`"${name}" failed`))?.message;
    expect(told('poison')).toMatch(/^"poison" failed, try 1: Error: always\n {4}at .*bundle-1\.mjs:\d+:\d+/);
    expect(told('dance')).toMatch(/: unknown message "dance" for agent type Worker \(.*onReceiveMessage\)/);
  });

  it('hands the dead letter of an alarm to onAlarm again', async () => {
    const { agents } = await open({ limits: { messageAttempts: 1 } });
    const { id } = await agents.start('Worker');
    await agents.send(id, 'rings');
    await until(async () => (await agents.info(id)).deadLetters === 1);
    await agents.send(id, 'note', 'mended');
    await agents.replay(id, '1');
    await until(async () => (await agents.info(id)).waiting === 0);
    expect(await agents.send(id, 'done')).toBe('born mended rang');
    expect((await agents.info(id)).deadLetters).toBe(0);
  });
});
