import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AgentService, agentService, until } from '../../test/agent-service.js';
import type { AgentEvent, AgentFilter } from './contract.js';

const CODE = `
  class Counter extends Agent {
    static handlers = ['add', 'total', 'multiply', 'passOn', 'reopen'];
    static readOnly = ['total', 'peek', 'stare'];
    state = { count: 0 };
    onInitialize() { this.state.born = this.id; }
    async onResume() { await null; }
    async onReceiveMessage(name, data) {
      switch (name) {
        case 'increment': return String(this.state.count += Number(data ?? 1));
        case 'peek': return String(this.state.count);
        case 'stare': return new Promise((done) => this.signal.addEventListener('abort', done));
        case 'born': return this.state.born + ' ' + this.name;
        case 'throwRevoked': { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; }
        case 'silent': return undefined;
        case 'break': this.state.count = -1; throw new Error('broken on purpose');
        case 'circle': this.state.self = this.state; return;
        case 'publish': this.publishEvent('one', { n: 1 }); this.publishEvent({ eventName: 'two', value: data }); return 'ok';
        case 'publishAs': this.publishEvent(data, {}); return 'published';
        case 'publishNothing': this.publishEvent(null); return;
        case 'forgets': void Promise.reject(new Error('nobody waits for me')); return 'gone';
        case 'publishAndFail': this.publishEvent('never', {}); throw new Error('no');
        case 'relay': return agents.sendMessage(data, 'increment', '5');
        case 'loop': return agents.sendMessage(data, 'back', this.id);
        case 'back': return agents.sendMessage(data, 'increment');
        case 'mail': return agents.sendMessageAsync(data, 'increment').then(() => 'posted');
        case 'mailAndFail': return agents.sendMessageAsync(data, 'increment').then(() => { throw new Error('no'); });
        case 'changesItsMind': await agents.sendMessage(data, 'increment', String(this.attempt)); if (this.attempt < 2) throw new Error('not yet'); return;
        case 'keepsItsMind': await agents.sendMessage(data, 'increment', '10'); if (this.attempt < 2) throw new Error('not yet'); return;
        case 'breaksOnce': await agents.sendMessage(data, 'increment', '10'); if ((globalThis.tries = (globalThis.tries ?? 0) + 1) === 1) throw new Error('not yet'); return 'done';
        case 'asksAnew': {
          const { existsSync, writeFileSync } = await import('node:fs');
          const isFirst = !existsSync('asked');
          writeFileSync('asked', '');
          await agents.sendMessage(data, 'increment', String(Math.random()));
          if (isFirst) await new Promise(() => {}); // until its process dies
          return 'asked';
        }
        case 'flaky': if (this.attempt < 3) throw new Error('not yet'); this.state.count += 100; return;
        case 'poison': throw new Error('always');
        case 'child': return agents.start('Counter').then(({ id }) => id);
        case 'alarm': this.setAlarm(Date.now() + 20, { name: 'increment', data: '7' }); return 'set';
        case 'busyChild': { const { id } = await agents.start('Counter'); await agents.sendMessageAsync(id, 'increment', '9'); return id; }
        case 'badChild': return (await agents.start('Bad')).id;
        case 'askNewChild': { const { id } = await agents.start('Counter'); return agents.sendMessage(id, 'increment'); }
        case 'end': await agents.stop(data ?? this.id); return 'ending';
        case 'alarmKeepsItsMind': this.setAlarm(0, { name: 'keepsItsMind', data }); return 'set';
        case 'alarmBad': this.setAlarm(new Date(), { name: 'poison' }); return 'set';
        case 'alarmTwice': this.setAlarm(Date.now() + 60_000, { name: 'increment', id: 'a' }); this.setAlarm(Date.now() + 60_000, { name: 'increment', id: 'b' }); return 'set';
        case 'alarmMove': this.cancelAlarm('a'); this.setAlarm(Date.now(), { name: 'increment', id: 'b', data: '3' }); return 'moved';
        case 'spin': while (true) {}
        case 'number': return 5;
        case 'slowly': await new Promise((done) => setTimeout(done, 700)); return String(this.state.count += 5);
        case 'relaySlowly': this.state.count++; return agents.sendMessage(data, 'slowly');
      }
      return super.onReceiveMessage(name, data);
    }
    add(by) { return { now: this.state.count += by }; }
    total() { return this.state.count; }
    multiply(by, times) { if (this.state.shut) throw new Error('shut'); this.state.count += by * times; }
    async passOn(id, by) { await agents.refAsync(Counter, id).multiply(by, 3); this.state.shut = true; }
    reopen() { this.state.shut = false; }
  }
  agents.register(Counter);
  class Bad extends Agent { onInitialize() { throw new Error('cannot begin'); } }
  agents.register(Bad);

  async function registerLate() { class Late extends Agent {} agents.register(Counter); agents.register(Late); }
  async function startOne() { return (await agents.start('Counter')).id; }
  async function startTwo() { return Promise.all([agents.start(Counter), agents.start(Counter)]); }
  async function typedAdd(id) { const one = await agents.ref(Counter, id).add(4); return [one, await agents.ref(Counter, id).total()]; }
  async function post(id, name, args, options) { await agents.refAsync(Counter, id, options)[name](...args); }
  async function say(id, name, data, options) { return agents.sendMessage(id, name, data, options); }
  function forgetsToo() { void Promise.reject(new Error('nobody waits for a function')); return 'gone'; }
  async function mail(id, name, data) { await agents.sendMessageAsync(id, name, data); }
`;
const EXPORTS = ['registerLate', 'startOne', 'startTwo', 'typedAdd', 'post', 'say', 'mail', 'forgetsToo'];

