import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runJson, scratch } from './command.js';

const bin = fileURLToPath(new URL('../../bin/graphstead.js', import.meta.url));
const folder = scratch();
const app = folder.path('my-app');
beforeAll(() => runJson(['new', app, '--no-git']));
afterAll(() => folder.remove());

const command = (...flags: string[]) => [bin, 'dev', app, '--port', '0', '--grpc-port', '0', ...flags];

/** `graphstead dev`, line by line. */
function dev(...flags: string[]) {
  return listening(spawn(process.execPath, command(...flags), { stdio: ['ignore', 'pipe', 'inherit'] }));
}

/** The same in a terminal, which `script` makes; in a group of its own, since `script` ends all of its group. */
function devInTerminal() {
  const line = [process.execPath, ...command()].map((word) => `'${word}'`).join(' ');
  return listening(
    spawn('script', ['-qec', line, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'], detached: true }),
  );
}

function listening(child: ChildProcessByStdio<Writable | null, Readable, null>) {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async line(part: string): Promise<string> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error(`dev ended before it said "${part}"`);
        if (value.includes(part)) return value;
      }
    },
    /** as Ctrl-C does */
    async interrupt(): Promise<void> {
      if (child.exitCode !== null) return;
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin?.write('\x03');
      await ended;
    },
    async stop(): Promise<void> {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

describe('dev', () => {
  it('tells after each save what changed in the schema, and serves it', async () => {
    const running = dev('--json');
    try {
      const { url } = JSON.parse(await running.line('"url"')) as { url: string };
      appendFileSync(`${app}/functions/note.ts`, '\nexport function getDouble(n: number): number { return n * 2; }\n');
      const saved = JSON.parse(await running.line('"reloaded"'));
      expect(saved.reloaded).toEqual({
        ms: expect.any(Number),
        changes: ['+ Query.getDouble(n: Float!): Float!'],
      });
      const headers = { 'content-type': 'application/graphql' };
      const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: '{ getDouble(n: 21) }' });
      expect(await answer.json()).toMatchObject({ data: { getDouble: 42 } });
      const types = readFileSync(`${app}/schema.graphql`, 'utf8');
      writeFileSync(`${app}/schema.graphql`, types.replace('done: Boolean! @search', 'done: Boolean @search'));
      const { reloaded } = JSON.parse(await running.line('"reloaded"'));
      expect(reloaded.changes).toContain('~ Note.done: Boolean! -> Boolean');
    } finally {
      await running.stop();
    }
  });

  it('says so in words, also that nothing changed', async () => {
    const running = dev();
    try {
      await running.line('Ctrl-C stops it.');
      appendFileSync(`${app}/functions/note.ts`, '// a remark\n');
      expect(await running.line('reloaded')).toMatch(/^reloaded in \d+ ms, the schema is the same$/);
      appendFileSync(`${app}/functions/note.ts`, '\nexport function getHalf(n: number): number { return n / 2; }\n');
      expect(await running.line('reloaded')).toMatch(/^reloaded in \d+ ms$/);
      expect(await running.line('Query')).toBe('  + Query.getHalf(n: Float!): Float!');
    } finally {
      await running.stop();
    }
  });

  it('suggests the calls of queries/ that fit what is served, anew when that changes', async () => {
    const types = readFileSync(`${app}/schema.graphql`, 'utf8');
    const running = dev();
    try {
      await running.line('Try');
      expect(await running.line('curl')).toContain('queries/');
      writeFileSync(`${app}/schema.graphql`, types.replace('topic: Topic', 'theme: Topic'));
      await running.line('- Note.topic');
      await running.line('the calls of queries/ do not fit the schema any more');
      writeFileSync(`${app}/schema.graphql`, types);
      await running.line('reloaded');
      await running.line('Try');
      expect(await running.line('curl')).toContain('queries/');
    } finally {
      await running.stop();
    }
  });

  // other systems have a `script` with other options
  it.runIf(process.platform === 'linux')(
    'waits in a terminal until an app that does not start is mended; elsewhere it ends',
    async () => {
      const path = `${app}/functions/note.ts`;
      const right = readFileSync(path, 'utf8');
      writeFileSync(path, `${right}\nexport function getOdd(n: symbol): number { return 1; }\n`);
      const ended = await run(command().slice(1));
      expect(ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('FUNCTION_TYPE: functions/note.ts'),
      });
      const running = devInTerminal();
      try {
        await running.line('FUNCTION_TYPE');
        await running.line('tried again with the next edit');
        writeFileSync(path, `${right}}}\n`);
        await running.line('SYNTAX');
        await running.line('tried again with the next edit');
        writeFileSync(path, right);
        await running.line('is ready');
        await running.line('Ctrl-C stops it.');
      } finally {
        await running.interrupt();
      }
    },
  );
});
