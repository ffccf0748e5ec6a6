import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runJson, scratch, serve } from './command.js';

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

const NODES = 12_000;
const bin = fileURLToPath(new URL('../../bin/graphstead.js', import.meta.url));

describe('an import that is killed', () => {
  // what holds values already is filled in transactions, and some of them have landed by then
  it.each([
    ['in bulk', 0, ''],
    ['in transactions', 130_000, '_:old <name> "old" .\n_:old <next> _:old .\n'],
  ])('goes on when it is started again, and gives no node twice (%s)', async (_, journalBytes, before) => {
    const data = folder.path('data');
    writeFileSync(folder.path('before.rdf'), before);
    writeFileSync(folder.path('a.rdf'), quads());
    writeFileSync(folder.path('b.json'), JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ name: `j${i}` }))));
    const args = ['import', folder.path('a.rdf'), folder.path('b.json'), '--data', data];

    // where this process was held up, the import may have been over
    for (let tries = 1; ; tries++) {
      await runJson(['import', folder.path('before.rdf'), '--data', data]);
      if (await killedInTime(args, data, journalBytes)) break;
      expect(tries).toBeLessThan(10);
      rmSync(data, { recursive: true });
    }

    expect(await runJson(args)).toMatchObject({ statements: NODES * 2 + 500, nodes: NODES + 500 });
    const service = await serve(['--data', data]);
    const answer = await service.query(
      '{ named(func: has(name)) { count(uid) } linked(func: has(next)) { count(uid) } }',
    );
    await service.stop();
    const more = before === '' ? 0 : 1;
    expect(answer['data']).toEqual({ named: [{ count: NODES + 500 + more }], linked: [{ count: NODES + more }] });
  });

  it('goes on into a running service, from the folder where it was begun', async () => {
    writeFileSync(folder.path('a.rdf'), quads());
    const service = await serve(['--data', folder.path('data')]);
    try {
      const args = ['import', folder.path('a.rdf'), '--to', service.url];
      for (let tries = 1; !(await killedInTime(args, folder.path('.graphstead'), 130_000, folder.dir)); tries++) {
        expect(tries).toBeLessThan(10);
        await fetch(`${service.url}/alter`, { method: 'POST', body: '{"drop_all": true}' });
      }
      const counted = '{ named(func: has(name)) { count(uid) } linked(func: has(next)) { count(uid) } }';
      const before = (await service.query(counted))['data'] as { named: { count: number }[] };
      expect(before.named[0].count).toBeGreaterThan(0);
      await runJson(args, { cwd: folder.dir });
      expect((await service.query(counted))['data']).toEqual({ named: [{ count: NODES }], linked: [{ count: NODES }] });
    } finally {
      await service.stop();
    }
  });
});

function quads(): string {
  const lines = Array.from(
    { length: NODES },
    (_, i) => `_:n${i} <name> "n${i}" .\n_:n${i} <next> _:n${(i * 7) % NODES} .\n`,
  );
  return lines.join('');
}

/** Whether the import was still on its way when it was killed. */
async function killedInTime(args: readonly string[], data: string, journalBytes: number, cwd = '.'): Promise<boolean> {
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'ignore', cwd });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (child.exitCode === null && !hasJournal(`${data}/import`, journalBytes)) await pause(2);
  child.kill('SIGKILL');
  await ended;
  return hasJournal(`${data}/import`);
}

/** Names are in the journal just before the statements that use them are committed. */
function hasJournal(path: string, bytes = 0): boolean {
  if (!existsSync(path)) return false;
  return readdirSync(path).some((name) => (statSync(`${path}/${name}`, { throwIfNoEntry: false })?.size ?? 0) > bytes);
}
