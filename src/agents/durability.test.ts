import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { type AppBundle, appBundle } from '../../test/app-bundle.js';

const CODE = `
  class Ledger extends Agent {
    static history = 3;
    state = { entries: [] };
    async onReceiveMessage(name, data) {
      if (name === 'all') {
        const past = await agents.history(this.id);
        if (past.length !== 3 || past[0].state !== this.getState()) throw new Error('the history is not that of its state');
        return JSON.stringify(this.state.entries);
      }
      if (name === 'forward') {
        const [to, entry] = data.split(' ');
        this.state.forwarded = (this.state.forwarded ?? 0) + 1;
        await agents.sendMessageAsync(to, 'note', entry);
        return 'sent';
      }
      this.state.entries.push(data);
      return 'noted';
    }
  }
  agents.register(Ledger);
`;
const CHILD = fileURLToPath(new URL('../../test/agent-child.mjs', import.meta.url));

let app: AppBundle;
let directory: string;
beforeEach(() => {
  app = appBundle(CODE);
  directory = testFolder();
});
afterEach(() => {
  app.remove();
});

function child(mode: string): { process: ChildProcess; lines: AsyncIterable<string> } {
  const args = [CHILD, mode, join(directory, 'data'), app.appDir, app.bundle];
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return { process: started, lines: createInterface({ input: started.stdout }) };
}

/** Runs load until so many acknowledgements came, then kills it in the middle of the next ones. */
async function loadAndKill(acknowledgements: number): Promise<string[]> {
  const { process: loading, lines } = child('load');
  const seen: string[] = [];
  for await (const line of lines) {
    if (line !== 'ready') seen.push(line);
    if (seen.length === acknowledgements) loading.kill('SIGKILL');
  }
  if (loading.exitCode === null && loading.signalCode === null) await once(loading, 'exit');
  return seen;
}

it('kill -9 loses no acknowledged message and applies none twice', async () => {
  const acknowledged: string[] = [];
  for (const count of [40, 65, 90]) acknowledged.push(...(await loadAndKill(count)));
  const { lines } = child('verify');
  const held = new Map<string, string[]>();
  for await (const line of lines) {
    const [id, entries] = line.split(' ');
    held.set(id, JSON.parse(entries) as string[]);
  }
  expect(held.size).toBe(4);
  for (const entries of held.values()) expect(new Set(entries).size).toBe(entries.length);
  const lost = acknowledged.filter((line) => !held.get(line.split(' ')[0])?.includes(line.split(' ')[1]));
  expect(lost).toEqual([]);
});