let service: AgentService;
const send = (id: string, name: string, data?: string) => service.agents.send(id, name, data);

/** Asks until it holds; every background work of these tests ends in milliseconds. */

beforeEach(async () => {
  service = await agentService(CODE, EXPORTS, { limits: { messageAttempts: 3, turnThreadMs: 400 } });
});
afterEach(() => {
  vi.useRealTimers();
  return service.close();
});

describe('agents', () => {
  it('start, keep state between messages, know their id and name', async () => {
    const { id, name, status } = await service.agents.start('Counter');
    expect({ name, status }).toEqual({ name: 'Counter', status: 'running' });
    expect(await send(id, 'increment')).toBe('1');
    expect(await send(id, 'increment', '2')).toBe('3');
    expect(await send(id, 'born')).toBe(`${id} Counter`);
    expect(await send(id, 'silent')).toBeUndefined();
  });

  it('hand what a handler throws to the sender and keep nothing of it', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'increment');
    await expect(send(id, 'break')).rejects.toMatchObject({ code: 'AGENT_FAILED', message: 'broken on purpose' });
    expect(await send(id, 'peek')).toBe('1');
    expect(await send(id, 'increment')).toBe('2');
  });

  it('answer at once where what a handler throws cannot even be looked at', async () => {
    const { agents } = service;
    const { id } = await agents.start('Counter');
    const unread = { code: 'AGENT_FAILED', message: 'what was thrown cannot be read' };
    await expect(agents.send(id, 'throwRevoked', undefined, { timeoutMs: 5_000 })).rejects.toMatchObject(unread);
    expect(await agents.send(id, 'increment')).toBe('1');
  });

  it('are registered while the app loads, and not behind it', async () => {
    const refusal = { code: 'APP_LOAD', message: 'agent type Late is registered after the app has loaded' };
    await expect(service.call('registerLate')).rejects.toMatchObject(refusal);
  });

  it('tell in the log what nobody waited for, and whose it was', async () => {
    const { id } = await service.agents.start('Counter');
    await expect(send(id, 'publishNothing')).rejects.toMatchObject({ code: 'INVALID_VALUE', message: /needs a name/ });
    expect(await send(id, 'forgets')).toBe('gone');
    const told = () => service.logs.find(({ message }) => message.includes('nobody waits for me'))?.message;
    await until(async () => told() !== undefined);
    expect(told()).toMatch(
      new RegExp(`^unhandled rejection in "forgets" of agent ${id}: Error: .*\\n {4}at .*bundle-1`),
    );
    expect(told()).not.toContain('/host/');
    expect(await service.call('forgetsToo')).toBe('gone');
    const place = 'unhandled rejection in the function "forgetsToo": Error: nobody waits for a function';
    await until(async () => service.logs.some(({ message }) => message.startsWith(place)));
  });

  it('name the agent whose state is no JSON', async () => {
    const { id } = await service.agents.start('Counter');
    const refusal = { code: 'AGENT_STATE', message: expect.stringContaining(`state of agent ${id} is no JSON`) };
    await expect(send(id, 'circle')).rejects.toMatchObject(refusal);
    expect(await send(id, 'peek')).toBe('0');
  });

  it('tell their dead letters in pages, which are short where the letters are large', async () => {
    const { id } = await service.agents.start('Counter');
    const large = 'x'.repeat(1024 * 1024 - 1_000);
    const names = Array.from({ length: 12 }, (_, i) => `nobody-knows-${i}`);
    for (const name of names) await service.agents.sendAsync(id, name, large);
    await until(async () => (await service.agents.info(id)).deadLetters === names.length);
    const told: string[] = [];
    const lengths: number[] = [];
    for (let after: string | undefined; told.length < names.length; ) {
      const page = await service.agents.deadLetters(id, { after });
      lengths.push(page.length);
      told.push(...page.map(({ name }) => name));
      after = page.at(-1)?.id;
    }
    // in the order in which they failed: who sends from outside is promised no other, and a slow machine runs some again
    expect([told.toSorted(), lengths]).toEqual([names.toSorted(), [8, 4]]);
    const two = await service.agents.deadLetters(id, { first: 2 });
    expect(two.map(({ name }) => name)).toEqual(told.slice(0, 2));
    expect(await service.agents.deadLetters(id, { after: '12' })).toEqual([]);
    expect((await service.agents.inspect(id)).deadLetters).toHaveLength(8);
    for (const page of [{ first: 0 }, { first: 1_001 }, { first: 1.5 }, { after: 'x' }, { after: 1 as never }]) {
      await expect(service.agents.deadLetters(id, page)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    }
  });

  it('can be looked into: state, what waits, what failed, and where their events begin', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'publish', 'x');
    await send(id, 'increment');
    await service.agents.sendAsync(id, 'nobody-knows-this', 'data');
    await until(async () => (await service.agents.info(id)).deadLetters === 1);
    const seen = await service.agents.inspect(id);
    expect(JSON.parse(seen.state!)).toEqual({ count: 1, born: id });
    expect(seen).toMatchObject({ info: { id, waiting: 0 }, waiting: [], deadLetters: [{ data: 'data' }] });
    for await (const { name } of service.agents.events({ agentId: id, after: seen.beforeFirstEvent })) {
      expect(name).toBe('one');
      break;
    }
    await expect(service.agents.inspect('nobody')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });

  it('name what is unknown: a message, an agent, a type', async () => {
    const { id } = await service.agents.start('Counter');
    await expect(send(id, 'dance')).rejects.toMatchObject({
      code: 'MESSAGE_UNKNOWN',
      message: expect.stringContaining('"dance"'),
    });
    await expect(send('agent_none', 'x')).rejects.toMatchObject({
      code: 'AGENT_UNKNOWN',
      message: expect.stringContaining('agent_none'),
    });
    await expect(service.agents.start('Nobody')).rejects.toMatchObject({
      code: 'AGENT_TYPE_UNKNOWN',
      fix: expect.stringMatching(/agents\.register\(Class\).*static agentName/),
    });
    await expect(send('', 'x')).rejects.toMatchObject({ code: 'AGENT_ID_MISSING' });
    await expect(send(id, 'number')).rejects.toMatchObject({ message: expect.stringContaining('not a string') });
  });

  it('an agent whose onInitialize throws was never started', async () => {
    await expect(service.agents.start('Bad')).rejects.toMatchObject({ message: 'cannot begin' });
    expect(await service.agents.list()).toEqual([]);
  });

  it('answer functions, with typed senders', async () => {
    const id = (await service.call('startOne')) as string;
    expect(await service.call('typedAdd', id)).toEqual([{ now: 4 }, 4]);
    expect(await service.call('say', id, 'add', '6')).toBe('{"now":10}');
    await expect(service.call('say', id, 'dance')).rejects.toMatchObject({ code: 'MESSAGE_UNKNOWN' });
    expect((await service.call('startTwo')) as unknown[]).toHaveLength(2);
  });

  it('stop for good, also from suspension; later messages are refused', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'increment');
    await service.agents.swap(async () => undefined);
    expect((await service.agents.info(id)).status).toBe('suspended');
    expect((await service.agents.stop(id)).status).toBe('terminated');
    await expect(send(id, 'increment')).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
    await expect(service.agents.sendAsync(id, 'increment')).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
  });

  it('resume with their state after suspension', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'increment', '41');
    await service.agents.swap(async () => undefined);
    expect(await send(id, 'increment')).toBe('42');
  });

  it('send to each other; a circle is refused with its names', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    expect(await send(a.id, 'relay', b.id)).toBe('5');
    await expect(send(a.id, 'loop', b.id)).rejects.toMatchObject({
      code: 'AGENT_CIRCLE',
      message: expect.stringContaining(a.id),
    });
    await expect(send(a.id, 'relay', a.id)).rejects.toMatchObject({ code: 'AGENT_CIRCLE' });
    expect(await send(b.id, 'increment')).toBe('6');
  });

  it('mail of a turn goes out with its commit only', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    await expect(send(a.id, 'mailAndFail', b.id)).rejects.toThrow('no');
    expect(await send(a.id, 'mail', b.id)).toBe('posted');
    await until(async () => (await send(b.id, 'peek')) === '1');
    await expect(send(a.id, 'mail', 'agent_none')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });

  it('leave typed messages with all their arguments, from functions, turns and dead letters', async () => {
    const [{ id }, { id: other }] = [await service.agents.start('Counter'), await service.agents.start('Counter')];
    const post = (name: string, args: unknown[], options?: object) =>
      service.hosts.call({ name: 'post', args: [id, name, args, options], requestId: 'r' });
    await post('multiply', [2, 3], { idempotencyKey: 'once' });
    await post('multiply', [2, 3], { idempotencyKey: 'once' });
    await until(async () => (await send(id, 'peek')) === '6');
    await post('passOn', [other, 5]);
    await until(async () => (await send(other, 'peek')) === '15');
    await post('multiply', [10, 2]);
    await until(async () => (await service.agents.deadLetters(id)).length === 1);
    const [letter] = await service.agents.deadLetters(id);
    expect(letter).toMatchObject({ name: 'multiply', data: '[10,2]', error: 'shut' });
    await send(id, 'reopen');
    await service.agents.replay(id, letter.id);
    await until(async () => (await send(id, 'peek')) === '26');
  });

  it('try background messages again, then keep them as dead letters that can be replayed', async () => {
    const { id } = await service.agents.start('Counter');
    await service.call('mail', id, 'flaky');
    await until(async () => (await send(id, 'peek')) === '100');
    await service.call('mail', id, 'poison', 'x');
    await until(async () => (await service.agents.deadLetters(id)).length === 1);
    const [letter] = await service.agents.deadLetters(id);
    expect(letter).toMatchObject({ name: 'poison', data: 'x', error: 'always', attempts: 3 });
    expect(await service.agents.info(id)).toMatchObject({ waiting: 0, deadLetters: 1 });
    await service.agents.replay(id, letter.id);
    await until(async () => (await service.agents.deadLetters(id)).some((one) => one.id !== letter.id));
    expect(await service.agents.deadLetters(id)).toHaveLength(1);
  });

  it('start children with the turn that asked for them', async () => {
    const { id } = await service.agents.start('Counter');
    const child = (await send(id, 'child')) as string;
    expect(await send(child, 'born')).toBe(`${child} Counter`);
    const texts = [{ after: 5 }, { after: null }, { name: 5 }] as unknown as AgentFilter[];
    for (const filter of [{ status: 'bogus' as 'running' }, { first: 0 }, { first: 1_001 }, { first: 1.5 }, ...texts]) {
      await expect(service.agents.list(filter)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    }
    expect((await service.agents.list({ name: 'Counter' })).map((one) => one.id).sort()).toEqual([id, child].sort());
  });

  it('a child gets what its parent sent it, after its onInitialize; one that cannot begin is ended', async () => {
    const { id } = await service.agents.start('Counter');
    const child = (await send(id, 'busyChild')) as string;
    await until(async () => (await send(child, 'peek')) === '9');
    expect(await send(child, 'born')).toBe(`${child} Counter`);
    const bad = (await send(id, 'badChild')) as string;
    await until(async () => (await service.agents.info(bad)).status === 'terminated');
    expect(await service.agents.deadLetters(bad)).toMatchObject([{ name: 'onInitialize', error: 'cannot begin' }]);
    await expect(send(id, 'askNewChild')).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });

  it('stop each other and themselves', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    expect(await send(a.id, 'end', b.id)).toBe('ending');
    await until(async () => (await service.agents.info(b.id)).status === 'terminated');
    expect(await send(a.id, 'end')).toBe('ending');
    await until(async () => (await service.agents.info(a.id)).status === 'terminated');
  });

  it('fire alarms', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'alarm');
    await until(async () => (await send(id, 'peek')) === '7');
  });

  it('alarms can be moved and taken back; one that fails becomes a dead letter', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'alarmTwice');
    await send(id, 'alarmMove');
    await until(async () => (await send(id, 'peek')) === '3');
    await send(id, 'alarmBad');
    await until(async () => (await service.agents.deadLetters(id)).length === 1);
    expect(await service.agents.deadLetters(id)).toMatchObject([{ name: 'poison', attempts: 3, error: 'always' }]);
    expect(await send(id, 'peek')).toBe('3');
  });

  it('a function called again under its idempotency key sends and starts once', async () => {
    const { id } = await service.agents.start('Counter');
    const again = (name: string, ...args: unknown[]) =>
      service.hosts.call({ name, args, requestId: 'r', idempotencyKey: `k-${name}` });
    expect([await again('say', id, 'increment'), await again('say', id, 'increment')]).toEqual(['1', '1']);
    expect(await again('startOne')).toBe(await again('startOne'));
    await again('mail', id, 'increment');
    await again('mail', id, 'increment');
    await until(async () => (await service.agents.info(id)).waiting === 0);
    expect(await send(id, 'peek')).toBe('2');
  });

  it('the same idempotency key of two callers is two keys', async () => {
    const { id } = await service.agents.start('Counter');
    const as = (caller: string, name: string, ...args: unknown[]) =>
      service.hosts.call({ name, args, requestId: 'r', idempotencyKey: 'k', caller });
    const own = { idempotencyKey: 'mine' };
    expect([await as('ann', 'say', id, 'increment'), await as('ben', 'say', id, 'increment')]).toEqual(['1', '2']);
    expect([await as('ann', 'say', id, 'increment'), await as('ben', 'say', id, 'increment')]).toEqual(['1', '2']);
    expect(await as('ann', 'say', id, 'increment', '1', own)).toBe('3');
    expect(await as('ben', 'say', id, 'increment', '1', own)).toBe('4');
    expect(await as('ann', 'startOne')).toBe(await as('ann', 'startOne'));
    expect(await as('ann', 'startOne')).not.toBe(await as('ben', 'startOne'));
    await as('ann', 'mail', id, 'increment');
    await as('ben', 'mail', id, 'increment');
    await as('ben', 'mail', id, 'increment');
    await until(async () => (await service.agents.info(id)).waiting === 0);
    expect(await send(id, 'peek')).toBe('6');
  });

  it('an endless loop fails its own message only', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    await send(a.id, 'increment');
    const spinning = send(a.id, 'spin');
    const others = Promise.all(Array.from({ length: 5 }, () => send(b.id, 'increment')));
    await expect(spinning).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' });
    expect(await others).toEqual(['1', '2', '3', '4', '5']);
    expect(await send(a.id, 'increment')).toBe('2');
  });

  it('a message sent by a turn whose process dies is handled once, although the turn runs again', async () => {
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => service.agents.start('Counter')));
    const relayed = send(a.id, 'relaySlowly', b.id);
    await expect(send(c.id, 'spin')).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' });
    expect(await relayed).toBe('5');
    expect([await send(a.id, 'peek'), await send(b.id, 'peek')]).toEqual(['1', '5']);
  });

  it('a message tried again sends once what it sent before; something else is sent anew, and logged', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    const told = () => service.logs.filter(({ level, message }) => level === 'warn' && message.includes('anew'));
    await service.agents.sendAsync(a.id, 'keepsItsMind', b.id);
    await until(async () => (await service.agents.info(a.id)).waiting === 0);
    expect([await send(b.id, 'peek'), told()]).toEqual(['10', []]);
    await service.agents.sendAsync(a.id, 'changesItsMind', b.id);
    await until(async () => (await service.agents.info(a.id)).waiting === 0);
    expect(await send(b.id, 'peek')).toBe('13');
    expect(told()).toMatchObject([{ agentId: a.id, message: expect.stringContaining('"changesItsMind"') }]);
  });

  it('an alarm tried again sends once what it sent before; another at the same time sends for itself', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    for (const total of ['10', '20']) {
      const before = (await service.agents.info(a.id)).turns;
      await send(a.id, 'alarmKeepsItsMind', b.id);
      await until(async () => (await service.agents.info(a.id)).turns === before + 2);
      expect(await send(b.id, 'peek')).toBe(total);
    }
    expect(service.logs.filter(({ message }) => message.startsWith('"keepsItsMind" failed'))).toHaveLength(2);
  });

  it('a message sent again under its key sends once what it sent before', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    const keyed = () => service.agents.send(a.id, 'breaksOnce', b.id, { idempotencyKey: 'k' });
    await expect(keyed()).rejects.toThrow('not yet');
    expect(await keyed()).toBe('done');
    expect(await send(b.id, 'peek')).toBe('10');
  });

  it('a run again in another process that asks something else is logged', async () => {
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => service.agents.start('Counter')));
    const asking = send(a.id, 'asksAnew', b.id);
    await until(async () => (await send(b.id, 'peek')) !== '0');
    await expect(send(c.id, 'spin')).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' });
    expect(await asking).toBe('asked');
    const told = service.logs.filter(({ message }) => message.includes('made anew'));
    expect(told.length).toBeGreaterThan(0);
    expect(told[0]).toMatchObject({ level: 'warn', agentId: a.id, operation: 'asksAnew' });
  });

  it('give the first reply again under the same idempotency key', async () => {
    const { id } = await service.agents.start('Counter');
    const again = () => service.agents.send(id, 'increment', '1', { idempotencyKey: 'k' });
    expect(await Promise.all([again(), again(), again()])).toEqual(['1', '1', '1']);
    expect(await send(id, 'peek')).toBe('1');
    const other = service.agents.send(id, 'increment', '2', { idempotencyKey: 'k' });
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    const starts = [service.agents.start('Counter', { idempotencyKey: 's' })];
    starts.push(service.agents.start('Counter', { idempotencyKey: 's' }));
    const [first, second] = await Promise.all(starts);
    expect(first.id).toBe(second.id);
  });

  it('a loop is found at once also in an agent that has just come back', async () => {
    const [a, b] = await Promise.all([service.agents.start('Counter'), service.agents.start('Counter')]);
    await service.agents.swap(async () => undefined);
    const before = service.hosts.stats()['host_kills'];
    const spinning = send(a.id, 'spin');
    const other = send(b.id, 'slowly');
    await expect(spinning).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' });
    expect(await other).toBe('5');
    expect(service.hosts.stats()['host_kills']).toBe((before as number) + 1);
  });

  it('take a message back that could not begin in time; say when the outcome is unknown', async () => {
    const { id } = await service.agents.start('Counter');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sent = (name: string) => service.agents.send(id, name, undefined, { timeoutMs: 50 });
    const told = Promise.all([
      expect(sent('spin')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' }),
      expect(sent('increment')).rejects.toMatchObject({ code: 'AGENT_TIMEOUT' }),
    ]);
    while (service.hosts.stats()['host_tasks'] === 0) await nextTurn(); // the first has begun from here on
    vi.advanceTimersByTime(50);
    vi.useRealTimers();
    await told;
    expect(await send(id, 'increment')).toBe('1');
  });

  it('that only read are given up when their sender does not wait any longer', async () => {
    const { id } = await service.agents.start('Counter');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const told = expect(service.agents.send(id, 'stare', undefined, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'AGENT_TIMEOUT',
      message: `"stare" of agent ${id} did not end within 50 ms`,
    });
    while (service.hosts.stats()['host_tasks'] === 0) await nextTurn();
    vi.advanceTimersByTime(50);
    vi.useRealTimers();
    await told;
    await until(async () => service.hosts.stats()['host_tasks'] === 0);
  });
});

