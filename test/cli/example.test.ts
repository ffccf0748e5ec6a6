import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, scratch, serve } from './command.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = scratch();
const app = folder.path('examples', 'packages');
let service: Running;

/** A copy, so that the data of the checkout's own example stays as it is. */
beforeAll(async () => {
  mkdirSync(folder.path('examples'));
  const source = new URL('../../examples/packages', import.meta.url);
  cpSync(source, app, { recursive: true, filter: (path) => !path.includes('.graphstead') });
  for (const name of ['bin', 'dist', 'node_modules', 'package.json', 'package-lock.json']) {
    symlinkSync(`${root}/${name}`, folder.path(name));
  }
  expect(load()).toMatchObject({ status: 0, stdout: expect.stringContaining('statements') });
  service = await serve([app]);
});
afterAll(async () => {
  await service?.stop();
  folder.remove();
});

function load() {
  return spawnSync(process.execPath, ['load.mjs'], { cwd: app, encoding: 'utf8' });
}

describe('examples/packages', () => {
  it('answers its queries over the lock file of this project', async () => {
    const query = (name: string) =>
      service.graphql(readFileSync(folder.path('examples/packages/queries', name), 'utf8'));
    const { data } = (await query('who-pulls-it-in.graphql')) as { data: { queryPackage: { key: string }[] } };
    expect(data.queryPackage.map(({ key }) => key)).toContainEqual(expect.stringMatching(/^ms@/));
    const licenses = (await query('licenses.graphql')) as {
      data: { queryLicense: { name: string; packagesAggregate: { count: number } }[] };
    };
    const mit = licenses.data.queryLicense.find(({ name }) => name === 'MIT');
    expect(mit?.packagesAggregate.count).toBeGreaterThan(10);
  });

  it('is loaded once', () => {
    expect(load()).toMatchObject({ status: 0, stdout: '' });
  });
});
