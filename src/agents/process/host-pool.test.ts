import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type * as Processes from 'node:child_process';
import { type AppBundle, appBundle } from '../../../test/app-bundle.js';
import { type Clock, type Limits, makeLimits } from '../../base/index.js';
import type { HostLog } from '../info.js';
import { createHosts, type HostPool } from './host-pool.js';

const shortage = vi.hoisted(() => ({ kind: '' }));
vi.mock('node:child_process', async (original) => {
  const processes = await original<typeof Processes>();
  const spawn = (file: string, ...given: [string[], object]) => {
    if (shortage.kind === 'thrown') throw new Error('spawn ENOMEM');
    const child = processes.spawn(shortage.kind === '' ? file : '/nowhere/to/be/found', ...given);
    return shortage.kind === 'without pipes' ? Object.assign(child, { stdio: undefined }) : child;
  };
  return { ...processes, spawn };
});

const CODE = `
  function add(a, b) { return a + b; }
  function fail() { throw new Error('no more tea'); }
  function spin() { while (true) {} }
  async function spinLater() { await new Promise((done) => setTimeout(done, 5)); while (true) {} }
  function busy(ms) { const end = Date.now() + ms; while (Date.now() < end) {} }
  function spinBehind() { setTimeout(() => { while (true) {} }, 5); }
  async function spinAfter() { await null; await null; while (true) {} }
  async function slow(ms) { console.log('slow', ms); await new Promise((done) => setTimeout(done, ms)); return ms; }
  function unsettled() { return { then() {} }; }
  function pid() { return process.pid; }
  async function signalled(name) { process.kill(process.pid, name); await new Promise(setImmediate); return process.pid; }
  function sleep() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }
  function exit() { process.exit(3); }
  function spoil() { Array.prototype.toJSON = () => 'spoilt'; return 1; }
  async function leave() {
    const { existsSync, unlinkSync } = await import('node:fs');
    if (!existsSync('leave')) return 'left';
    unlinkSync('leave');
    process.exit(3);
  }
  async function* count(to) { for (let i = 1; i <= to; i++) yield i; }
  async function* forever() { yield 1; await new Promise(() => {}); }
  async function* waves(how) {
    try {
      yield 'hello';
      yield 'still here';
      await new Promise((done) => caller.signal.addEventListener('abort', done));
    } finally {
      await agents.sendMessage('agent_a', 'goodbye');
      if (how === 'failing') throw new Error('no hat');
    }
  }
  async function* quick() {
    try {
      for (;;) yield await new Promise((done) => setTimeout(done, 30));
    } finally {
      await new Promise((done) => setTimeout(done, 20));
      await agents.sendMessage('agent_a', 'goodbye');
    }
  }
  function chatters() {
    let told;
    const next = async () => {
      if (told !== undefined) return { value: await told, done: false };
      told = new Promise((done) => setTimeout(() => done(agents.sendMessage('agent_a', 'between'))));
      return { value: 'first', done: false };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }
  async function* leaveOrCount(to) { await leave(); yield* count(to); }
  async function* countAndLeave(to) { yield* count(to); process.exit(3); }
  async function hoard() { const all = []; for (;;) { all.push(Buffer.alloc(8e6, 1)); await new Promise((done) => setTimeout(done, 5)); } }
  function large(n) { return 'x'.repeat(n); }
  const missed = [];
  async function ask(n) {
    try { return await agents.sendMessage('agent_a', 'x', 'x'.repeat(n)); }
    catch (error) { missed.push(error.code); throw error; }
  }
  function misses() { return missed; }
  async function inquire() { console.log('inquiring'); return await agents.sendMessage('agent_a', 'x'); }
  function unawaited() { return { list: [1, Promise.resolve(2)] }; }
  function detached() { return { id: 1, get user() { throw new Error('detached'); } }; }
  async function* detachedLater() { yield { id: 1 }; yield detached(); }
  async function fetches() { return (await connections.http('api').json('it')).text.length; }
  async function fetchesTwice() {
    const [one, other] = [await connections.http('api').json('it'), await connections.http('api').json('it')];
    await leave();
    return one.text.length + other.text.length;
  }
  async function writes(text, times) {
    for (let i = 0; i < times; i++) await new Promise((done) => process.stdout.write(text, done));
  }
  async function talks(n) { console.log('x'.repeat(n)); return 'done'; }
  function kinds(date, big) { return { date, big }; }
`;
const EXPORTS = [
  'add',
  'fail',
  'spin',
  'spinLater',
  'busy',
  'spinBehind',
  'spinAfter',
  'slow',
  'pid',
  'unsettled',
  'signalled',
  'sleep',
  'exit',
  'spoil',
  'leave',
  'count',
  'forever',
  'waves',
  'quick',
  'chatters',
  'leaveOrCount',
  'countAndLeave',
  'hoard',
  'kinds',
  'large',
  'ask',
  'misses',
  'inquire',
  'unawaited',
  'detached',
  'detachedLater',
  'fetches',
  'fetchesTwice',
  'talks',
  'writes',
];