describe('events', () => {
  const collect = async (request: Parameters<AgentService['agents']['events']>[0], count: number) => {
    const events: { id?: string; name: string; data: unknown }[] = [];
    for await (const event of service.agents.events(request)) {
      events.push(event);
      if (events.length === count) break;
    }
    return events;
  };

  it('reach subscribers in order, with ids to resume from', async () => {
    const { id } = await service.agents.start('Counter');
    const live = collect({ agentId: id }, 2);
    await new Promise((turn) => setImmediate(turn));
    await send(id, 'publish', 'v');
    const seen = await live;
    expect(seen.map(({ name, data }) => ({ name, data }))).toEqual([
      { name: 'one', data: { n: 1 } },
      { name: 'two', data: { value: 'v' } },
    ]);
    expect(seen[0].id).toMatch(new RegExp(`^${service.store.incarnation}\\.\\d+\\.0$`));
    const rest = await collect({ agentId: id, after: seen[0].id }, 1);
    expect(rest).toEqual([seen[1]]);
    expect(await collect({ agentId: id, after: '0' }, 2)).toEqual(seen);
    await expect(collect({ agentId: id, after: 'x' }, 1)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await expect(collect({ agentId: 'agent_none' }, 1)).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
  });

  it('come together as far as they are there when the reader asks, each once', async () => {
    const { id } = await service.agents.start('Counter');
    const batches = service.agents.eventBatches({ agentId: id })[Symbol.asyncIterator]();
    const first = batches.next();
    await new Promise((turn) => setImmediate(turn));
    for (let i = 0; i < 3; i++) await send(id, 'publish');
    const names = async (batch: typeof first) => (await batch).value.map(({ name }: { name: string }) => name);
    expect(await names(first)).toEqual(['one', 'two']);
    expect(await names(batches.next())).toEqual(['one', 'two', 'one', 'two']);
    const missed = service.agents.eventBatches({ agentId: id, after: `${service.store.incarnation}.0.0` });
    expect(await names(missed[Symbol.asyncIterator]().next())).toHaveLength(6);
    await batches.return?.();
  });

  it('of a failed turn are never told', async () => {
    const { id } = await service.agents.start('Counter');
    const live = collect({ agentId: id }, 1);
    await new Promise((turn) => setImmediate(turn));
    await expect(send(id, 'publishAndFail')).rejects.toThrow('no');
    await send(id, 'publish');
    expect((await live)[0].name).toBe('one');
  });

  it('tell a gap where the store was another one', async () => {
    const { id } = await service.agents.start('Counter');
    await send(id, 'publish');
    const [gap, first] = await collect({ agentId: id, after: 'other.5.0' }, 2);
    expect(gap).toMatchObject({ name: 'agentEventGap' });
    expect(gap.id).toBeUndefined();
    expect(first.name).toBe('one');
  });

  it('end behind the last one of an agent that is stopped, and of one that was', async () => {
    const { id } = await service.agents.start('Counter');
    const live: AgentEvent[] = [];
    const stream = service.agents.events({ agentId: id })[Symbol.asyncIterator]();
    const begun = stream.next();
    await new Promise((turn) => setImmediate(turn));
    await send(id, 'publish');
    await service.agents.stop(id);
    for (let next = await begun; !next.done; next = await stream.next()) live.push(next.value);
    expect(live.map(({ name }) => name)).toContain('one');
    const again: AgentEvent[] = [];
    for await (const event of service.agents.events({ agentId: id, after: live[0].id })) again.push(event);
    expect(again.map((event) => event.id)).toEqual(live.slice(1).map((event) => event.id));
  });

  it('have none of the names of the service itself', async () => {
    const { id } = await service.agents.start('Counter');
    for (const name of ['agentStatusUpdated', 'agentEventGap']) {
      const refusal = {
        code: 'INVALID_VALUE',
        message: expect.stringContaining(`"${name}" is an event of the service`),
      };
      await expect(send(id, 'publishAs', name)).rejects.toMatchObject(refusal);
    }
    expect(await send(id, 'publishAs', 'agentStatusUpdatedToo')).toBe('published');
  });

  it('tell statuses to those who name them', async () => {
    const { id } = await service.agents.start('Counter');
    const statuses = collect({ agentId: id, names: ['agentStatusUpdated'] }, 2);
    await new Promise((turn) => setImmediate(turn));
    await service.agents.stop(id);
    expect((await statuses).map((event) => event.data)).toEqual([{ status: 'stopping' }, { status: 'terminated' }]);
  });

  it('tell that a turn which failed has taken its agent out of memory', async () => {
    const { id } = await service.agents.start('Counter');
    const statuses = collect({ agentId: id, names: ['agentStatusUpdated'] }, 5);
    await new Promise((turn) => setImmediate(turn));
    for (let i = 0; i < 2; i++) {
      await expect(send(id, 'break')).rejects.toThrow('broken on purpose');
      expect((await service.agents.info(id)).status).toBe('suspended');
    }
    await send(id, 'increment');
    const told = (await statuses).map(({ data }) => (data as { status: string }).status);
    expect(told).toEqual(['suspended', 'resuming', 'suspended', 'resuming', 'running']);
  });
});
