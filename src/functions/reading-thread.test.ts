import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeEach, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { ReadingThread } from './reading-thread.js';

let root: string;
beforeEach(() => {
  root = testFolder();
});

function sourceOf(name: string) {
  const appDir = mkdtempSync(join(root, 'app-'));
  const file = join(appDir, 'index.ts');
  writeFileSync(file, `export function ${name}(): string { return ''; }\n`);
  return { appDir, functions: [file], agents: [] };
}

async function namesOf(thread: ReadingThread, name: string): Promise<string[]> {
  const { manifest } = await thread.read(sourceOf(name));
  return manifest.operations.map((operation) => operation.name);
}

/** Threads are numbered as they start. */
async function nextNumber(): Promise<number> {
  const probe = new Worker('', { eval: true });
  const { threadId } = probe;
  await probe.terminate();
  return threadId;
}

it('a thread that has read one app reads the next one of the process', async () => {
  const first = new ReadingThread();
  expect(await namesOf(first, 'getOne')).toEqual(['getOne']);
  await first.close();
  const before = await nextNumber();
  const second = new ReadingThread();
  expect(await namesOf(second, 'getTwo')).toEqual(['getTwo']);
  expect((await nextNumber()) - before).toBe(1);
  // while that one is open, another app has a thread of its own
  const third = new ReadingThread();
  expect(await namesOf(third, 'getThree')).toEqual(['getThree']);
  expect((await nextNumber()) - before).toBe(3);
  await Promise.all([second.close(), third.close()]);
});

it('a thread whose app closes while it reads is not used again', async () => {
  const first = new ReadingThread();
  const left = expect(namesOf(first, 'getLeft')).rejects.toMatchObject({ code: 'INTERNAL' });
  await first.close();
  await left;
  const second = new ReadingThread();
  expect(await namesOf(second, 'getNext')).toEqual(['getNext']);
  await second.close();
});
