import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AgentService, agentService, until } from '../../test/agent-service.js';

const CODE = `
  class Clerk extends Agent {
    static handlers = ['file', 'note'];
    static readOnly = ['filed'];
    state = { filed: [] };
    async onReceiveMessage(name, data) {
      if (name === 'filed') return JSON.stringify(this.state.filed);
      if (name === 'fail') throw new Error('not today');
      if (name !== 'file') return super.onReceiveMessage(name, data);
      this.state.filed.push(data);
      return 'filed';
    }
    note(text) { this.state.filed.push('note ' + text); }
  }
  agents.register(Clerk);
  const told = (work) => work.then(() => 'done', (error) => (error.code ?? '') + ': ' + error.message);
  const ADA = '{ q(func: eq(name, "Ada")) { uid age } }';
  async function addAda() { await graph.mutate({ set: { name: 'Ada', age: 1 } }); }
  async function names() { return (await graph.query('{ q(func: has(name), orderasc: name) { name } }')).q.map((one) => one.name); }
  async function filed(id) { return JSON.parse(await agents.sendMessage(id, 'filed')); }

  /** What it writes meets what it writes itself beside, until the given run. */
  async function meetUntil(id, last, after) {
    let run = 0;
    const child = await graph.transaction(async (txn) => {
      const { q } = await txn.query(ADA);
      const age = q[0]?.age ?? 0;
      run++;
      await agents.sendMessageAsync(id, 'file', 'run ' + run);
      const { id: child } = await agents.start(Clerk);
      await agents.refAsync(Clerk, child).note('welcome ' + run);
      if (run < last) await graph.mutate({ set: { uid: q[0].uid, age: age + 10 } });
      await txn.mutate({ set: { uid: q[0].uid, age: age + 1 } });
      return child;
    });
    if (after) await agents.sendMessageAsync(id, 'file', after);
    return child;
  }
  async function onlySays(id) {
    let run = 0;
    await graph.transaction(async (txn) => {
      const { q } = await txn.query(ADA);
      await agents.sendMessageAsync(id, 'file', 'age ' + q[0].age);
      if (run++ === 0) await graph.mutate({ set: { uid: q[0].uid, age: 7 } });
    });
  }
  async function failing(id, other) {
    return told(graph.transaction(async (txn) => {
      await txn.mutate({ set: { name: 'Ben' } });
      await agents.sendMessageAsync(id, 'file', 'lost');
      await agents.start('Clerk', { key: 'lost' });
      await agents.stop(other);
      throw new Error('no paper');
    }));
  }
  async function refused(id, what) {
    return told(graph.transaction(async (txn) => {
      await txn.mutate({ set: { name: 'Ben' } });
      if (what === 'sendMessage') await agents.sendMessage(id, 'file', 'now');
      if (what === 'ref') await agents.ref(Clerk, id).note('now');
      if (what === 'replay') await agents.replay(id, '0');
      if (what === 'sendMessageAsync with a key') await agents.sendMessageAsync(id, 'file', 'x', { idempotencyKey: 'k' });
      if (what === 'start with a key') await agents.start('Clerk', { idempotencyKey: 'k' });
      if (what === 'sendMessage to one that begins here') await agents.sendMessage((await agents.start('Clerk')).id, 'file');
    }));
  }
  async function goesOnWithout(id, stopped) {
    const lines = [];
    await graph.transaction(async (txn) => {
      await txn.mutate({ set: { name: 'Ben' } });
      lines.push(await told(agents.sendMessageAsync('agent_nobody', 'file')));
      lines.push(await told(agents.sendMessageAsync(stopped, 'file')));
      lines.push(await told(agents.stop(stopped)));
      lines.push(await told(agents.sendMessageAsync(id, 'file', 'x'.repeat(3000))));
      lines.push(JSON.stringify(await filed(id)));
      await agents.sendMessageAsync(id, 'file', 'kept');
    });
    return lines;
  }
  async function many(id, count) {
    return told(graph.transaction(async (txn) => {
      await txn.mutate({ set: { name: 'Ben' } });
      await Promise.all(Array.from({ length: count }, (_, i) => agents.sendMessageAsync(id, 'file', String(i))));
    }));
  }
  async function keyed(key) {
    return graph.transaction(async () => {
      const { id } = await agents.start(Clerk, { key });
      const again = await agents.start(Clerk, { key });
      await agents.sendMessageAsync(id, 'file', again.id === id ? 'one' : 'two');
      return id;
    });
  }
  async function dismiss(id) {
    await graph.transaction(async () => {
      await agents.sendMessageAsync(id, 'file', 'last');
      await agents.stop(id);
    });
  }
  async function late(id) {
    let later;
    const gate = new Promise((open) => (later = open));
    let saying;
    await graph.transaction(async () => { saying = gate.then(() => told(agents.sendMessageAsync(id, 'file', 'late'))); });
    later();
    return saying;
  }
  async function nested(id, fail) {
    return told(graph.transaction(async (txn) => {
      await agents.sendMessageAsync(id, 'file', 'outer');
      await graph.transaction(async () => agents.sendMessageAsync(id, 'file', 'inner'));
      if (fail) throw new Error('outer alone');
    }));
  }
  async function diesInside(id) {
    await graph.transaction(async (txn) => {
      await txn.mutate({ set: { name: 'Ben' } });
      await agents.sendMessageAsync(id, 'file', 'before');
      await agents.start('Clerk');
      globalThis.inside = true;
      await new Promise((done) => setTimeout(done, 600));
      await agents.sendMessageAsync(id, 'file', 'after');
    });
    return 'done';
  }
  function isInside() { return globalThis.inside === true; }
  function spin() { while (true) {} }

  // For requests that are repeated under one key
  async function buy(id, what, fails) {
    const uids = [];
    for (const part of ['first', 'second']) {
      uids.push(await graph.transaction(async (txn) => {
        const { uids } = await txn.mutate({ set: { uid: '_:it', name: what + ' ' + part } });
        await agents.sendMessageAsync(id, 'file', what + ' ' + part);
        return { uid: uids.it, at: new Date(5), none: undefined };
      }));
      if (fails && part === 'first') throw new Error('the line broke');
    }
    return uids;
  }
  async function readsMore(id, times) {
    for (let i = 0; i < times; i++) await graph.query(ADA);
    await agents.sendMessageAsync(id, 'file', 'once');
  }
  async function insideOnce(id, fails) {
    await graph.transaction(async () => {
      await graph.transaction(async () => agents.sendMessageAsync(id, 'file', 'inner'));
      await agents.sendMessageAsync(id, 'file', 'outer');
    });
    await graph.transaction(async () => agents.sendMessageAsync(id, 'file', 'behind'));
    if (fails) throw new Error('the line broke');
  }
  async function givesCode() {
    return told(graph.transaction(async (txn) => { await txn.mutate({ set: { name: 'Ben' } }); return { run() {} }; }));
  }
`;
const EXPORTS = [
  ...[
    'addAda',
    'names',
    'filed',
    'meetUntil',
    'onlySays',
    'failing',
    'refused',
    'goesOnWithout',
    'many',
    'keyed',
    'dismiss',
  ],
  ...['late', 'nested', 'diesInside', 'isInside', 'spin', 'buy', 'readsMore', 'insideOnce', 'givesCode'],
];

