import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AppBundle, appBundle } from '../../test/app-bundle.js';
import { createApi } from '../api/index.js';
import { defaultNames, GraphsteadError, makeLimits, systemClock } from '../base/index.js';
import { ABORTED, aborted, type Committer, createCommitter } from '../commit/index.js';
import { createDqlEngine } from '../dql/index.js';
import { createGraph, type Graph, graphApplier, graphShared } from '../graph/index.js';
import { createMemoryStore } from '../store/index.js';
import { createAgents } from './agents.js';
import { agentsApplier } from './apply/applier.js';
import type { Agents } from './contract.js';
import { type GraphqlCall, graphCalls } from './graph-calls.js';
import { createHosts, type HostPool } from './process/host-pool.js';

const CODE = `
  const COUNT = '{ q(func: eq(name, "Ada")) { uid age } }';
  async function ages(api) { return (await api.query(COUNT)).q; }
  const ADD = 'mutation($name: String!) { addShip(input: [{ name: $name, trips: 0 }]) { ship { name } } }';
  const SAIL = 'mutation($to: Int!) { updateShip(input: { filter: { name: { eq: "Tern" } }, set: { trips: $to } }) { ship { trips } } }';
  async function sail(api) {
    const { getShip } = await api.graphql('{ getShip(name: "Tern") { trips } }');
    const { updateShip } = await api.graphql(SAIL, { to: getShip.trips + 1 });
    return updateShip.ship[0].trips;
  }
  async function fleet() { return (await graph.graphql('{ queryShip(order: { asc: name }) { name } }')).queryShip.map((ship) => ship.name); }
  async function launch(names, fail) {
    return graph.transaction(async (txn) => {
      for (const name of names) await txn.graphql(ADD, { name });
      await txn.mutate({ set: { name: 'log of ' + names.length } });
      if (fail) throw new Error('rolled back');
      return (await txn.graphql('{ aggregateShip { count } }')).aggregateShip.count;
    });
  }
  async function sinkSilently() { return graph.transaction(async () => { throw undefined; }).catch((thrown) => String(thrown)); }
  async function launchAlone(name) { return graph.graphql(ADD, { name }); }
  async function sailOnce() { return graph.transaction(sail); }
  // Two on call: one may leave as long as the other stays. Nobody writes what the other wrote.
  async function leave(api, name, meanwhile) {
    const { q } = await api.query('{ q(func: eq(duty, "on")) { uid name } }');
    if (q.length < 2) return 'stays';
    await meanwhile?.();
    await api.mutate({ set: { uid: q.find((one) => one.name === name).uid, duty: 'off' } });
    return 'leaves';
  }
  async function leaveBehind() { return graph.transaction((txn) => leave(txn, 'Ada', () => leave(graph, 'Ben'))); }
  async function isOn(name) { return (await graph.query('{ q(func: eq(duty, "on")) { name } }')).q.some((one) => one.name === name); }
  class Clerk extends Agent {
    static readOnly = ['peekShips', 'launchUnseen'];
    state = { filed: 0 };
    async onReceiveMessage(name, data) {
      if (name === 'file') {
        await graph.mutate({ set: { name: data } });
        this.state.filed++;
        this.publishEvent('filed', { name: data });
        if (data === 'bad') throw new Error('not this one');
        return String(this.state.filed);
      }
      if (name === 'launch') {
        await graph.graphql(ADD, { name: data });
        await graph.mutate({ set: { name: data + ' was launched' } });
        this.state.filed++;
        const { getShip } = await graph.graphql('query($name: String!) { getShip(name: $name) { name } }', { name: data });
        if (data === 'bad') throw new Error('not this one');
        return getShip.name;
      }
      if (name === 'leave') return graph.transaction((txn) => leave(txn, data));
      if (name === 'leaveBehind') return graph.transaction((txn) => leave(txn, 'Ada', () => agents.sendMessage(data, 'leave', 'Ben')));
      if (name === 'onDuty') { await graph.mutate({ set: { name: data, duty: 'on' } }); return 'on'; }
      if (name === 'noteDuty') {
        const { q } = await graph.transaction((txn) => txn.query('{ q(func: eq(duty, "on")) { name } }'));
        await agents.sendMessage(data, 'onDuty', 'Cy');
        this.state.filed = q.length + 1;
        return String(q.length);
      }
      if (name === 'tryIt') {
        const put = (api, name) => api.mutate({ set: { name } });
        const failing = (...steps) => graph.transaction(async (txn) => {
          for (const step of steps) await step(txn);
          throw new Error('not this part');
        }).catch((error) => error.message);
        await put(graph, 'before');
        if (data === 'alone') await failing((txn) => put(txn, 'lost'), (txn) => txn.graphql(ADD, { name: 'lost' }));
        if (data === 'nothing') await failing((txn) => txn.query('{ q(func: has(name)) { name } }'));
        if (data === 'inner') {
          await graph.transaction(async (txn) => {
            await put(txn, 'outer');
            await failing((inner) => put(inner, 'lost'));
          });
        }
        if (data === 'outer') await failing((txn) => put(txn, 'lost'), () => graph.transaction((inner) => put(inner, 'inner')));
        if (data === 'both') {
          await failing((txn) => put(txn, 'lost'), () => failing((inner) => put(inner, 'lost')), (txn) => put(txn, 'lost'));
        }
        if (data === 'deep') {
          await failing(() => graph.transaction((txn) => graph.transaction((inner) => put(inner, 'lost')).then(() => put(txn, 'lost'))));
        }
        if (data === 'under way') {
          await failing(async (txn) => { void put(txn, 'lost').catch(() => undefined); });
        }
        if (data === 'later') {
          let kept;
          await failing((txn) => put((kept = txn), 'lost'), () => graph.transaction(async (inner) => { kept = [kept, inner]; }));
          for (const one of kept) {
            const told = await put(one, 'lost').catch((error) => error.message);
            if (!String(told).includes('has failed')) throw new Error('taken');
          }
        }
        if (data === 'beside') await failing((txn) => put(txn, 'lost'), () => put(graph, 'beside'));
        if (data.startsWith('stored')) await failing((txn) => put(txn, 'lost'), () => this.checkpoint());
        if (data !== 'stored last') await put(graph, 'after');
        return 'went on';
      }
      if (name === 'stepsAtOnce') {
        const step = async (part) => {
          this.state.filed++;
          await this.checkpoint();
          await graph.mutate({ set: { name: part } });
        };
        await Promise.all(['one', 'two', 'three'].map(step));
        return String(this.state.filed);
      }
      if (name === 'besideOthers') {
        const fillIn = async (part) => { for (let n = 0; n < 8; n++) await graph.mutate({ set: { name: part + n } }); };
        const store = async () => { for (let n = 0; n < 8; n++) { this.state.filed++; await this.checkpoint(); } };
        await Promise.all([fillIn('a'), store(), fillIn('b')]);
        return String(this.state.filed);
      }
      if (name === 'sail') return String(await sail(graph));
      if (name === 'peekShips') return (await graph.graphql('{ aggregateShip { count } }')).aggregateShip.count + '';
      if (name === 'launchUnseen') { await graph.graphql(ADD, { name: data }); return 'launched'; }
      if (name === 'fileAway') { void graph.mutate({ set: { name: data } }).catch((error) => { globalThis.away = error.message; }); return 'filed'; }
      if (name === 'away') return globalThis.away;
      if (name === 'fileNothing') await graph.mutate(undefined);
      if (name === 'filed') return String(this.state.filed);
      if (name === 'seesOwn') {
        await graph.mutate({ set: { name: 'Own' } });
        const { q } = await graph.query('{ q(func: eq(name, "Own")) { name } }');
        return JSON.stringify(q);
      }
      if (name === 'enlist') return enlist(data);
      if (name === 'birthday') {
        const [{ uid, age }] = await ages(graph);
        await graph.mutate({ set: { uid, age: age + 1 } });
        return String(age + 1);
      }
      return super.onReceiveMessage(name, data);
    }
    async onTerminate() {
      await graph.mutate({ set: { name: 'closed after ' + this.state.filed } });
      if (this.state.filed === 0) throw new Error('nothing was filed');
      if (this.state.filed === 1) return;
      // what fails here cannot be taken back alone
      const half = async (txn) => { await txn.mutate({ set: { name: 'half' } }); await graph.mutate({ set: { name: 'beside' } }); throw new Error('caught'); };
      await graph.transaction(half).catch(() => undefined);
    }
  }
  agents.register(Clerk);
  async function names() { return (await graph.query('{ q(func: has(name), orderasc: name) { name } }')).q.map((n) => n.name); }
  async function add(name) { return (await graph.mutate('{ set { _:a <name> ' + JSON.stringify(name) + ' . } }')).uids; }
  async function transact(fail) {
    return graph.transaction(async (txn) => {
      await txn.mutate({ set: { name: 'T1' } });
      await txn.mutate({ set: { name: 'T2' } });
      if (fail) throw new Error('rolled back');
      return (await txn.query('{ q(func: has(name)) { name } }')).q.length;
    });
  }
  async function addThenWait(name) {
    await graph.mutate({ set: { name } });
    await graph.transaction(async (txn) => { await txn.mutate({ set: { name: name + ' again' } }); await txn.query('{ q(func: has(name)) { name } }'); });
    await new Promise((done) => setTimeout(done, 600));
    return 'done';
  }
  const odd = { nan: NaN, map: new Map(), date: new Date(0), big: 1n, list: ['Ada'], none: null, whole: 7, left: undefined };
  const told = (work) => work.catch(({ code, message }) => code + ': ' + message);
  const storeOdd = (what) => told(graph.transaction((txn) => txn.mutate({ set: [{ name: 'Odd', age: odd[what] }] })).then(names));
  async function askOdd(what) {
    const text = 'query q($name: string = "Ada") { q(func: eq(name, $name)) { name } }';
    const asked =
      what === 'null'
        ? graph.query('{ q(func: eq(name, "Ada")) { name } }', null)
        : graph.query(text, { $name: odd[what] });
    return told(asked.then(({ q }) => q.map(({ name }) => name)));
  }
  function spin() { while (true) {} }
  // two that look in one predicate and make what they missed meet, whatever it is
  async function enlist(name) {
    return graph.transaction(async (txn) => {
      const { q } = await txn.query('query q($name: string) { q(func: eq(name, $name)) { uid } }', { $name: name });
      await new Promise((done) => setTimeout(done, 5));
      await txn.mutate({ set: { uid: q[0]?.uid ?? '_:new', name } });
      return q.length === 0 ? 'new' : 'known';
    });
  }
  async function birthday() {
    return graph.transaction(async (txn) => {
      const [{ uid, age }] = await ages(txn);
      await txn.mutate({ set: { uid, age: age + 1 } });
      return age + 1;
    });
  }
`;

