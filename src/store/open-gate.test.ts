import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type * as timers from 'node:timers/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { makeLimits, nameOfThis } from '../base/index.js';
import type { Batch, Store } from './contract.js';
import { KeyWriter } from './key.js';
import { openLmdbStore } from './lmdb-open.js';
import { whileNoneWrites } from './open-gate.js';

/** whether a pause is over with the next turn */
const time = vi.hoisted(() => ({ flies: false }));

vi.mock('node:timers/promises', async (original) => {
  const real = await original<typeof timers>();
  const setTimeout = (ms: number) => (time.flies ? real.setImmediate() : real.setTimeout(ms));
  return { ...real, setTimeout };
});

const limits = makeLimits({ ballastBytes: 4_096, diskReserve: 1_000_000 });
const keys = new KeyWriter('graph');
const ENTRIES = 2_000;
/** one that takes a while to be on disk */
const large = (version: number): Batch => ({
  version,
  puts: Array.from({ length: ENTRIES }, (_, i) => ({ key: keys.uint(i).key(), value: Buffer.alloc(3_000, version) })),
});
const dead = JSON.stringify({ ...JSON.parse(nameOfThis()), started: 'another life' });
let directory: string;
let store: Store;
const mark = () => readFileSync(join(directory, 'writing'), 'utf8')[0];
const apply = (batch: Batch) => store.apply(batch, { expectEpoch: store.epoch });

beforeEach(async () => {
  directory = testFolder();
  store = await openLmdbStore(directory, { limits });
});
afterEach(async () => {
  time.flies = false;
  await store.close();
});

it('a batch waits while somebody opens the file', async () => {
  let landed = false;
  const applying = await whileNoneWrites(directory, async () => {
    const done = apply({ version: 1, puts: [{ key: keys.uint(1).key(), value: Buffer.from('1') }] });
    void done.then(() => (landed = true));
    const probe = await open(join(directory, 'probe'), 'w');
    for (let i = 0; i < 20; i++) {
      await probe.write('longer than a batch takes');
      await probe.datasync();
    }
    await probe.close();
    expect([landed, mark()]).toEqual([false, '0']);
    return { done };
  });
  await applying.done;
  expect([landed, mark(), existsSync(join(directory, 'opening.json'))]).toEqual([true, '0', false]);
});

it('whoever opens the file waits for the batch in flight', async () => {
  const told: string[] = [];
  const done = apply(large(1)).then(() => told.push('landed'));
  while (mark() === '0') await nextTurn();
  await whileNoneWrites(directory, () => void told.push('opened'));
  await done;
  expect(told).toEqual(['landed', 'opened']);
});

it('two that open go one after the other', async () => {
  const told: string[] = [];
  const opening = (name: string) =>
    whileNoneWrites(directory, async () => {
      told.push(`${name} begins`);
      for (let i = 0; i < 10; i++) await nextTurn();
      told.push(`${name} ends`);
    });
  await Promise.all([opening('one'), opening('other')]);
  expect(told).toEqual(['one begins', 'one ends', 'other begins', 'other ends']);
});

it('nobody waits for a process that is gone, nor for one that opens the original of a copy', async () => {
  const sign = join(directory, 'opening.json');
  writeFileSync(sign, dead);
  await apply({ version: 1, puts: [{ key: keys.uint(1).key(), value: Buffer.from('1') }] });
  expect(existsSync(sign)).toBe(false);
  for (const gone of [dead, nameOfThis('the directory that this is a copy of')]) {
    writeFileSync(sign, gone);
    await (await openLmdbStore(directory, { limits, readOnly: true })).close();
  }
  await store.close();
  writeFileSync(join(directory, 'writing'), `1${dead}`);
  store = await openLmdbStore(directory, { limits });
  expect([existsSync(sign), mark()]).toEqual([false, '0']);
});

it('whoever waits in vain for one that opens the file, and lives, is told so, and nothing goes on beside it', async () => {
  const sign = join(directory, 'opening.json');
  writeFileSync(sign, nameOfThis());
  time.flies = true;
  const refused = { code: 'STORE_LOCKED', message: expect.stringContaining(`process ${process.pid}`) };
  await expect(openLmdbStore(directory, { limits, readOnly: true })).rejects.toMatchObject(refused);
  const put = { key: keys.uint(1).key(), value: Buffer.from('1') };
  await expect(apply({ version: 1, puts: [put] })).rejects.toMatchObject(refused);
  expect([existsSync(sign), mark()]).toEqual([true, '0']);
  rmSync(sign);
  await apply({ version: 1, puts: [put] });
});

it('one that was not waited for leaves the sign of the next one', async () => {
  const sign = join(directory, 'opening.json');
  await whileNoneWrites(directory, () => writeFileSync(sign, 'of one that cannot be asked'));
  expect(existsSync(sign)).toBe(true);
  rmSync(sign);
});
