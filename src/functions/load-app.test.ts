import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, GraphQLObjectType, GraphQLSchema, graphql, printType } from 'graphql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Agents, agentsApplier, createAgents, createHosts, type HostLog, type HostPool } from '../agents/index.js';
import type { Operation, RequestContext } from '../api/index.js';
import { GraphsteadError, GraphsteadErrors, type Limits, makeLimits, nameOfThis } from '../base/index.js';
import { createCommitter } from '../commit/index.js';
import { createMemoryStore } from '../store/index.js';
import { startRemote } from '../../test/remote.js';
import { type App, buildApp, loadApp } from './index.js';

const INDEX = `
  import { agents, Agent, caller, type Int, type Json } from 'graphstead/app';
  class Note extends Agent<{ text: string }> {
    state = { text: '' };
    async onReceiveMessage(name: string, data?: string) {
      if (name === 'write') this.state.text = data ?? '';
      if (name === 'hold') await fetch(data ?? '');
      if (name === 'who') return JSON.stringify(caller.claims ?? null);
      return VERSION + this.state.text;
    }
  }
  agents.register(Note);
  const VERSION: string = 'one ';
  interface When { at: Date; big: bigint; shape: Shape }
  type Shape = { kind: 'circle'; radius: number } | { kind: 'square'; side: Int };
  export function getWhen(at: Date, big: bigint, nothing?: string | null): When {
    console.log('getWhen was called');
    console.dir({ a: '%s' });
    return { at: new Date(at.getTime() + 1), big: big + 1n, shape: { kind: 'square', side: nothing === null ? 2 : 1 } };
  }
  export async function startNote(): Promise<string> { return (await agents.start('Note')).id; }
  export function fail(): string { throw new Error('on purpose'); }
  export async function* countTo(to: Int): AsyncGenerator<Int> { for (let i = 1; i <= to; i++) yield i; }
  export async function* wait(): AsyncGenerator<Int> { yield 1; await new Promise(() => undefined); }
  export function forget(id: string): void {}
  export function die(): void { process.exit(1); }
  export async function getWho(id?: string): Promise<Json> {
    return id === undefined ? ((caller.claims ?? null) as Json) : JSON.parse((await agents.sendMessage(id, 'who')) ?? '');
  }
  export async function* watchWho(): AsyncGenerator<Json> { yield (caller.claims ?? null) as Json; }
`;

let root: string;
let agents: Agents;
let hosts: HostPool;
let app: App | undefined;
let shut: () => Promise<void>;
let limits: { -readonly [Name in keyof Limits]: Limits[Name] };
const logs: HostLog[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'graphstead-load-'));
  writeFileSync(join(root, 'index.ts'), INDEX);
  limits = { ...makeLimits() };
  const runtime = await startRuntime();
  ({ hosts, agents } = runtime);
  logs.length = 0;
  shut = async () => {
    await app?.close();
    await runtime.close();
    rmSync(root, { recursive: true, force: true });
  };
});
afterEach(() => shut());

/** What a service loads an app into. */
async function startRuntime() {
  const store = createMemoryStore();
  const committer = await createCommitter({ store, appliers: [agentsApplier(limits)], limits });
  const hosts = createHosts({ limits, count: 1 });
  const agents = createAgents({ committer, incarnation: store.incarnation, hosts, limits });
  const close = async () => {
    await agents.close();
    await hosts.close();
    await committer.close();
  };
  return { hosts, agents, close };
}

async function open(
  appDir = root,
  more: { dev?: boolean; taken?: string[]; takenTypes?: string[]; connections?: () => unknown } = {},
): Promise<App> {
  const taken = { operations: new Set(more.taken), types: new Set(more.takenTypes) };
  const limits = makeLimits();
  const log = (entry: HostLog) => void logs.push(entry);
  const { dev = false, connections } = more;
  app = await loadApp({ appDir, dev, hosts, agents, limits, log, taken: () => taken, connections });
  await agents.resume();
  return app;
}

function context(): RequestContext {
  return { requestId: 'r1', headers: {}, signal: new AbortController().signal, extensions: {} };
}

function operation(name: string): Operation {
  return app?.operations.find((one) => one.name === name) as Operation;
}

