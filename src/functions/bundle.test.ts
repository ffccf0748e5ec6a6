import childProcess, { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { Bundler } from './bundle.js';

const folder = mkdtempSync(join(tmpdir(), 'graphstead-bundle-'));
const bundler = new Bundler();
afterEach(async () => {
  await bundler.close();
  rmSync(folder, { recursive: true, force: true });
});

it('bundles on when the process of esbuild has ended', async () => {
  const spawned = vi.spyOn(childProcess, 'spawn');
  const file = join(folder, 'one.ts');
  writeFileSync(file, 'export const one: number = 1;');
  const bundle = () => bundler.bundle({ appDir: folder, functions: [file], agents: [] }, join(folder, 'out.mjs'));
  expect(await bundle()).toContain(file);
  const child = spawned.mock.results[0]?.value as ChildProcess;
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await bundle()).toContain(file);
  writeFileSync(file, 'export const one: number = ;');
  await expect(bundle()).rejects.toThrow('Unexpected ";"');
});