let app: AppBundle;
let committer: Committer;
let graph: Graph;
let hosts: HostPool;
let agents: Agents;
const call = (name: string, ...args: unknown[]) => hosts.call({ name, args, requestId: 'r' });

beforeEach(async () => {
  app = appBundle(CODE, [
    'names',
    'add',
    'transact',
    'addThenWait',
    'spin',
    'birthday',
    'enlist',
    'fleet',
    'launch',
    'launchAlone',
    'sailOnce',
    'sinkSilently',
    'leaveBehind',
    'isOn',
    'storeOdd',
    'askOdd',
  ]);
  const limits = makeLimits({ turnThreadMs: 400 });
  const store = createMemoryStore();
  const shared = graphShared(limits);
  committer = await createCommitter({ store, appliers: [graphApplier(shared), agentsApplier(limits)], limits });
  graph = await createGraph({ committer, shared });
  const dql = createDqlEngine({ graph, names: defaultNames, limits });
  await graph.alter({ kind: 'schema', text: 'name: string @index(exact) .\nage: int .\nduty: string @index(exact) .' });
  const api = createApi({ graph, committer, names: defaultNames, clock: systemClock, limits });
  await api.load();
  await api.updateSchema('type Ship { name: String! @id trips: Int }');
  const graphql: GraphqlCall = async (query, variables, transaction) => {
    const context = { requestId: 'app', headers: {}, signal: new AbortController().signal, extensions: {} };
    const { body } = await api.execute({ query, variables }, context, { transaction });
    return body.toString('utf8');
  };
  hosts = createHosts({ limits, count: 1 });
  const { incarnation } = store;
  agents = createAgents({ committer, incarnation, hosts, limits, graph: graphCalls({ graph, dql, graphql }) });
  await hosts.load(app);
  await agents.resume();
});
afterEach(async () => {
  await agents.close();
  await hosts.close();
  await graph.close();
  await committer.close();
  app.remove();
});