/** The operations as graphql-js runs them: types and values have to fit each other. */
function schemaOf(operations: readonly Operation[]): GraphQLSchema {
  const fields = (kind: Operation['kind']) =>
    Object.fromEntries(
      operations
        .filter((one) => one.kind === kind)
        .map((one) => [
          one.name,
          {
            type: one.type,
            args: one.args,
            resolve: (_: unknown, args: Record<string, unknown>, c: RequestContext) => one.run?.(args, c),
          },
        ]),
    );
  const query = new GraphQLObjectType({ name: 'Query', fields: fields('query') });
  const mutation = new GraphQLObjectType({ name: 'Mutation', fields: fields('mutation') });
  return new GraphQLSchema({ query, mutation });
}

describe('an app', () => {
  it('answers GraphQL with values of its types', async () => {
    const { operations } = await open();
    const schema = schemaOf(operations);
    const source = `query ($n: String) { getWhen(at: "2026-01-02T03:04:05.000Z", big: "41", nothing: $n) {
      at big shape { __typename ... on WhenShapeSquare { side } ... on ShapeSquare { side } } } }`;
    const trimmed = source.replace(/\.\.\. on WhenShapeSquare \{ side \}/, '');
    const answer = await graphql({ schema, source: trimmed, contextValue: context() });
    expect(JSON.parse(JSON.stringify(answer))).toEqual({
      data: { getWhen: { at: '2026-01-02T03:04:05.001Z', big: 42, shape: { __typename: 'ShapeSquare', side: 1 } } },
    });
    const withNull = await graphql({ schema, source: trimmed, variableValues: { n: null }, contextValue: context() });
    expect(withNull.data).toMatchObject({ getWhen: { shape: { side: 2 } } });
    expect(printType(schema.getType('ShapeSquare') as never)).toBe(
      printType(
        buildSchema('type Query { a: Int }\ntype ShapeSquare { kind: String! side: Int! }').getType(
          'ShapeSquare',
        ) as never,
      ),
    );
    expect(await operation('forget').run?.({ id: 'x' }, context())).toBe(true);
  });

  it.each(["'gone'", '[]', '7'])('is told where an object was promised and %s came', async (value) => {
    writeFileSync(
      join(root, 'index.ts'),
      `export interface Box { text?: string }\nexport function getBox(): Box { return ${value} as Box; }`,
    );
    const schema = schemaOf((await open()).operations);
    const answer = await graphql({
      schema: new GraphQLSchema({ query: schema.getQueryType() }),
      source: '{ getBox { text } }',
      contextValue: context(),
    });
    expect(answer.errors?.[0]?.message ?? '').toContain('where Box was promised');
  });

  it('streams subscriptions', async () => {
    await open();
    const seen: unknown[] = [];
    for await (const batch of operation('countTo').subscribe?.({ to: 3 }, context()) ?? [])
      for (const { value } of batch) seen.push(value);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('tells a function what the token of its caller says, and an agent nothing', async () => {
    await open();
    const asked = { ...context(), claims: { USER: 'ann', exp: 9 } };
    expect(await operation('getWho').run?.({}, asked)).toEqual({ USER: 'ann', exp: 9 });
    expect(await operation('getWho').run?.({}, context())).toBeNull();
    const id = (await operation('startNote').run?.({}, asked)) as string;
    expect(await operation('getWho').run?.({ id }, asked)).toBeNull();
    const told: unknown[] = [];
    for await (const events of operation('watchWho').subscribe?.({}, asked) ?? []) told.push(...events);
    expect(told).toEqual([{ value: { USER: 'ann', exp: 9 } }]);
  });

  it('names the argument that is none of its type', async () => {
    await open();
    const asked = operation('getWhen').run?.({ at: 'yesterday', big: 1 }, context());
    await expect(asked).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: 'argument "at": "yesterday" is not a date or time',
      fix: expect.stringMatching(/^Write it as 2006/),
    });
  });

  it('tells nobody that a reader of a stream went away', async () => {
    await open();
    const leaving = new AbortController();
    const read = async () => {
      const asked = { ...context(), signal: leaving.signal };
      for await (const _ of operation('wait').subscribe?.({}, asked) ?? []) leaving.abort();
    };
    await expect(read()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('tells errors to the log with the request, and in dev to the answer with console output', async () => {
    await open(root, { dev: true });
    const asked = context();
    await operation('getWhen').run?.({ at: '2026-01-01T00:00:00Z', big: 1 }, asked);
    expect(asked.extensions).toEqual({
      console: [
        { level: 'info', message: 'getWhen was called' },
        { level: 'info', message: "{ a: '%s' }" },
      ],
    });
    const failure = await operation('fail')
      .run?.({}, context())
      ?.catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'FUNCTION_FAILED', message: 'on purpose' });
    const { details } = failure as { details: { stack: string[] } };
    expect(details.stack[0]).toContain('index.ts');
    expect(logs.find((entry) => entry.level === 'error')).toMatchObject({ requestId: 'r1', operation: 'fail' });
  });

  it('tells no error to the log where a client names an agent that is not there', async () => {
    await open();
    const id = (await operation('startNote').run?.({}, context())) as string;
    await agents.stop(id);
    const codes = [];
    for (const wrong of ['agent_nobody', '', id]) {
      const failure = await operation('getWho')
        .run?.({ id: wrong }, context())
        ?.catch((error: unknown) => error);
      codes.push((failure as { code: string }).code);
    }
    expect(codes).toEqual(['AGENT_UNKNOWN', 'AGENT_ID_MISSING', 'AGENT_TERMINATED']);
    const levels = logs.filter(({ operation: name }) => name === 'getWho').map(({ level }) => level);
    expect(levels).toEqual(['info', 'info', 'info']);
  });

  it('reloads with its agents and their state; a mistake keeps what ran', async () => {
    const loaded = await open();
    const id = (await operation('startNote').run?.({}, context())) as string;
    expect(await agents.send(id, 'write', 'text')).toBe('one text');
    writeFileSync(join(root, 'index.ts'), INDEX.replace("'one '", "'two '"));
    await loaded.reload();
    expect(await agents.send(id, 'read')).toBe('two text');
    writeFileSync(join(root, 'index.ts'), 'export function broken(a: symbol): void {}');
    await expect(loaded.reload()).rejects.toMatchObject({
      errors: [{ code: 'FUNCTION_TYPE', position: { line: 1, source: 'index.ts' } }],
    });
    expect(await agents.send(id, 'read')).toBe('two text');
    expect(operation('getWhen')).toBeDefined();
  });

  it('does not let all agents wait for a turn that takes its time', async () => {
    const loaded = await open();
    const { id: slow } = await agents.start('Note');
    const { id: other } = await agents.start('Note');
    const remote = await startRemote();
    try {
      const ended = new Promise<string>((end) => {
        remote.on('/', async () => {
          writeFileSync(join(root, 'index.ts'), INDEX.replace("'one '", "'two '"));
          const reloading = loaded.reload();
          while (hosts.manifest === first) {
            // fails where no turn may begin for so long
            await agents.send(other, 'write', 'text', { timeoutMs: 60_000 });
          }
          await reloading;
          end((await agents.send(other, 'read')) ?? '');
          return { body: '' };
        });
      });
      const first = hosts.manifest;
      const held = agents.send(slow, 'hold', remote.url);
      expect(await Promise.race([ended, held])).toBe('two text');
      expect(await held).toBe('one ');
      expect(await agents.send(slow, 'read')).toBe('two ');
    } finally {
      await remote.close();
    }
  });

  it('keeps agents at work while a module that never ends is loaded', async () => {
    const loaded = await open();
    const id = (await operation('startNote').run?.({}, context())) as string;
    writeFileSync(join(root, 'index.ts'), `${INDEX}\nwhile (true) {}`);
    limits.hostLoadMs = 2_000;
    const reloading = expect(loaded.reload()).rejects.toMatchObject({
      errors: [
        {
          code: 'APP_LOAD',
          message: 'the app did not load within 2000 ms; it was at index.ts, or at what that imports',
        },
      ],
    });
    let over = false;
    void reloading.finally(() => {
      over = true;
    });
    while (!over) {
      expect(await agents.send(id, 'write', 'text')).toBe('one text');
    }
    await reloading;
    limits.hostLoadMs = 60_000;
    writeFileSync(join(root, 'index.ts'), INDEX.replace("'one '", "'two '"));
    await loaded.reload();
    expect(await agents.send(id, 'read')).toBe('two text');
  });

  it('names the file whose code ends the process that loads it', async () => {
    mkdirSync(join(root, 'functions'));
    rmSync(join(root, 'index.ts'));
    writeFileSync(join(root, 'functions', 'first.ts'), 'export function one(): string { return "1"; }');
    writeFileSync(join(root, 'leaves.ts'), 'export const two = (): never => process.exit(3);');
    const second = 'import { two } from "../leaves.js"; two(); export function three(): string { return "3"; }';
    writeFileSync(join(root, 'functions', 'second.ts'), second);
    const message = expect.stringContaining('exit code 3; it was at functions/second.ts, or at what that imports');
    await expect(open()).rejects.toMatchObject({ errors: [{ code: 'APP_LOAD', message }] });
  });

  /** Processes that take the place of dead ones load what runs. */
  async function expectsHostsToComeBack(): Promise<void> {
    const code = 'FUNCTION_FAILED';
    const message = expect.stringContaining('the host process died under it');
    await expect(operation('die').run?.({}, context())).rejects.toMatchObject({ code, message });
    expect(await operation('getWho').run?.({}, context())).toBe(null);
  }

  it('goes on with what it runs after edits that did not load', async () => {
    const loaded = await open();
    for (const mistake of ['one', 'two']) {
      writeFileSync(join(root, 'index.ts'), `${INDEX}\nthrow new Error('${mistake}');`);
      await expect(loaded.reload()).rejects.toMatchObject({ errors: [{ code: 'APP_LOAD', message: mistake }] });
    }
    await expectsHostsToComeBack();
  });

  it('goes on with what it runs while others load the same folder', async () => {
    await open();
    const other = await startRuntime();
    try {
      writeFileSync(join(root, 'index.ts'), INDEX.replace("'one '", "'two '"));
      const loaded = await loadApp({ appDir: root, dev: false, limits, ...other });
      writeFileSync(join(root, 'index.ts'), INDEX.replace("'one '", "'three '"));
      await loaded.reload();
      await loaded.close();
    } finally {
      await other.close();
    }
    await expectsHostsToComeBack();
  });

  it('leaves no more behind than the next load takes away', async () => {
    const cache = join(root, '.graphstead');
    const bundles = () => readdirSync(cache).filter((name) => name.endsWith('.mjs'));
    mkdirSync(cache);
    writeFileSync(join(cache, 'app-0-1.mjs'), 'what a process left that was killed');
    writeFileSync(join(cache, 'app-0.json'), nameOfThis().replace(/"pid":\d+/, '"pid":4194305'));
    for (const _ of [1, 2, 3]) {
      const loaded = await open();
      await loaded.reload();
      await loaded.reload();
      expect(bundles()).toHaveLength(2);
      await loaded.close();
    }
  });

  it.runIf(existsSync('/sys'))('says what to do where nothing can be compiled into its folder', async () => {
    symlinkSync('/sys', join(root, '.graphstead'));
    await expect(open()).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining(join(root, '.graphstead')),
      fix: expect.stringContaining('graphstead build'),
    });
  });

  it('closes while a module that never ends is loaded', async () => {
    const loaded = await open();
    writeFileSync(join(root, 'index.ts'), `${INDEX}\nwhile (true) {}`);
    limits.hostLoadMs = 2e9;
    const staged = vi.spyOn(hosts, 'stage');
    const reloading = expect(loaded.reload()).rejects.toBeDefined();
    await vi.waitFor(() => expect(staged).toHaveBeenCalled(), { timeout: 60_000 });
    await loaded.close();
    await hosts.close();
    await reloading;
  });

  it('does not begin a load that waits when it closes', async () => {
    const loaded = await open();
    const staged = vi.spyOn(hosts, 'stage');
    const queued = loaded.reload();
    await loaded.close();
    await queued;
    expect(staged).not.toHaveBeenCalled();
  });

  it('reloads by itself in dev', async () => {
    const loaded = await open(root, { dev: true });
    const reloaded = new Promise<number>((done) => {
      loaded.onReload(done);
    });
    writeFileSync(join(root, 'index.ts'), 'export function getFresh(): string { return "fresh"; }');
    await reloaded;
    expect(loaded.operations.map((one) => one.name)).toEqual(['getFresh']);
    expect(await operation('getFresh').run?.({}, context())).toBe('fresh');
  });

  it('forgets functions and agents whose code is gone', async () => {
    const loaded = await open();
    const id = (await operation('startNote').run?.({}, context())) as string;
    rmSync(join(root, 'index.ts'));
    await loaded.reload();
    expect(loaded.operations).toEqual([]);
    expect(loaded.agentTypes).toEqual([]);
    await expect(agents.start('Note')).rejects.toMatchObject({ message: expect.stringContaining('"Note"') });
    writeFileSync(join(root, 'index.ts'), INDEX.replace("'one '", "'two '"));
    await loaded.reload();
    expect(await agents.send(id, 'write', 'text')).toBe('two text');
  });

  it('does not wait in dev for a module that never ends when it was edited again', async () => {
    limits.hostLoadMs = 2e9;
    await open(root, { dev: true });
    const staged = vi.spyOn(hosts, 'stage');
    writeFileSync(join(root, 'index.ts'), `${INDEX}\nawait new Promise(() => undefined);`);
    await vi.waitFor(() => expect(staged).toHaveBeenCalled(), { timeout: 60_000 });
    writeFileSync(join(root, 'index.ts'), `${INDEX}\nexport function getMended(): string { return 'mended'; }`);
    await vi.waitFor(() => expect(operation('getMended')).toBeDefined(), { timeout: 60_000 });
    expect(logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('tells in dev where a mistake is, once', async () => {
    let broken = false;
    const connections = () => {
      if (broken) throw readMistake();
    };
    const readMistake = () => {
      const position = { line: 1, column: 3, source: 'app.json' };
      return new GraphsteadErrors([
        new GraphsteadError('CONFIG', 'app.json:1:3: it is wrong', { position, fix: 'mend it' }),
      ]);
    };
    await open(root, { dev: true, connections });
    broken = true;
    writeFileSync(join(root, 'app.json'), '{}');
    await vi.waitFor(() => expect(logs.find(({ level }) => level === 'error')).toBeDefined(), { timeout: 60_000 });
    const { message } = logs.find(({ level }) => level === 'error') as HostLog;
    expect(message).toBe('the app was not reloaded: app.json:1:3: it is wrong (mend it)');
  });

  it('tells a mistake in its connections at a reload, also where it has no code', async () => {
    rmSync(join(root, 'index.ts'));
    let broken = false;
    const connections = () => {
      if (broken) throw new Error('app.json is broken');
    };
    const loaded = await open(root, { connections });
    broken = true;
    await expect(loaded.reload()).rejects.toThrow('app.json is broken');
  });

  it('is told what to do about a file that is not beside its one module', async () => {
    const read = "readFileSync(new URL('./a.txt', import.meta.url))";
    writeFileSync(join(root, 'index.ts'), `import { readFileSync } from 'node:fs';\n${read};\n${INDEX}`);
    await expect(open()).rejects.toMatchObject({
      errors: [{ code: 'APP_LOAD', message: /ENOENT/, fix: /index\.ts:2.*process\.cwd\(\)/ }],
    });
  });

  it('is refused where a function takes a name that the schema has', async () => {
    await expect(open(root, { taken: ['getWhen'] })).rejects.toMatchObject({
      errors: [{ message: expect.stringContaining('"getWhen"'), position: { source: 'index.ts' } }],
    });
  });

  it('is refused where a type takes a name that the schema has, with the place that uses it', async () => {
    appendFileSync(
      join(root, 'index.ts'),
      '\nexport interface Taken { a: string }\nexport function getTaken(): Taken { throw 0; }',
    );
    const line = readFileSync(join(root, 'index.ts'), 'utf8').split('\n').length;
    await expect(open(root, { takenTypes: ['Taken'] })).rejects.toMatchObject({
      errors: [{ message: expect.stringContaining('"Taken"'), position: { source: 'index.ts', line, column: 29 } }],
    });
  });

  it('is refused with a name of the service itself, where it has agents, by its line, and is not built', async () => {
    const out = join(root, 'build');
    const own =
      'export async function* agentEvent(): AsyncIterable<string> {}\nexport interface AgentEvent { at: number }\n';
    writeFileSync(join(root, 'index.ts'), `${own}export function getIt(): AgentEvent | null { return null; }\n`);
    await open();
    expect(app?.operations.map((one) => one.name)).toEqual(['agentEvent', 'getIt']);
    writeFileSync(join(root, 'note.ts'), INDEX);
    appendFileSync(join(root, 'index.ts'), "import './note.js';\n");
    const errors = [
      { code: 'FUNCTION_TYPE', position: { source: 'index.ts', line: 1, column: 24 }, fix: 'rename the function' },
      { code: 'FUNCTION_TYPE', position: { source: 'index.ts', line: 3 }, fix: /rename the interface/ },
    ].map((one) =>
      expect.objectContaining({
        ...one,
        position: expect.objectContaining(one.position),
        fix: expect.stringMatching(one.fix),
      }),
    );
    await expect(app?.reload()).rejects.toMatchObject({ errors });
    await expect(buildApp(root, out, { types: false })).rejects.toMatchObject({ errors });
    expect(existsSync(out)).toBe(false);
  });

  it('runs as it was built, without its sources', async () => {
    const out = join(root, 'build');
    await buildApp(root, out);
    rmSync(join(root, 'index.ts'));
    await open(out);
    expect(app?.operations.map((one) => one.name)).toContain('startNote');
    const id = (await operation('startNote').run?.({}, context())) as string;
    expect(await agents.send(id, 'write', 'x')).toBe('one x');
  });

  it('is refused where not all is there that was built', async () => {
    const out = join(root, 'build');
    await buildApp(root, out, { types: false });
    const refused = async (message: string) =>
      await expect(open(out)).rejects.toMatchObject({
        errors: [{ code: 'APP_LOAD', message: expect.stringContaining(message) }],
      });
    appendFileSync(join(out, 'app.mjs'), '\n');
    await refused('app.mjs is not the one that app.manifest.json was written with');
    rmSync(join(out, 'app.mjs'));
    await refused('app.mjs is missing');
    const manifest = join(out, 'app.manifest.json');
    writeFileSync(manifest, '{ "format": 1,');
    await refused('app.manifest.json cannot be read');
    for (const other of ['{ "format": 2, "code": true }', 'null']) {
      writeFileSync(manifest, other);
      await refused('not written by this version');
    }
  });

  it('runs as it was built where it has no code, and tells of code that came without its manifest', async () => {
    const out = join(root, 'build');
    await buildApp(root, out, { types: false });
    rmSync(join(out, 'app.manifest.json'));
    await open(out);
    expect(app?.operations).toEqual([]);
    expect(logs).toMatchObject([{ level: 'warn', message: expect.stringContaining('app.manifest.json is missing') }]);
    await app?.close();
    rmSync(join(root, 'index.ts'));
    await buildApp(root, out);
    await open(out);
    expect(logs).toHaveLength(1);
  });

  it('is refused where a package is not installed, by the line that imports it', async () => {
    const fix = "install it in the app's folder: npm install @nowhere/found";
    writeFileSync(join(root, 'index.ts'), "export { getOther } from './other.js';\n");
    for (const text of ["import x from '@nowhere/found';", "import {\n  x,\n} from '@nowhere/found/deep';"]) {
      writeFileSync(
        join(root, 'other.ts'),
        `// text\n${text}\nexport function getOther(): string { return String(x); }`,
      );
      const line = text.split('\n').length + 1;
      const position = { source: 'other.ts', line, column: text.split('\n').at(-1)?.indexOf("'@nowhere") ?? 0 };
      await expect(open()).rejects.toMatchObject({
        errors: [
          {
            code: 'APP_LOAD',
            message: 'the package "@nowhere/found" is not installed',
            position: { ...position, column: position.column + 1 },
            fix,
          },
        ],
      });
    }
  });

  it('is not built with mistakes in app.json or schema.graphql, which are told with those of its code', async () => {
    const out = join(root, 'build');
    writeFileSync(join(root, 'app.json'), '{ "conections": {} }');
    writeFileSync(join(root, 'schema.graphql'), 'type Note {\n  text: Strin\n}');
    const told = [
      { code: 'CONFIG', position: { source: 'app.json', line: 1 } },
      { code: 'INVALID_SDL', position: { source: 'schema.graphql', line: 2 } },
    ];
    await expect(buildApp(root, out, { types: false })).rejects.toMatchObject({ errors: told });
    writeFileSync(join(root, 'index.ts'), 'export function getAny(): any {}');
    const inCode = { code: 'FUNCTION_TYPE', position: { source: 'index.ts' } };
    await expect(buildApp(root, out, { types: false })).rejects.toMatchObject({ errors: [...told, inCode] });
    expect(existsSync(out)).toBe(false);
  });

  it('is not built with functions or types that are named as what its types generate, with names of either kind', async () => {
    const code = 'export interface Note { text: string }\nexport function addNote(): Note { return { text: "" } }';
    writeFileSync(join(root, 'index.ts'), code);
    const told = ['the operation "addNote" exists already', 'the type "Note" exists already'];
    const position = { source: 'index.ts', line: 2 };
    const errors = told.map((message) => {
      return { code: 'FUNCTION_TYPE', message: expect.stringContaining(message), position };
    });
    for (const name of ['Service', 'Dgraph']) {
      writeFileSync(join(root, 'schema.graphql'), `# ${name}.Secret key "value"\ntype Note { id: ID! text: String }`);
      await expect(buildApp(root, join(root, 'build'), { types: false })).rejects.toMatchObject({ errors });
    }
    expect(existsSync(join(root, 'build'))).toBe(false);
  });

  it('is built without the variables of its files, and with names of either kind in its types', async () => {
    const connection = { type: 'http', baseUrl: '{{BASE}}', headers: { k: '{{KEY}}' } };
    writeFileSync(join(root, 'app.json'), JSON.stringify({ connections: { a: connection } }));
    const note = 'type Note { id: ID! text: String }';
    for (const name of ['Service', 'Dgraph']) {
      writeFileSync(join(root, 'schema.graphql'), `# ${name}.Secret key "{{TOKEN}}"\n${note}`);
      await buildApp(root, join(root, 'build'), { types: false });
    }
    expect(existsSync(join(root, 'build', 'schema.graphql'))).toBe(true);
  });

  it('is not built of what was built, nor over its source or another: nothing is written then', async () => {
    const out = join(root, 'build');
    const other = join(root, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'schema.graphql'), 'type A { b: Int }');
    for (const to of [join(out, '..'), other]) {
      await expect(buildApp(root, to)).rejects.toMatchObject({ code: 'CONFIG' });
      expect(existsSync(join(to, 'app.mjs'))).toBe(false);
    }
    expect(existsSync(join(other, 'schema.graphql'))).toBe(true);
    await buildApp(root, out, { types: false });
    for (const to of [out, join(root, 'again')]) {
      await expect(buildApp(out, to)).rejects.toMatchObject({ code: 'CONFIG' });
    }
    expect(existsSync(join(out, 'app.mjs'))).toBe(true);
    expect(existsSync(join(root, 'again'))).toBe(false);
  });

  it('finds functions/ and agents/ where there is no index.ts', async () => {
    rmSync(join(root, 'index.ts'));
    for (const dir of ['functions', 'agents']) mkdirSync(join(root, dir));
    writeFileSync(join(root, 'functions/a.ts'), "export function getA(): string { return 'a'; }");
    writeFileSync(
      join(root, 'agents/b.ts'),
      "import { Agent, agents } from 'graphstead/app';\nclass B extends Agent {}\nagents.register(B);\nexport function notAnOperation() {}",
    );
    const loaded = await open();
    expect(loaded.operations.map((one) => one.name)).toEqual(['getA']);
    expect(loaded.agentTypes.map((type) => type.name)).toEqual(['B']);
  });

  it('tells once which files beside them it does not read', async () => {
    rmSync(join(root, 'index.ts'));
    mkdirSync(join(root, 'functions'));
    for (const name of ['plain.js', 'helper.mjs', 'plain.test.js']) writeFileSync(join(root, 'functions', name), '');
    const loaded = await open();
    writeFileSync(
      join(root, 'functions/a.ts'),
      "// @ts-expect-error it has no types\nimport './helper.mjs';\nexport function getA(): string { return 'a'; }",
    );
    await loaded.reload();
    expect(logs.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^functions\/helper\.mjs is not read: .*rename it/),
      expect.stringMatching(/^functions\/plain\.js is not read: .*rename it/),
    ]);
  });

  it('tells once of a class whose operations nobody will answer', async () => {
    const bot = `import { Agent, agents } from 'graphstead/app';
class Bot extends Agent {
  static readonly handlers = ['go', 'stay'] as const;
  /** @mutation */
  go(): void {}
  /** @mutation */
  stay(): void {}
}
`;
    writeFileSync(join(root, 'index.ts'), bot);
    const loaded = await open();
    await loaded.reload();
    const told = () => logs.filter(({ level }) => level === 'warn').map(({ message }) => message);
    const line =
      /^no class is registered as agent type "Bot": botGo, botStay will answer AGENT_TYPE_UNKNOWN \(agents\.reg/;
    expect(told()).toEqual([expect.stringMatching(line)]);
    writeFileSync(join(root, 'index.ts'), `${bot}agents.register(Bot);`);
    await loaded.reload();
    writeFileSync(join(root, 'index.ts'), bot);
    await loaded.reload();
    expect(told()).toEqual([expect.stringMatching(line), expect.stringMatching(line)]);
  });

  it('tells which files look like code of an app that has no entry', async () => {
    rmSync(join(root, 'index.ts'));
    mkdirSync(join(root, 'src'));
    writeFileSync(join(root, 'app.ts'), "export function getA(): string { return 'a'; }");
    writeFileSync(join(root, 'src/bot.ts'), "import { Agent } from 'graphstead/app';\nclass Bot extends Agent {}");
    writeFileSync(join(root, 'codegen.ts'), 'export default {};');
    await open();
    expect(logs.filter(({ level }) => level === 'warn').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^app\.ts is not read: an app is what index\.ts/),
      expect.stringMatching(/^src\/bot\.ts is not read: /),
    ]);
  });

  it('takes in TypeScript of a package of the same workspace, notices its edits, and leaves other packages outside', async () => {
    const app = join(root, 'apps/chat');
    const shared = join(root, 'packages/shared');
    for (const dir of [app, join(shared, 'src'), join(root, 'packages/old'), join(root, 'node_modules/@acme')]) {
      mkdirSync(dir, { recursive: true });
    }
    const exports = { '.': './src/index.ts', './rooms.json': './src/rooms.json' };
    writeFileSync(join(shared, 'package.json'), JSON.stringify({ name: '@acme/shared', type: 'module', exports }));
    writeFileSync(join(shared, 'src/index.ts'), "export const greeting: string = 'hello';");
    writeFileSync(join(shared, 'src/rooms.json'), '["lobby"]');
    writeFileSync(join(root, 'packages/old/index.js'), "exports.os = require('node:os').EOL;");
    symlinkSync(shared, join(root, 'node_modules/@acme/shared'), 'dir');
    symlinkSync(join(root, 'packages/old'), join(root, 'node_modules/old'), 'dir');
    writeFileSync(
      join(app, 'index.ts'),
      `import { greeting } from '@acme/shared';
       import rooms from '@acme/shared/rooms.json' with { type: 'json' };
       // @ts-expect-error it brings no types
       import old from 'old';
       export function getGreeting(): string { return greeting + rooms + old.os; }`,
    );
    await open(app, { dev: true });
    expect(await operation('getGreeting').run?.({}, context())).toBe('hellolobby\n');
    writeFileSync(join(shared, 'src/index.ts'), "export const greeting: string = 'bye ';");
    await vi.waitFor(async () => expect(await operation('getGreeting').run?.({}, context())).toBe('bye lobby\n'), {
      timeout: 60_000,
    });
  });

  it('reads what tsconfig.json says of a file in the same way, however the file is imported', async () => {
    const app = join(root, 'apps/chat');
    const write = (name: string, text: string) => writeFileSync(join(root, name), text);
    for (const name of ['apps/chat', 'lib']) mkdirSync(join(root, name), { recursive: true });
    const decorated = (name: string) =>
      `const seen: string[] = [];
       function heard(_: object, key: string, property: PropertyDescriptor) { seen.push(key + typeof property.value); }
       class Room { @heard say() {} }
       export const ${name} = () => seen.join() + new Room().say;`;
    const compilerOptions = { experimentalDecorators: true, paths: { '#named/*': ['../../lib/*'] } };
    write('apps/chat/tsconfig.json', JSON.stringify({ compilerOptions }));
    write('lib/tsconfig.json', '{ "extends": "../apps/chat/tsconfig.json" }');
    write('lib/one.ts', decorated('one'));
    write('lib/two.ts', decorated('two'));
    write(
      'apps/chat/index.ts',
      `import { one } from '#named/one.js';
       import { two } from '../../lib/two.js';
       export const getSeen = (): string[] => [one(), two()].map((text) => text.slice(0, 11));`,
    );
    await open(app);
    expect(await operation('getSeen').run?.({}, context())).toEqual(['sayfunction', 'sayfunction']);
  });

  it('notices edits outside of it that only types or path names depend on', async () => {
    const app = join(root, 'apps/chat');
    const write = (name: string, text: string) => writeFileSync(join(root, name), text);
    for (const name of ['apps/chat', 'types', 'one', 'two']) mkdirSync(join(root, name), { recursive: true });
    const paths = (to: string) => {
      write('tsconfig.base.json', JSON.stringify({ compilerOptions: { paths: { where: [`./${to}/where.ts`] } } }));
    };
    paths('one');
    write('apps/chat/tsconfig.json', '{ "extends": "../../tsconfig.base.json" }');
    write('types/room.ts', 'export interface Room { at: string }');
    for (const name of ['one', 'two']) write(`${name}/where.ts`, `export const where: any = '${name}';`);
    write(
      'apps/chat/index.ts',
      `import type { Room } from '../../types/room.js';
       import { where } from 'where';
       export function getRoom(): Room { return { at: where }; }`,
    );
    await open(app, { dev: true });
    const becomes = (at: unknown) => {
      const wait = { timeout: 60_000 };
      return vi.waitFor(
        async () => expect(await operation('getRoom').run?.({}, context())).toMatchObject({ at }),
        wait,
      );
    };
    await becomes('one');
    paths('two');
    await becomes('two');
    write('types/room.ts', 'export interface Room { at: string; free: boolean | null }');
    await vi.waitFor(
      async () => expect(await operation('getRoom').run?.({}, context())).toEqual({ at: 'two', free: null }),
      { timeout: 60_000 },
    );
  });
});