let service: AgentService;
let id: string;
const call = (name: string, ...args: unknown[]) => service.call(name, ...args);
const withKey = (idempotencyKey: string, name: string, ...args: unknown[]) =>
  service.hosts.call({ name, args, requestId: 'r', idempotencyKey });
/** What lies with the agent is done, and so much of it was filed. */
const allFiled = (of = id) =>
  until(async () => (await service.agents.info(of)).waiting === 0).then(() => call('filed', of));

beforeEach(async () => {
  const limits = { turnThreadMs: 400, mailboxMessages: 20, messageBytes: 2_000, messageAttempts: 1 };
  service = await agentService(CODE, EXPORTS, { limits, schema: 'name: string @index(exact) .\nage: int .' });
  ({ id } = await service.agents.start('Clerk'));
});
afterEach(() => service.close());

/** Ada is there; `parts` tells the commits from here on. */
async function withAda(): Promise<string[][]> {
  await call('addAda');
  const parts: string[][] = [];
  service.committer.onCommit((records) => {
    parts.push(...records.map((record) => Object.keys(record.parts).sort()));
  });
  return parts;
}

describe('what a function says to agents inside graph.transaction', () => {
  it('lands with what it writes, once, however often its work runs', async () => {
    const parts = await withAda();
    const child = (await call('meetUntil', id, 3)) as string;
    expect(parts.filter((names) => names.length > 1)).toEqual([['agents', 'graph']]);
    expect(await allFiled()).toEqual(['run 3']);
    expect(await allFiled(child)).toEqual(['note welcome 3']);
    expect(await service.agents.list()).toHaveLength(2);
  });

  it('lands where nothing is written, while what was read still holds', async () => {
    await withAda();
    await call('onlySays', id);
    expect(await allFiled()).toEqual(['age 7']);
  });

  it('goes with it where it fails', async () => {
    const other = await service.agents.start('Clerk');
    expect(await call('failing', id, other.id)).toContain('no paper');
    expect([await call('names'), await call('filed', id), await call('filed', other.id)]).toEqual([[], [], []]);
    expect(await service.agents.list()).toHaveLength(2);
  });

  it('starts the one agent of a key, and leaves it what was said', async () => {
    const started = await Promise.all([call('keyed', 'ann'), call('keyed', 'ann')]);
    expect(new Set(started).size).toBe(1);
    expect(await allFiled(String(started[0]))).toEqual(['one', 'one']);
    expect(await call('keyed', 'ann')).toBe(started[0]);
  });

  it('begins the agent of a key anew where it was stopped, and what is said meets the new one', async () => {
    const agent = String(await call('keyed', 'ann'));
    expect(await allFiled(agent)).toEqual(['one']);
    await call('dismiss', agent);
    await until(async () => (await service.agents.info(agent)).status === 'terminated');
    expect(await call('keyed', 'ann')).toBe(agent);
    expect(await allFiled(agent)).toEqual(['one']);
  });

  it('stops an agent behind what was said before', async () => {
    await call('dismiss', id);
    await until(async () => (await service.agents.info(id)).status === 'terminated');
    await expect(call('dismiss', id)).rejects.toMatchObject({ code: 'AGENT_TERMINATED' });
  });

  it('keeps its order where it is not waited for', async () => {
    expect(await call('many', id, 12)).toBe('done');
    expect(await allFiled()).toEqual(Array.from({ length: 12 }, (_, i) => String(i)));
  });

  it('refuses the whole where a mailbox has no room', async () => {
    expect(await call('many', id, 21)).toContain('MAILBOX_FULL');
    expect([await call('names'), await call('filed', id)]).toEqual([[], []]);
  });

  it('is refused where it cannot reach anybody, and the rest goes on', async () => {
    const stopped = (await service.agents.start('Clerk', { key: 'gone' })).id;
    await service.agents.stop(stopped);
    expect(await call('goesOnWithout', id, stopped)).toEqual([
      'AGENT_UNKNOWN: there is no agent "agent_nobody"',
      expect.stringContaining('AGENT_TERMINATED'),
      expect.stringContaining('AGENT_TERMINATED'),
      expect.stringContaining('LIMIT_EXCEEDED'),
      '[]',
    ]);
    expect([await call('names'), await allFiled()]).toEqual([['Ben'], ['kept']]);
  });

  it.each([
    ['sendMessage', 'message "file" to Clerk, with its reply, in a graph.transaction'],
    ['ref', 'message "note" to Clerk, with its reply, in a graph.transaction'],
    ['replay', 'agents.replay in a graph.transaction'],
    ['sendMessageAsync with a key', 'an idempotencyKey of agents.sendMessageAsync in a graph.transaction'],
    ['start with a key', 'an idempotencyKey of agents.start in a graph.transaction'],
  ])('takes nothing that counts before it has landed: %s', async (what, why) => {
    await service.agents.sendAsync(id, 'fail');
    await until(async () => (await service.agents.deadLetters(id)).length === 1);
    expect(await call('refused', id, what)).toContain(`INVALID_REQUEST: ${why}`);
    expect([await call('names'), await call('filed', id)]).toEqual([[], []]);
    expect(await service.agents.deadLetters(id)).toHaveLength(1);
  });

  it('begins an agent with the commit: nobody can ask it before', async () => {
    const told = await call('refused', id, 'sendMessage to one that begins here');
    expect(told).toMatch(/^AGENT_UNKNOWN/);
    expect(await service.agents.list()).toHaveLength(1);
  });

  it('is no part of it any more once it has landed', async () => {
    expect(await call('late', id)).toBe('TXN_FINISHED: the transaction has ended');
    expect(await allFiled()).toEqual([]);
  });

  it('belongs to the transaction it stands in', async () => {
    expect(await call('nested', id, true)).toContain('outer alone');
    expect(await allFiled()).toEqual(['inner']);
    await call('nested', id, false);
    expect(await allFiled()).toEqual(['inner', 'inner', 'outer']);
  });

  it('lands once where the process of its function dies in between', async () => {
    const dying = call('diesInside', id);
    await until(async () => (await call('isInside')) === true);
    await expect(call('spin')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    expect(await dying).toBe('done');
    expect(await allFiled()).toEqual(['before', 'after']);
    expect([await call('names'), (await service.agents.list()).length]).toEqual([['Ben'], 2]);
  });
});

describe('a request that is repeated under its Idempotency-Key', () => {
  it('goes on behind the transactions that have landed, with what they gave', async () => {
    await expect(withKey('k', 'buy', id, 'tea', true)).rejects.toThrow('the line broke');
    const [first, again] = [await withKey('l', 'buy', id, 'tea', false), await withKey('l', 'buy', id, 'tea', false)];
    expect(again).toEqual(first);
    expect(again).toEqual([expect.objectContaining({ at: new Date(5), none: undefined }), expect.anything()]);
    expect(await call('names')).toEqual(['tea first', 'tea first', 'tea second']);
    expect(await allFiled()).toEqual(['tea first', 'tea first', 'tea second']);
  });

  it('does not take the place of another', async () => {
    await withKey('k', 'buy', id, 'tea', false);
    await expect(withKey('k', 'buy', id, 'milk', false)).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    await service.hosts.call({
      name: 'buy',
      args: [id, 'milk', false],
      requestId: 'r',
      idempotencyKey: 'k',
      caller: 'ann',
    });
    expect(await call('names')).toEqual(['milk first', 'milk second', 'tea first', 'tea second']);
  });

  it('does once what it does at once', async () => {
    const both = await Promise.all([1, 2].map(() => withKey('k', 'buy', id, 'tea', false)));
    expect(both[0]).toEqual(both[1]);
    expect(await allFiled()).toEqual(['tea first', 'tea second']);
  });

  it('finds what it sent outside of them, however often it read or met others', async () => {
    await withAda();
    await withKey('k', 'meetUntil', id, 3, 'behind');
    await withKey('k', 'meetUntil', id, 3, 'behind');
    expect(await allFiled()).toEqual(['run 3', 'behind']);
    await withKey('l', 'readsMore', id, 1);
    await withKey('l', 'readsMore', id, 1);
    expect(await allFiled()).toEqual(['run 3', 'behind', 'once']);
  });

  it('tells those inside another from those behind it', async () => {
    await expect(withKey('k', 'insideOnce', id, true)).rejects.toThrow('the line broke');
    await expect(withKey('k', 'insideOnce', id, true)).rejects.toThrow('the line broke');
    expect(await allFiled()).toEqual(['inner', 'outer', 'behind']);
  });

  it('can only be told again what is data', async () => {
    expect(await withKey('k', 'givesCode')).toMatch(/^INVALID_VALUE: what graph\.transaction gives cannot be kept/);
    expect(await call('names')).toEqual([]);
    expect(await call('givesCode')).toBe('done');
  });
});
