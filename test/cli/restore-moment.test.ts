// A backup, brought forward to the moment before a mistake by what the data directory keeps of the commits since.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KIND } from '../../src/commit/kind.js';
import { KeyWriter, openLmdbStore, type Range } from '../../src/store/index.js';
import { startService, type TestService } from '../service.js';
import { openStream } from '../sse.js';
import { bin, run, runJson, scratch, serve } from './command.js';

const APP = `
import { Agent, agents } from 'graphstead/app';
export class Counter extends Agent {
  #count = 0;
  override getState(): string { return String(this.#count); }
  override setState(state?: string): void { this.#count = Number(state ?? 0); }
  override async onReceiveMessage(): Promise<string> { return String(++this.#count); }
}
agents.register(Counter);
export async function startCounter(): Promise<string> { return (await agents.start('Counter')).id; }
export async function bump(id: string): Promise<string | null> { return agents.sendMessage(id, 'count'); }
`;
const NAMES = '{ q(func: has(name), orderasc: name) { uid name ok: checkpwd(pwd, "secret") } }';

let folder: ReturnType<typeof scratch>;
const opened: (() => unknown)[] = [];
beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  folder.remove();
});

async function service(options: Parameters<typeof startService>[0] = {}): Promise<TestService> {
  const started = await startService({ data: folder.path('data'), ...options });
  opened.push(() => started.close());
  return started;
}

const backup = () => runJson(['backup', folder.path('backup'), '--data', folder.path('data')]);
const restoreArgs = (to: string, ...more: string[]) => [
  'restore',
  folder.path('backup'),
  '--data',
  folder.path(to),
  ...more,
];
const RECORDS = () => ['--records', folder.path('data')];

/** Everything that a store holds but for the committer's own figures. */
async function everything(directory: string): Promise<string[]> {
  const store = await openLmdbStore(directory, { readOnly: true });
  const snapshot = store.snapshot();
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  const lines: string[] = [];
  let range: Range | undefined = { start: Uint8Array.of(0), end: Uint8Array.of(255) };
  while (range !== undefined) {
    const { keys, values, next } = await snapshot.range(range);
    lines.push(...keys.map((key, i) => `${hex(key)} ${hex(values[i])}`));
    range = next;
  }
  snapshot.release();
  await store.close();
  const own = hex(new KeyWriter('commit').byte(KIND.state).key());
  return lines.filter((line) => !line.startsWith(own));
}

/** The id in /changes, behind another one, of the last commit before one that says so. */
async function idBefore({ url }: TestService, position: string, said: string): Promise<string> {
  const stream = await openStream(`${url}/changes?after=${position}`, {});
  let last = position;
  for (let event = await stream.next(); !event?.data.includes(said); event = await stream.next())
    last = event?.id ?? last;
  stream.close();
  return last;
}