const calls = () => graphCalls({ graph, dql: createDqlEngine({ graph, names: defaultNames }) });

describe('the graph in app code', () => {
  it('functions write at once; a transaction lands whole or not at all', async () => {
    expect(await call('add', 'One')).toHaveProperty('a');
    await expect(call('transact', true)).rejects.toThrow('rolled back');
    expect(await call('names')).toEqual(['One']);
    expect(await call('sinkSilently')).toBe('undefined');
    expect(await call('transact', false)).toBe(3);
    expect(await call('names')).toEqual(['One', 'T1', 'T2']);
  });

  it('a write that a handler does not wait for lands with the turn, or its promise fails and says why', async () => {
    const { id } = await agents.start('Clerk');
    expect(await agents.send(id, 'fileAway', 'Away')).toBe('filed');
    let told: string | undefined;
    while (told === undefined) {
      told = ((await call('names')) as string[]).includes('Away') ? 'landed' : await agents.send(id, 'away');
    }
    expect(told).toMatch(/^landed$|^graph\.mutate was still under way when its turn ended/);
    await expect(agents.send(id, 'fileNothing')).rejects.toMatchObject({ code: 'INVALID_MUTATION' });
  });

  it.each([
    ['alone', ['after', 'before']],
    ['nothing', ['after', 'before']],
    ['inner', ['after', 'before', 'outer']],
    ['outer', ['after', 'before']],
    ['both', ['after', 'before']],
    ['deep', ['after', 'before']],
    ['under way', ['after', 'before']],
    ['later', ['after', 'before']],
  ])('a transaction that fails in a turn takes back what it wrote, and no more: %s', async (how, expected) => {
    const { id } = await agents.start('Clerk');
    expect(await agents.send(id, 'tryIt', how)).toBe('went on');
    expect(await call('names')).toEqual(expected);
    expect(await call('fleet')).toEqual([]);
  });

  it.each([
    ['beside', 'its turn wrote something else meanwhile', []],
    ['stored', 'a checkpoint has made some of it count', ['before', 'lost']],
    ['stored last', 'a checkpoint has made some of it count', ['before', 'lost']],
  ])('one that cannot be taken back alone ends its turn: %s', async (how, why, expected) => {
    const { id } = await agents.start('Clerk');
    const refusal = { code: 'INVALID_REQUEST', message: expect.stringContaining(why) };
    await expect(agents.send(id, 'tryIt', how)).rejects.toMatchObject(refusal);
    expect(await call('names')).toEqual(expected);
  });

  it('a mutation that JSON would change, and a variable that is no text, are refused where they are given', async () => {
    await call('add', 'Ada');
    expect(await call('storeOdd', 'nan')).toBe(
      'INVALID_VALUE: what transaction.mutate is given is no JSON: mutation.set[0].age is NaN',
    );
    expect(await call('storeOdd', 'map')).toContain('mutation.set[0].age is an instance of Map');
    expect(await call('storeOdd', 'big')).toContain('mutation.set[0].age is a bigint');
    expect(await call('names')).toEqual(['Ada']);
    expect(await call('storeOdd', 'whole')).toEqual(['Ada', 'Odd']);
    for (const what of ['nan', 'map', 'date', 'list', 'none']) {
      expect(await call('askOdd', what)).toBe('INVALID_VALUE: the variable $name of graph.query is no text');
    }
    expect(await call('askOdd', 'left')).toEqual(['Ada']);
    expect(await call('askOdd', 'null')).toEqual(['Ada']);
    expect([await call('askOdd', 'whole'), await call('askOdd', 'big')]).toEqual([[], []]);
  });

  it('what onTerminate writes lands with the stop; where it fails, the agent is stopped without it', async () => {
    for (const filed of [0, 1, 2]) {
      const { id } = await agents.start('Clerk');
      for (let i = 0; i < filed; i++) await agents.send(id, 'file', 'Paper');
      expect(await agents.stop(id)).toMatchObject({ status: 'terminated' });
    }
    expect(await call('names')).toEqual(['Paper', 'Paper', 'Paper', 'closed after 1']);
  });

  it('a turn lands with its graph writes, state and events in one commit, or not at all', async () => {
    const { id } = await agents.start('Clerk');
    const before = committer.lastCommitTs;
    const parts: string[][] = [];
    const stop = committer.onCommit((records) => {
      for (const record of records) if (record.commitTs > before) parts.push(Object.keys(record.parts).sort());
    });
    expect(await agents.send(id, 'file', 'Good')).toBe('1');
    stop();
    expect(parts.filter((names) => names.includes('agents'))).toEqual([['agents', 'graph']]);
    await expect(agents.send(id, 'file', 'bad')).rejects.toThrow('not this one');
    expect(await call('names')).toEqual(['Good']);
    expect(await agents.send(id, 'filed')).toBe('1');
  });

  it('a function that runs again since its process died writes nothing twice', async () => {
    const adding = call('addThenWait', 'Once');
    await new Promise((done) => setTimeout(done, 200));
    await expect(call('spin')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    expect(await adding).toBe('done');
    expect(await call('names')).toEqual(['Once', 'Once again']);
  });

  it('a turn reads its own writes', async () => {
    const { id } = await agents.start('Clerk');
    expect(JSON.parse((await agents.send(id, 'seesOwn')) ?? '')).toEqual([{ name: 'Own' }]);
  });

  it('checkpoints of steps that go on side by side land one after the other', async () => {
    const { id } = await agents.start('Clerk');
    expect(await agents.send(id, 'stepsAtOnce')).toBe('3');
    expect(((await call('names')) as string[]).sort()).toEqual(['one', 'three', 'two']);
    expect(await agents.send(id, 'filed')).toBe('3');
  });

  it('what a step writes while another stores a checkpoint lands, with that or behind it', async () => {
    const { id } = await agents.start('Clerk');
    expect(await agents.send(id, 'besideOthers')).toBe('8');
    const written = ['a', 'b'].flatMap((part) => Array.from({ length: 8 }, (_, n) => `${part}${n}`));
    expect(await call('names')).toEqual(written);
  });

  it('turns that write the same node run again instead of losing an update', async () => {
    const { uids } = await calls().mutate({
      body: JSON.stringify({ set: { uid: '_:ada', name: 'Ada', age: 0 } }),
      contentType: 'json',
    });
    expect(Object.keys(uids)).toEqual(['ada']);
    const clerks = await Promise.all([agents.start('Clerk'), agents.start('Clerk')]);
    const turns = clerks.map(({ id }) => agents.send(id, 'birthday'));
    const done = await Promise.all([...turns, call('birthday')]);
    expect(done.map(Number).sort()).toEqual([1, 2, 3]);
  });

  it('turns of several agents that write the same node all count', async () => {
    await calls().mutate({ body: JSON.stringify({ set: { uid: '_:ada', name: 'Ada', age: 0 } }), contentType: 'json' });
    const clerks = await Promise.all(Array.from({ length: 4 }, () => agents.start('Clerk')));
    const ages = await Promise.all(clerks.map(({ id }) => agents.send(id, 'birthday')));
    expect(ages.map(Number).sort()).toEqual([1, 2, 3, 4]);
  });

  it.each(['waited for', 'left in the mailbox'])(
    'a crowd of turns on one node: each counts, none gives up (%s)',
    async (how) => {
      await calls().mutate({
        body: JSON.stringify({ set: { uid: '_:ada', name: 'Ada', age: 0 } }),
        contentType: 'json',
      });
      const clerks = await Promise.all(Array.from({ length: 24 }, () => agents.start('Clerk')));
      const rounds = Array.from({ length: 3 }, () => clerks).flat();
      if (how === 'waited for') await Promise.all(rounds.map(({ id }) => agents.send(id, 'birthday')));
      else await Promise.all(rounds.map(({ id }) => agents.sendAsync(id, 'birthday')));
      const infos = () => Promise.all(clerks.map(({ id }) => agents.info(id)));
      await vi.waitFor(async () => expect((await infos()).every(({ waiting }) => waiting === 0)).toBe(true), 60_000);
      expect((await infos()).every(({ deadLetters }) => deadLetters === 0)).toBe(true);
      expect(await calls().query('{ q(func: eq(name, "Ada")) { age } }')).toBe('{"q":[{"age":72}]}');
    },
  );

  it('a crowd of functions in graph.transaction on one node: each counts, none gives up', async () => {
    await calls().mutate({ body: JSON.stringify({ set: { uid: '_:ada', name: 'Ada', age: 0 } }), contentType: 'json' });
    const { conflicts = 0 } = committer.stats();
    const ages = await Promise.all(Array.from({ length: 200 }, () => call('birthday')));
    expect(ages.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    // who has lost once waits before its next try, and not at the end of it
    expect((committer.stats()['conflicts'] ?? 0) - conflicts).toBeLessThan(300);
  });

  it.each([
    ['functions', 64],
    ['turns', 24],
  ])('a crowd of %s that looks for nodes and makes them: none gives up', async (where, length) => {
    const clerks = where === 'turns' ? await Promise.all(Array.from({ length }, () => agents.start('Clerk'))) : [];
    const enlist = (i: number) =>
      where === 'turns' ? agents.send(clerks[i].id, 'enlist', `nr. ${i}`) : call('enlist', `nr. ${i}`);
    const made = await Promise.all(Array.from({ length }, (_, i) => enlist(i)));
    expect(new Set(made)).toEqual(new Set(['new']));
    expect(await call('names')).toHaveLength(length);
  });

  it.each(['functions', 'turns'])('what graph.transaction read in %s still holds when it commits', async (where) => {
    const set = ['Ada', 'Ben'].map((name) => ({ uid: `_:${name}`, name, duty: 'on' }));
    await calls().mutate({ body: JSON.stringify({ set }), contentType: 'json' });
    const [one, other] = await Promise.all([agents.start('Clerk'), agents.start('Clerk')]);
    const left = where === 'turns' ? agents.send(one.id, 'leaveBehind', other.id) : call('leaveBehind');
    expect(await left).toBe('stays');
    expect([await call('isOn', 'Ada'), await call('isOn', 'Ben')]).toEqual([true, false]);
  });

  it.each([
    ['other writers', aborted(), /left to one agent/],
    ['its own length', new GraphsteadError('TXN_ABORTED', ABORTED, { fix: 'ask models first' }), /^ask models first$/],
  ])('a turn that cannot land is told with what fits the case: %s', async (_, cause, fix) => {
    const { id } = await agents.start('Clerk');
    const commit = vi.spyOn(committer, 'commit').mockRejectedValue(cause);
    await expect(agents.send(id, 'file', 'Ada')).rejects.toMatchObject({ code: 'TURN_CONFLICT', fix });
    commit.mockRestore();
    expect(await agents.send(id, 'file', 'Ada')).toBe('1');
  });

  it('a turn that brings its agent back and runs again tells once that it does', async () => {
    const set = ['Ada', 'Ben'].map((name) => ({ uid: `_:${name}`, name, duty: 'on' }));
    await calls().mutate({ body: JSON.stringify({ set }), contentType: 'json' });
    const [one, other] = await Promise.all([agents.start('Clerk'), agents.start('Clerk')]);
    await agents.swap(async () => undefined);
    const statuses = agents.events({ agentId: one.id, names: ['agentStatusUpdated'] });
    const told: unknown[] = [];
    const listening = (async () => {
      for await (const { data } of statuses) told.push((data as { status: string }).status);
    })();
    await new Promise((turn) => setImmediate(turn));
    const { conflicts = 0 } = committer.stats();
    expect(await agents.send(one.id, 'leaveBehind', other.id)).toBe('stays');
    expect(committer.stats().conflicts).toBe(conflicts + 1);
    await agents.stop(one.id);
    await listening;
    expect(told).toEqual(['resuming', 'running', 'stopping', 'terminated']);
  });

  it('a turn that writes nothing to the graph runs again too when what it held has changed', async () => {
    const [one, other] = await Promise.all([agents.start('Clerk'), agents.start('Clerk')]);
    const { conflicts = 0 } = committer.stats();
    expect(await agents.send(one.id, 'noteDuty', other.id)).toBe('1');
    expect(committer.stats()['conflicts']).toBe(conflicts + 1);
  });

  it('GraphQL in a transaction of a function lands with it, or not at all', async () => {
    await expect(call('launch', ['A', 'B'], true)).rejects.toThrow('rolled back');
    await expect(call('launch', ['A', 'A'], false)).rejects.toThrow('id A already exists');
    expect(await call('fleet')).toEqual([]);
    const before = committer.lastCommitTs;
    const landed: number[] = [];
    const stop = committer.onCommit((records) => {
      for (const { commitTs, parts } of records) {
        const { kind } = (parts['graph'] ?? {}) as { kind?: string };
        if (commitTs > before && kind === 'changes') landed.push(commitTs);
      }
    });
    expect(await call('launch', ['A', 'B'], false)).toBe(2);
    stop();
    expect(landed).toHaveLength(1);
    expect(await call('fleet')).toEqual(['A', 'B']);
    await call('launchAlone', 'C');
    expect(await call('fleet')).toEqual(['A', 'B', 'C']);
    expect(await call('names')).toEqual(['log of 2']);
  });

  it("GraphQL in a turn lands in the turn's commit, or not at all", async () => {
    const { id } = await agents.start('Clerk');
    const parts: string[][] = [];
    const stop = committer.onCommit((records) => {
      for (const record of records) if ('agents' in record.parts) parts.push(Object.keys(record.parts).sort());
    });
    expect(await agents.send(id, 'launch', 'Tern')).toBe('Tern');
    stop();
    expect(parts).toEqual([['agents', 'graph']]);
    await expect(agents.send(id, 'launch', 'bad')).rejects.toThrow('not this one');
    expect([await call('fleet'), await call('names')]).toEqual([['Tern'], ['Tern was launched']]);
    expect(await agents.send(id, 'filed')).toBe('1');
  });

  it('read-only handlers ask with GraphQL and cannot change anything with it', async () => {
    const { id } = await agents.start('Clerk');
    await call('launchAlone', 'Tern');
    expect(await agents.send(id, 'peekShips')).toBe('1');
    await expect(agents.send(id, 'launchUnseen', 'Auk')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await call('fleet')).toEqual(['Tern']);
  });

  it('transactions and turns that write what another read with GraphQL run again', async () => {
    await call('launchAlone', 'Tern');
    const clerks = await Promise.all([agents.start('Clerk'), agents.start('Clerk')]);
    const turns = clerks.map(({ id }) => agents.send(id, 'sail'));
    const done = await Promise.all([...turns, call('sailOnce'), call('sailOnce')]);
    expect(done.map(Number).sort()).toEqual([1, 2, 3, 4]);
  });
});