let app: AppBundle;
let hosts: HostPool;
let limits: { -readonly [Name in keyof Limits]: Limits[Name] };
const logs: HostLog[] = [];

async function open(own: Record<string, number> = {}, count = 1, prefork = false, clock?: Clock): Promise<void> {
  logs.length = 0;
  app = appBundle(CODE, EXPORTS);
  limits = { ...makeLimits(own) };
  hosts = createHosts({ limits, count, prefork, clock, log: (entry) => logs.push(entry) });
  await hosts.load(app);
}

const HAS_PROC = existsSync('/proc/self/task');

/** Processes that this one has started, as the system has them. */
function children(): number[] {
  const tasks = readdirSync('/proc/self/task');
  const lists = tasks.map((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8'));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

/** The files by which processes say whose code holds their thread, as far as they are open here. */
function markers(): string[] {
  const files = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // that of the list itself
    }
  });
  return files.filter((file) => file.includes('graphstead-marker'));
}

const call = (name: string, ...args: unknown[]) => hosts.call({ name, args, requestId: `r-${name}` });

/** Loads an app that does `what` while it loads, as long as the file is there that is handed back. */
it('needs no folder for temporary files beside the data directory', async () => {
  const { TMPDIR } = process.env;
  app = appBundle(CODE, EXPORTS);
  process.env['TMPDIR'] = join(app.appDir, 'nowhere');
  try {
    hosts = createHosts({ limits: makeLimits(), count: 1, data: app.appDir, log: (entry) => logs.push(entry) });
    await hosts.load(app);
    expect(hosts.stats()['hosts']).toBeGreaterThan(0);
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
});

async function openMoody(what: string): Promise<string> {
  await open();
  const flag = join(app.appDir, 'flag');
  const mood = `import { existsSync, unlinkSync } from 'node:fs'; if (existsSync('flag')) { ${what} }`;
  await hosts.load({ appDir: app.appDir, bundle: app.next(mood + CODE) });
  await until(() => hosts.stats()['hosts'] === 2);
  writeFileSync(flag, '');
  return flag;
}

/** Loads an app with a connection whose answers hold so many bytes, where 10,000 may be handed over. */
async function openWithRemote(bytes: number): Promise<Server> {
  await open({ hostMessageBytes: 10_000 });
  const server = createServer((_, response) => response.end(JSON.stringify({ text: 'x'.repeat(bytes) })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const api = { type: 'http', baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  await hosts.load({ ...app, connections: { connections: { api }, missing: {}, models: {} } });
  return server;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await nextTurn();
}

/** A clock by which a pause before the next process is over as soon as somebody waits for it. */
class Pauses implements Clock {
  #skipped = 0;

  constructor() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  }

  readonly wall = (): number => Date.now();
  readonly monotonic = (): number => performance.now() + this.#skipped;

  /** Whenever there are less processes than that, the next one is to come after a pause; those that are there have their time. */
  async skipFor(work: Promise<unknown>, count = 1): Promise<void> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    while (!isOver) {
      if (hosts.stats()['hosts'] < count) this.#skip(1_000);
      await nextTurn();
    }
    await work;
  }

  #skip(ms: number): void {
    this.#skipped += ms;
    vi.advanceTimersByTime(ms);
  }
}

afterEach(async () => {
  shortage.kind = '';
  vi.useRealTimers();
  await hosts.close();
  app.remove();
});

const BAD_MIGRATIONS = [
  [2, 'undefined', /static migrations of agent type A have none to version 2$/],
  [4, '{ 2: (s) => s, 4: (s) => s }', /have none to version 3$/],
  [2, '{ 2: {} }', /have no function for 2$/],
  [2, '{ 2: (s) => s, 3: (s) => s }', /lead to 3, and static version is 2$/],
  [1, '{ 2: (s) => s }', /lead to 2, and static version is 1$/],
  [2, '{ 2: (s) => s, two: (s) => s }', /lead to "two", which is no version behind 1$/],
  [2, '[(s) => s]', /are no object of functions$/],
] as const;

describe('host processes', () => {
  it('run exported functions with values of their types', async () => {
    await open();
    expect(await call('add', 2, 3)).toBe(5);
    const date = new Date('2026-01-02T03:04:05Z');
    expect(await call('kinds', date, 12n)).toEqual({ date, big: 12n });
    expect(await call('pid')).not.toBe(process.pid);
  });

  it('hand on what a function throws, and log what it writes with the request', async () => {
    await open();
    await expect(call('fail')).rejects.toMatchObject({ code: 'FUNCTION_FAILED', message: 'no more tea' });
    await call('slow', 1);
    expect(logs).toContainEqual({ level: 'info', message: 'slow 1', requestId: 'r-slow', operation: 'slow' });
  });

  it.runIf(HAS_PROC)('are there before the next load where one is expected', async () => {
    await open({}, 1, true);
    // one that serves, one in reserve, and as many for the next load
    await vi.waitFor(() => expect(hosts.stats()['hosts']).toBe(4), 60_000);
    const started = children();
    await hosts.load(app);
    expect(started).toContain(await call('pid'));
  });

  it.runIf(HAS_PROC)('start beside what is done before a load, when they are told to', async () => {
    await open();
    hosts.prepare(app.appDir);
    hosts.prepare(app.appDir);
    expect(hosts.stats()['hosts']).toBe(3);
    const started = children();
    await hosts.load(app);
    expect(started).toContain(await call('pid'));
  });

  it('tell the log where one ends by itself or from outside, and of none that was ended', async () => {
    await open();
    const loud = () => logs.filter(({ message }) => message.startsWith('a process of the app has ended'));
    process.kill((await call('pid')) as number, 'SIGKILL');
    await expect.poll(loud).toMatchObject([{ level: 'warn', message: expect.stringContaining(': SIGKILL (look for') }]);
    expect(await call('add', 1, 2)).toBe(3);
    await hosts.load(app);
    expect(await call('add', 1, 2)).toBe(3);
    expect(loud()).toHaveLength(1);
  });

  it('refuse what is too large to be handed over, and nothing else', async () => {
    await open({ hostMessageBytes: 10_000 });
    const refusal = { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('limits.hostMessageBytes is 10000') };
    const calls = [call('large', 10_000), call('add', 1, 2), call('add', 'x'.repeat(10_000), ''), call('large', 9_000)];
    const [result, sum, given, fits] = await Promise.allSettled(calls);
    expect(result).toMatchObject({ reason: refusal });
    expect(sum).toMatchObject({ value: 3 });
    expect(given).toMatchObject({ reason: refusal });
    expect(fits).toMatchObject({ value: 'x'.repeat(9_000) });
    expect(hosts.stats()['hosts']).toBe(2);
  });

  it('go on with an outside result that is too large to be remembered, and with a line too large to be logged', async () => {
    const server = await openWithRemote(20_000);
    expect(await call('fetches')).toBe(20_000);
    expect(await call('talks', 20_000)).toBe('done');
    server.close();
    const label = { level: 'warn', requestId: 'r-fetches', operation: 'fetches' };
    const message = expect.stringMatching(/is not remembered.*limits\.hostMessageBytes is 10000/);
    expect(logs).toContainEqual({ ...label, message });
    expect(logs).toContainEqual(expect.objectContaining({ message: expect.stringContaining('line of the log') }));
  });

  it('hold no line of their output that does not end', async () => {
    await open();
    await call('writes', 'x'.repeat(500_000), 4);
    const held = () => logs.flatMap(({ message }) => /^x+/.exec(message)?.[0].length ?? []);
    await expect.poll(held).not.toEqual([]);
    await call('writes', 'short\nlong\n', 1);
    await expect.poll(() => logs.at(-1)?.message).toBe('long');
    expect(held().reduce((sum, length) => sum + length, 0)).toBe(2_000_000);
    expect(Math.max(...held())).toBeLessThan(600_000);
  });

  it('run again where outside results together are too large to be handed over', async () => {
    const server = await openWithRemote(6_000);
    writeFileSync(join(app.appDir, 'leave'), '');
    expect(await call('fetchesTwice')).toBe(12_000);
    server.close();
  });

  it('tell the code that asked for too much, so that it ends', async () => {
    await open({ hostMessageBytes: 10_000 });
    await expect(call('ask', 20_000)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('what send was given cannot leave the process'),
    });
    expect(await call('misses')).toEqual(['LIMIT_EXCEEDED']);
  });

  it('say which part of a result cannot leave them', async () => {
    await open();
    const message = 'the result cannot leave the process: result.list[1] is a promise';
    await expect(call('unawaited')).rejects.toMatchObject({ message, fix: 'await it' });
  });

  it('tell of a result that throws when it is read, in place of waiting for it', async () => {
    await open();
    const message =
      'the result cannot leave the process: result.user is a getter that throws when it is read: detached';
    await expect(call('detached')).rejects.toMatchObject({ message });
    const items = hosts.stream({ name: 'detachedLater', args: [], requestId: 'r' })[Symbol.asyncIterator]();
    expect((await items.next()).value).toEqual({ id: 1 });
    await expect(items.next()).rejects.toMatchObject({ message });
  });

  it('give a call up when its caller has left', async () => {
    await open();
    const caller = { aborted: false };
    const slow = hosts.call({ name: 'slow', args: [60_000], requestId: 'r', signal: caller });
    caller.aborted = true;
    await expect(slow).rejects.toMatchObject({ code: 'CANCELLED' });
    const late = hosts.call({ name: 'add', args: [1, 2], requestId: 'r', signal: caller });
    await expect(late).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('stream item by item and run no further than they are read', async () => {
    await open();
    const seen: unknown[] = [];
    for await (const item of hosts.stream({ name: 'count', args: [1e9], requestId: 's' })) {
      seen.push(item);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  it.each(['reading', 'waiting', 'failing'])(
    'let a stream tidy up behind a reader that leaves while %s',
    async (how) => {
      await open();
      const said: unknown[] = [];
      const over: string[] = [];
      hosts.serve(
        async (_call, { args }) => said.push(args[1]),
        ({ requestId }) => over.push(requestId),
      );
      const reader = new AbortController();
      const { signal } = reader;
      const items = hosts.stream({ name: 'waves', args: [how], requestId: 's', signal })[Symbol.asyncIterator]();
      await items.next();
      await items.next();
      if (how === 'waiting') {
        const waiting = items.next();
        reader.abort();
        await waiting.catch(() => undefined);
      }
      await items.return?.();
      expect(said).toEqual(['goodbye']);
      expect(over).toEqual(['s']);
      const told = logs.filter(({ level }) => level === 'error').map(({ message }) => message);
      expect(told).toEqual(
        how === 'failing' ? [expect.stringMatching(/^waves failed when its reader had left: .*no hat/)] : [],
      );
      expect(hosts.stats()['host_tasks']).toBe(0);
    },
  );

  it('let a stream tidy up behind a reader that leaves while an item is on its way', async () => {
    await open();
    const said: unknown[] = [];
    hosts.serve(
      async (_call, { args }) => said.push(args[1]),
      () => undefined,
    );
    const reader = new AbortController();
    const { signal } = reader;
    const items = hosts.stream({ name: 'quick', args: [], requestId: 's', signal })[Symbol.asyncIterator]();
    await items.next();
    const next = items.next();
    await nextTurn();
    reader.abort();
    // the item comes meanwhile, and is read behind the look that finds the reader gone
    for (const until = performance.now() + 100; performance.now() < until; );
    await expect(next).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(said).toEqual(['goodbye']);
    expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('answer what a stream asks between two items', async () => {
    await open();
    let heard = '';
    hosts.serve(
      async (_call, { args }) => (heard = String(args[1])),
      () => undefined,
    );
    const items = hosts.stream({ name: 'chatters', args: [], requestId: 's' })[Symbol.asyncIterator]();
    expect(await items.next()).toMatchObject({ value: 'first' });
    await until(() => heard !== '');
    expect(await items.next()).toMatchObject({ value: 'between' });
    await items.return?.();
  });

  it('tell at once when there is too little room to load an app, or for it to say what it offers', async () => {
    app = appBundle(CODE, EXPORTS);
    const many = Array.from({ length: 100 }, (_, i) => `agents.register(class Type${i} extends Agent {});`);
    const crowded = appBundle(many.join('\n'));
    const environment = (text: string) => () => ({ LARGE: text });
    const limits = makeLimits({ hostMessageBytes: 4_096 });
    hosts = createHosts({ limits, count: 1, environment: environment('x'.repeat(5_000)) });
    const told = {
      code: 'APP_LOAD',
      message: expect.stringMatching(/when it loads is too large: .*hostMessageBytes is 4096/),
    };
    await expect(hosts.load(app)).rejects.toMatchObject(told);
    await hosts.close();
    hosts = createHosts({ limits, count: 1, environment: environment('x') });
    await hosts.load(app);
    await expect(hosts.load(crowded)).rejects.toMatchObject(told);
    crowded.remove();
  });

  it('leave a stream to its slow reader when another bundle is loaded', async () => {
    await open({ shutdownMs: 600_000 });
    const items = hosts.stream({ name: 'count', args: [3], requestId: 's' })[Symbol.asyncIterator]();
    await items.next();
    await until(() => hosts.stats()['hosts'] === 2);
    await hosts.load({ ...app, bundle: app.next(CODE) });
    // the spare of the bundle before has ended: whoever else had nothing to do has too
    await until(() => hosts.stats()['hosts'] === 3);
    expect(await items.next()).toMatchObject({ value: 2 });
    expect(await items.next()).toMatchObject({ value: 3 });
    expect(await items.next()).toMatchObject({ done: true });
    await until(() => hosts.stats()['hosts'] === 2);
  });

  it('finish what they run when another bundle is loaded, also behind streams that were read', async () => {
    await open();
    for await (const _ of hosts.stream({ name: 'count', args: [3], requestId: 's' }));
    let answer = (_text: string): void => undefined;
    const answered = new Promise<string>((resolve) => {
      answer = resolve;
    });
    hosts.serve(
      () => answered,
      () => undefined,
    );
    const running = call('inquire');
    const begun = () => logs.filter(({ message }) => message === 'inquiring').length;
    await until(() => begun() === 1 && hosts.stats()['hosts'] === 2);
    await hosts.load({ ...app, bundle: app.next(CODE) });
    // the spare of the bundle before has ended: whoever else had nothing to do has too
    await until(() => hosts.stats()['hosts'] === 3);
    answer('found');
    expect(await running).toBe('found');
    // nothing of it was done a second time
    expect(begun()).toBe(1);
  });

  it('are left alone once they have loaded', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await open();
    const before = await call('pid');
    vi.advanceTimersByTime(2 * limits.hostLoadMs);
    expect(await call('pid')).toBe(before);
    expect(logs).toEqual([]);
  });

  it.runIf(HAS_PROC)('leave no file open and none behind', async () => {
    const { TMPDIR } = process.env;
    app = appBundle(CODE, EXPORTS);
    process.env['TMPDIR'] = app.appDir;
    try {
      hosts = createHosts({ limits: makeLimits(), count: 1 });
      await hosts.load(app);
      expect([readdirSync(app.appDir), markers().length]).toEqual([['bundle-1.mjs'], hosts.stats()['hosts']]);
      await hosts.close();
      expect(markers()).toEqual([]);
    } finally {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    }
  });

  it('end a stream that does not end by itself some time after another bundle is loaded', async () => {
    await open({ shutdownMs: 1 });
    const streams = ['forever', 'count'].map((name) => hosts.stream({ name, args: [3], requestId: name }));
    const [endless, slow] = streams.map((stream) => stream[Symbol.asyncIterator]());
    await Promise.all([endless.next(), slow.next()]);
    const waiting = endless.next();
    const reloaded = { code: 'APP_RELOADED', fix: 'subscribe again' };
    const told = expect(waiting).rejects.toMatchObject(reloaded);
    await hosts.load({ ...app, bundle: app.next(CODE) });
    await told;
    await expect(slow.next()).rejects.toMatchObject(reloaded);
    await until(() => hosts.stats()['hosts'] === 2);
  });

  it('tell of each call once it is over, however it ended', async () => {
    await open({ turnThreadMs: 300, turnWallMs: 1_000 });
    const over: string[] = [];
    hosts.serve(
      async () => undefined,
      ({ requestId }) => over.push(requestId),
    );
    await call('add', 1, 2);
    await Promise.allSettled([call('fail'), call('slow', 60_000), call('spin'), call('exit')]);
    for await (const item of hosts.stream({ name: 'count', args: [3], requestId: 'stream' })) if (item === 2) break;
    expect(over.sort()).toEqual(['r-add', 'r-exit', 'r-fail', 'r-slow', 'r-spin', 'stream']);
  });

  it('an endless loop fails its own call; the others run again and succeed', async () => {
    await open({ turnThreadMs: 300 });
    const before = await call('pid');
    const others = [call('slow', 100), call('slow', 600)];
    await expect(call('spin')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    expect(await Promise.all(others)).toEqual([100, 600]);
    expect(await call('pid')).not.toBe(before);
  });

  it('while one process is held, everything else is answered by the others', async () => {
    await open({ turnThreadMs: 3_000 }, 2);
    await until(() => hosts.stats()['hosts'] === 3);
    // both that calls are spread over: what is left is the one in reserve
    const spinning = Promise.allSettled([call('spin'), call('spin')]);
    let held = true;
    void spinning.then(() => {
      held = false;
    });
    expect(await Promise.all(Array.from({ length: 10 }, (_, i) => call('add', i, 1)))).toHaveLength(10);
    expect(held).toBe(true);
    const timedOut = { reason: { code: 'FUNCTION_TIMEOUT' } };
    expect(await spinning).toMatchObject([timedOut, timedOut]);
  });

  it('what is like the one that holds a process does not get the one in reserve', async () => {
    await open({ turnThreadMs: 60_000 }, 2);
    await until(() => hosts.stats()['hosts'] === 3);
    const spinning = Array.from({ length: 6 }, () => call('spin').catch((error: unknown) => error));
    for (let i = 0; i < 10; i++) expect(await call('add', i, 1)).toBe(i + 1);
    expect(hosts.stats()).toMatchObject({ hosts: 3, host_kills: 0 });
    await hosts.close();
    expect(await Promise.all(spinning)).toMatchObject(Array(6).fill({ code: 'NOT_READY' }));
  });

  it('while all are held, everything else is answered by one that is made for it', async () => {
    await open({ turnThreadMs: 60_000 }, 2);
    await until(() => hosts.stats()['hosts'] === 3);
    // the one in reserve too
    for (const name of ['spin', 'sleep', 'busy']) {
      void call(name, 60_000).catch(() => undefined);
      expect(await call('add', 1, 1)).toBe(2);
    }
    for (let i = 0; i < 10; i++) expect(await call('add', i, 1)).toBe(i + 1);
    expect(hosts.stats()).toMatchObject({ hosts: 4, host_kills: 0 });
  });

  it('what came after the last one that has begun is answered by the others, whatever holds the process', async () => {
    await open({ turnThreadMs: 3_000 }, 2);
    const spinning = call('spinLater').catch((error: unknown) => error);
    await call('slow', 50);
    expect(await Promise.all(Array.from({ length: 10 }, (_, i) => call('add', i, 1)))).toHaveLength(10);
    expect(hosts.stats()['host_kills']).toBe(0);
    expect(await spinning).toMatchObject({ code: 'FUNCTION_TIMEOUT' });
  });

  it("a loop that a call has left behind is nobody else's: its process ends, and what came to it runs elsewhere", async () => {
    await open({ turnThreadMs: 600 });
    await call('spinBehind');
    await new Promise((done) => setTimeout(done, 50));
    expect(await call('add', 1, 1)).toBe(2);
    await vi.waitFor(() => expect(hosts.stats()['host_kills']).toBe(1), 10_000);
    expect(await call('add', 1, 2)).toBe(3);
  });

  it('suspects first whom the last message was for', async () => {
    // twice this time in silence ends a process too: on a busy machine that must not be short
    await open({ turnThreadMs: 1_500 });
    const others = [call('slow', 2_500), call('slow', 2_600)];
    await call('add', 1, 1);
    await expect(call('spinAfter')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    expect(await Promise.all(others)).toEqual([2_500, 2_600]);
    expect(hosts.stats()['host_kills']).toBe(1);
  });

  it('suspects it also where a ping was read in one go with that message', async () => {
    await open({ turnThreadMs: 1_500 });
    const others = [call('slow', 2_500), call('busy', 100)];
    await nextTurn(); // the call comes in a frame of its own, and the ping in the next
    await expect(call('spinAfter')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    await Promise.all(others);
    expect(hosts.stats()['host_kills']).toBe(1);
  });

  it('finds the guilty one among several suspects when the loop begins after an await', async () => {
    await open({ turnThreadMs: 300 });
    const others = [call('slow', 700), call('slow', 800)];
    await expect(call('spinLater')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    expect(await Promise.all(others)).toEqual([700, 800]);
  });

  it('a function that ends its process is blamed, alone', async () => {
    await open();
    // more than may run alone at one time
    const others = Array.from({ length: 5 }, () => call('slow', 300));
    await expect(call('exit')).rejects.toMatchObject({ code: 'FUNCTION_FAILED' });
    expect(await Promise.all(others)).toEqual(Array(5).fill(300));
    // those that they ran alone in have ended
    await until(() => hosts.stats()['hosts'] === 2);
  });

  it('a function that changes how its process says something is blamed, alone', async () => {
    await open();
    const others = Array.from({ length: 5 }, () => call('slow', 300));
    await expect(call('spoil')).rejects.toMatchObject({ code: 'FUNCTION_FAILED', message: /cannot be read/ });
    expect(await Promise.all(others)).toEqual(Array(5).fill(300));
    const message = expect.stringContaining('Array.prototype');
    expect(logs).toContainEqual(expect.objectContaining({ level: 'error', message }));
  });

  it('one that holds its thread by waiting ends as one that works', async () => {
    await open({ turnThreadMs: 300 });
    await expect(call('sleep')).rejects.toMatchObject({ code: 'FUNCTION_TIMEOUT' });
    expect(await call('add', 1, 2)).toBe(3);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
    '%s to the whole group, as of a terminal or of systemd, ends none',
    async (name) => {
      await open();
      expect(await call('signalled', name)).toBe(await call('pid'));
    },
  );

  it('one that takes ever more memory ends, and nothing else does', async () => {
    await open({ hostHeapMb: 64 });
    const other = call('slow', 100);
    await expect(call('hoard')).rejects.toMatchObject({ message: expect.stringContaining('memory') });
    expect(await other).toBe(100);
  });

  it('a call that only waits too long is given up without a kill', async () => {
    await open({ turnWallMs: 150 });
    const before = await call('pid');
    for (const [name, ...args] of [['slow', 60_000], ['unsettled']] as const) {
      // it holds nothing: there is no loop to look for
      const told = { code: 'FUNCTION_TIMEOUT', fix: expect.stringMatching(/^look for what it awaits .*"then"/) };
      await expect(call(name, ...args)).rejects.toMatchObject(told);
    }
    expect(await call('pid')).toBe(before);
  });

  it('counts no time in which the machine stood still', async () => {
    let stood = 0;
    await open({}, 1, false, { wall: () => Date.now(), monotonic: () => performance.now() + stood });
    const waiting = call('slow', 300);
    await until(() => logs.some(({ message }) => message.includes('slow')));
    stood = 3_600_000;
    expect(await waiting).toBe(300);
  });

  it('keep what ran before when a bundle does not load', async () => {
    await open();
    const broken = { appDir: app.appDir, bundle: app.next("throw new Error('broken at load');") };
    await expect(hosts.load(broken)).rejects.toMatchObject({
      code: 'APP_LOAD',
      message: 'broken at load',
      fix: /at \/.*bundle-2\.mjs:2:/,
    });
    const refusals = [
      ['throw undefined;', 'undefined'],
      ["await graph.query('{ a }');", /works only inside/],
      ['agents.register(class extends Agent {});', 'an agent class has no name'],
      ['class A extends Agent { static agentName = 5; } agents.register(A);', /named by what is no text/],
      [
        "class A extends Agent { static readOnly = 'peek'; } agents.register(A);",
        /static readOnly .* is no list of names/,
      ],
      [
        'class A extends Agent { static handlers = [5]; } agents.register(A);',
        /static handlers .* is no list of names/,
      ],
      [
        "class A extends Agent { static handlers = ['then']; then() {} } agents.register(A);",
        /static handlers .* lists "then"/,
      ],
      ['class A extends Agent { static attempts = 0; } agents.register(A);', /static attempts of agent type A must be/],
      ...BAD_MIGRATIONS.map(
        ([version, migrations, what]) =>
          [
            `class A extends Agent { static version = ${version}; static migrations = ${migrations}; } agents.register(A);`,
            what,
          ] as const,
      ),
    ] as const;
    for (const [code, message] of refusals) {
      const refused = hosts.load({ appDir: app.appDir, bundle: app.next(code) });
      const fix = code === 'throw undefined;' ? undefined : expect.stringMatching(/at \/.*bundle-\d+\.mjs:2:/);
      await expect(refused).rejects.toMatchObject({ message, ...(fix === undefined ? {} : { fix }) });
    }
    const lacking = { appDir: app.appDir, bundle: app.next("import 'nowhere-to-be-found';") };
    await expect(hosts.load(lacking)).rejects.toMatchObject({
      message: /'nowhere-to-be-found'/,
      fix: /npm install nowhere-to-be-found$/,
    });
    expect(await call('add', 1, 1)).toBe(2);
  });

  it('take the place of one that did not load', async () => {
    const flag = await openMoody("throw new Error('moody');");
    // The first death takes the reserve, and what follows it does not load.
    await expect(call('exit')).rejects.toMatchObject({ code: 'APP_LOAD', message: 'moody' });
    unlinkSync(flag);
    expect(await call('add', 1, 2)).toBe(3);
  });

  it('take the place of one that did not load once, and its tasks go on there', async () => {
    await openMoody("unlinkSync('flag'); throw new Error('moody');");
    for (let deaths = 0; deaths < 2; deaths++) {
      writeFileSync(join(app.appDir, 'leave'), '');
      expect(await call('leave')).toBe('left');
    }
    expect(await call('add', 1, 2)).toBe(3);
  });

  it('run what is asked once an app loads again, although process after process was killed while it loaded', async () => {
    const killed = `const fs = await import('node:fs'); const left = Number(fs.readFileSync('flag', 'utf8'));
      if (left > 0) { fs.writeFileSync('flag', String(left - 1)); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); }`;
    const flag = await openMoody(killed);
    writeFileSync(flag, '1');
    writeFileSync(join(app.appDir, 'leave'), '');
    expect(await call('leave')).toBe('left');
    // the spare that was made then is the one that was killed
    await until(() => readFileSync(flag, 'utf8') === '0');
    writeFileSync(flag, '3');
    writeFileSync(join(app.appDir, 'leave'), '');
    expect(await call('leave')).toBe('left');
  });

  it('tell what to do where each process ends while it loads', async () => {
    await openMoody('process.exit(1);');
    const told = { code: 'APP_LOAD', fix: expect.stringContaining('outside of functions') };
    await expect(call('exit')).rejects.toMatchObject(told);
  });

  it.each(['thrown', 'told later', 'without pipes'])(
    'come back by themselves where the system gave none (%s)',
    async (kind) => {
      const pauses = new Pauses();
      await open({}, 1, false, pauses);
      await until(() => hosts.stats()['hosts'] === 2);
      shortage.kind = kind;
      const overloaded = { code: 'OVERLOADED', fix: expect.stringContaining('ulimit') };
      await pauses.skipFor(expect(call('exit')).rejects.toMatchObject(overloaded));
      await pauses.skipFor(expect(call('add', 1, 2)).rejects.toMatchObject(overloaded));
      const stream = hosts.stream({ name: 'count', args: [3], requestId: 's' });
      await pauses.skipFor(expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject(overloaded));
      expect(logs).toContainEqual({ level: 'error', message: expect.stringContaining('gives no process') });
      shortage.kind = '';
      await pauses.skipFor(until(async () => (await call('add', 1, 2).catch(() => 0)) === 3));
      const whole = until(() => hosts.stats()['hosts'] === 2);
      await pauses.skipFor(whole, 2);
    },
  );

  it('stream from the one that takes the place of one that died before the first item', async () => {
    await open();
    writeFileSync(join(app.appDir, 'leave'), '');
    const seen: unknown[] = [];
    for await (const item of hosts.stream({ name: 'leaveOrCount', args: [3], requestId: 's' })) seen.push(item);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('tell the reader of a stream that broke behind an item, or never began', async () => {
    await open();
    const items = hosts.stream({ name: 'countAndLeave', args: [1], requestId: 's' })[Symbol.asyncIterator]();
    expect(await items.next()).toEqual({ done: false, value: 1 });
    const broke = { code: 'FUNCTION_FAILED', message: 'the stream broke: exit code 3' };
    await expect(items.next()).rejects.toMatchObject(broke);
    const none = hosts.stream({ name: 'countAndLeave', args: [0], requestId: 's' })[Symbol.asyncIterator]();
    await expect(none.next()).rejects.toMatchObject(broke);
  });

  it('follow each other slowly where they end while they load', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const flag = await openMoody('process.exit(1);');
    await expect(call('exit')).rejects.toMatchObject({ code: 'APP_LOAD' });
    await until(() => hosts.stats()['hosts'] === 0);
    unlinkSync(flag);
    let isOver = false;
    const late = call('add', 1, 2).finally(() => {
      isOver = true;
    });
    // whenever there is none, another is to come after a pause; one that loads is given its time
    await until(() => {
      if (hosts.stats()['hosts'] === 0) vi.advanceTimersByTime(60_000);
      return isOver;
    });
    expect(await late).toBe(3);
  });

  it.each([
    ['a loop', 'while (true) {}'],
    ['an await', 'await new Promise((done) => setTimeout(done, 1e9));'],
  ])('end while they load, when that never ends by %s, and keep what ran before', async (_, code) => {
    await open();
    limits.hostLoadMs = 1_500; // not for the first load, which has its time
    const before = children().length;
    const endless = { appDir: app.appDir, bundle: app.next(code) };
    const loading = hosts.load(endless);
    expect(await call('add', 1, 1)).toBe(2);
    await expect
      .poll(() => logs)
      .toContainEqual(
        expect.objectContaining({
          level: 'warn',
          message: expect.stringMatching(/^the app did not load within 375 ms/),
        }),
      );
    await expect(loading).rejects.toMatchObject({
      code: 'APP_LOAD',
      message: /did not load within 1500 ms/,
      fix: /hostLoadMs/,
    });
    expect(await call('add', 1, 2)).toBe(3);
    if (HAS_PROC) await expect.poll(() => children().length).toBeLessThanOrEqual(before);
  });
});