describe('restore --records', () => {
  it('goes back to the moment before a mistake, by time or by id, with agents and passwords', async () => {
    const appDir = folder.path('app');
    mkdirSync(`${appDir}/functions`, { recursive: true });
    writeFileSync(`${appDir}/functions/index.ts`, APP);
    const writer = await service({ appDir });
    await writer.alter('name: string @index(exact) .\npwd: password .');
    const { startCounter: id } = (await writer.graphql('mutation { startCounter }')).body.data;
    const { position } = await backup();
    for (let i = 0; i < 5; i++) {
      await writer.rdf(`{ set { _:a <name> "n${i}" . _:a <pwd> "secret" . } }`);
      await writer.graphql('mutation ($id: String!) { bump(id: $id) }', { id });
    }
    await writer.alter('name: string @index(exact, term) .');
    const good = await writer.data(NAMES);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const when = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await writer.alter('{"drop_attr": "name"}');
    await writer.rdf('{ set { _:b <name> "later" . } }');

    for (const [to, until] of [
      ['time', when],
      ['id', await idBefore(writer, String(position), 'drop_attr')],
    ]) {
      const done = await runJson(restoreArgs(to, ...RECORDS(), '--until', until));
      expect(done['last']).toEqual({ commitTs: expect.any(Number), wall: expect.stringMatching(/Z$/) });
      const restored = await service({ data: folder.path(to), ...(to === 'time' ? { appDir } : {}) });
      expect(await restored.data(NAMES)).toEqual(good);
      expect((await restored.rdf('{ set { _:c <name> "goes on" . } }')).status).toBe(200);
      if (to !== 'time') continue;
      expect((await restored.graphql('mutation ($id: String!) { bump(id: $id) }', { id })).body.data.bump).toBe('6');
    }
    // as far as it goes it is what the service holds, key by key
    await writer.close();
    await runJson(restoreArgs('all', ...RECORDS()));
    const held = await everything(folder.path('data'));
    expect(held.length).toBeGreaterThan(20);
    expect(await everything(folder.path('all'))).toEqual(held);
  });

  it('refuses what it cannot do, and leaves no store then', async () => {
    const writer = await service({ limits: { recordBytes: 20_000 } });
    await writer.rdf('{ set { _:a <name> "A" . } }');
    const { position } = await backup();
    const first = await writer.rdf('{ set { _:a <name> "B" . } }');
    const id = (ts: unknown) => String(position).replace(/\.\d+\./, `.${String(ts)}.`);
    const refused = async (...more: string[]) => {
      const { code, stderr } = await run([...restoreArgs('to', ...more), '--json']);
      const held = existsSync(folder.path('to')) ? readdirSync(folder.path('to')) : [];
      return { code, ...JSON.parse(stderr).error, held };
    };
    const invalid = { code: 'INVALID_REQUEST', held: [] };
    expect(await refused('--until', '2030-01-01T00:00:00Z')).toMatchObject({ code: 'CONFIG', held: [] });
    expect(await refused(...RECORDS(), '--until', 'yesterday')).toMatchObject({ code: 'INVALID_VALUE', held: [] });
    expect(await refused(...RECORDS(), '--until', '2020-01-01T00:00:00Z')).toMatchObject(invalid);
    expect(await refused(...RECORDS(), '--until', id(1))).toMatchObject(invalid);
    const beyond = first.body.extensions.txn.commit_ts + 10_000;
    expect((await refused(...RECORDS(), '--until', id(beyond))).message).toContain('has not reached');
    expect((await refused(...RECORDS(), '--until', 'aaaaaaaaaaaaaaaa.99.0')).message).toContain('another life');
    const other = await startService({ data: folder.path('other') });
    opened.push(() => other.close());
    for (let i = 0; i < 30; i++) await other.rdf('{ set { _:a <name> "X" . } }');
    expect(await refused('--records', folder.path('other'))).toMatchObject({
      ...invalid,
      message: expect.stringContaining('no earlier copy'),
    });
    for (let i = 0; i < 20; i++) await writer.rdf(`{ set { _:a <name> "${'x'.repeat(3_000)}" . } }`);
    expect(await refused(...RECORDS())).toMatchObject({ code: 'EVENT_GAP', held: [] });
  });

  it('leaves no store where it is killed, and makes one when it is run again', async () => {
    const writer = await service();
    await writer.alter('name: string @index(exact, trigram) .');
    await backup();
    for (let i = 0; i < 300; i++) await writer.rdf(`{ set { _:a <name> "n${i}" . } }`);
    await writer.close();
    const held = await everything(folder.path('data'));
    const to = folder.path('to');
    for (let round = 0; round < 2; round++) {
      const child = spawn(process.execPath, [bin, ...restoreArgs('to', ...RECORDS())], { stdio: 'ignore' });
      const ended = new Promise<NodeJS.Signals | null>((resolve) =>
        child.on('close', (_code, signal) => resolve(signal)),
      );
      // the copy is open, and commits are being taken in
      const isAtIt = () => {
        if (!existsSync(to)) return false;
        return readdirSync(to).some((name) => existsSync(join(to, name, 'writer.json')));
      };
      while (!isAtIt()) await new Promise((resolve) => setTimeout(resolve, 2));
      await new Promise((resolve) => setTimeout(resolve, round * 30));
      child.kill('SIGKILL');
      expect(await ended).toBe('SIGKILL');
      expect(existsSync(join(to, 'data.mdb'))).toBe(false);
      const started = await run(['start', '--port', '0', '--grpc-port', '0', '--data', to]);
      expect([started.code, started.stderr]).toEqual([1, expect.stringContaining('a copy that was not finished')]);
    }
    expect((await runJson(restoreArgs('to', ...RECORDS())))['commits']).toBeGreaterThan(299);
    expect(readdirSync(to)).toEqual(['data.mdb']);
    expect(await everything(to)).toEqual(held);
    const served = await serve(['--data', to]);
    opened.push(() => served.stop());
    expect((await served.query('{ q(func: has(name)) { count(uid) } }'))['data']).toEqual({ q: [{ count: 300 }] });
  });
});
